"""NumPy's methods of arrays: the most used functions, as ``x.sum()``."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, SupportsIndex, TypeAlias

import numpy as np

from .._base import dtypes
from .._base.host_values import host_array
from .._ops import (
    comparison,
    complex,
    cumulative,
    data_types,
    manipulation,
    matrices,
    products,
    rounding,
    searching,
    sorting,
    statistical,
    taking,
)
from .._ops._rules import index_dtype, normalize_axis

if TYPE_CHECKING:
    from .._graph import ArraySpec, Definition, Node
    from .array import Array, ArrayLike

Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | None"
Order: TypeAlias = Literal["C", "F", "A", "K"]


class ArrayMethods:
    """The part of ``Array`` that stands for functions; see the functions of the same names."""

    __slots__ = ()

    if TYPE_CHECKING:
        _spec: ArraySpec

        def _run(
            self, definition: Definition[Node], *static: Any, others: tuple[ArrayLike | None, ...] = ()
        ) -> Array: ...
        def _from_host(self, value: np.ndarray) -> Array: ...
        def _host_value(self, what: str) -> np.ndarray: ...
        def _host_scalar(self, what: str) -> Any: ...
        def __copy__(self) -> Array: ...

    @property
    def T(self) -> Array:
        """The transpose: axes in reverse order."""
        return self._run(manipulation.permute_dims, tuple(range(self._spec.ndim))[::-1])

    @property
    def mT(self) -> Array:
        """The transpose of the last two axes. ``ValueError`` below two dimensions."""
        ndim = self._spec.ndim
        if ndim < 2:
            raise ValueError(f"mT: needs at least two dimensions, this array has {ndim}")
        return self._run(manipulation.permute_dims, (*range(ndim - 2), ndim - 1, ndim - 2))

    # NumPy's functions of these names call them with all the arguments that NumPy's methods take: `np.sum(x)` is
    # `x.sum(axis=None, dtype=None, out=None)`. What has no meaning here is refused by name.

    def sum(
        self,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Sums along ``axis``, as ``aio.sum``."""
        if out is not None or initial is not None or where is not True:
            _refuse("sum", out=out, initial=initial, where=where)
        return self._run(statistical.sum, _axes(axis), _dtype(dtype), bool(keepdims))

    def prod(
        self,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Products along ``axis``, as ``aio.prod``."""
        if out is not None or initial is not None or where is not True:
            _refuse("prod", out=out, initial=initial, where=where)
        return self._run(statistical.prod, _axes(axis), _dtype(dtype), bool(keepdims))

    def mean(
        self,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Array:
        """Means along ``axis``, as ``aio.mean``."""
        if out is not None or where is not True:
            _refuse("mean", out=out, where=where)
        return self._run(statistical.mean, _axes(axis), _dtype(dtype), bool(keepdims))

    def var(
        self,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float | None = None,
        keepdims: bool = False,
        *,
        correction: float = 0.0,
        mean: Any = None,
        where: Any = True,
    ) -> Array:
        """Variances along ``axis``, as ``aio.var``; computed in ``dtype`` if one is named."""
        if out is not None or mean is not None or where is not True:
            _refuse("var", out=out, mean=mean, where=where)
        less = statistical.correction_of("var", correction, ddof)
        x = self if dtype is None else self.astype(dtype)
        return x._run(statistical.var, _axes(axis), less, bool(keepdims))

    def std(
        self,
        axis: Axes = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float | None = None,
        keepdims: bool = False,
        *,
        correction: float = 0.0,
        mean: Any = None,
        where: Any = True,
    ) -> Array:
        """Standard deviations along ``axis``, as ``aio.std``; computed in ``dtype`` if one is named."""
        if out is not None or mean is not None or where is not True:
            _refuse("std", out=out, mean=mean, where=where)
        less = statistical.correction_of("std", correction, ddof)
        x = self if dtype is None else self.astype(dtype)
        return x._run(statistical.std, _axes(axis), less, bool(keepdims))

    def max(
        self,
        axis: Axes = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Largest elements along ``axis``, as ``aio.max``."""
        if out is not None or initial is not None or where is not True:
            _refuse("max", out=out, initial=initial, where=where)
        return self._run(statistical.max, _axes(axis), bool(keepdims))

    def min(
        self,
        axis: Axes = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Array:
        """Smallest elements along ``axis``, as ``aio.min``."""
        if out is not None or initial is not None or where is not True:
            _refuse("min", out=out, initial=initial, where=where)
        return self._run(statistical.min, _axes(axis), bool(keepdims))

    def argmax(self, axis: SupportsIndex | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
        """Positions of the largest elements along ``axis``, as ``aio.argmax``."""
        if out is not None:
            _refuse("argmax", out=out)
        return self._run(statistical.argmax, _axis(axis), bool(keepdims))

    def argmin(self, axis: SupportsIndex | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
        """Positions of the smallest elements along ``axis``, as ``aio.argmin``."""
        if out is not None:
            _refuse("argmin", out=out)
        return self._run(statistical.argmin, _axis(axis), bool(keepdims))

    def any(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
        """Whether some element along ``axis`` is true, as ``aio.any``."""
        if out is not None or where is not True:
            _refuse("any", out=out, where=where)
        return self._run(statistical.any, _axes(axis), bool(keepdims))

    def all(self, axis: Axes = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
        """Whether all elements along ``axis`` are true, as ``aio.all``."""
        if out is not None or where is not True:
            _refuse("all", out=out, where=where)
        return self._run(statistical.all, _axes(axis), bool(keepdims))

    def cumsum(self, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> Array:
        """Running sums along ``axis``, as ``aio.cumsum``."""
        if out is not None:
            _refuse("cumsum", out=out)
        return self._run(cumulative.cumsum, _axis(axis), _dtype(dtype))

    def cumprod(self, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> Array:
        """Running products along ``axis``, as ``aio.cumprod``."""
        if out is not None:
            _refuse("cumprod", out=out)
        return self._run(cumulative.cumprod, _axis(axis), _dtype(dtype))

    def argsort(
        self,
        axis: SupportsIndex | None = -1,
        kind: str | None = None,
        order: Any = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> Array:
        """The positions that sort along ``axis``, as ``aio.argsort``. ``kind`` is NumPy's; "stable" is, as all are."""
        if order is not None:
            _refuse("argsort", order=order)
        if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
            raise ValueError(f"argsort: kind={kind!r} is not known; use 'stable'")
        steady = kind is not None or stable is None or bool(stable)
        return self._run(sorting.argsort, _axis(axis), bool(descending), steady)

    def take(
        self,
        indices: ArrayLike,
        axis: SupportsIndex | None = None,
        out: Any = None,
        mode: Literal["raise", "wrap", "clip"] = "raise",
    ) -> Array:
        """The elements at ``indices`` along ``axis``, as ``aio.take``."""
        if out is not None:
            _refuse("take", out=out)
        return self._run(taking.take, _axis(axis), mode, others=(indices,))

    def repeat(self, repeats: SupportsIndex | ArrayLike, axis: SupportsIndex | None = None) -> Array:
        """Every element along ``axis`` so many times, as ``aio.repeat``; an Array ``repeats`` is read."""
        place = _axis(axis)
        if not isinstance(repeats, (ArrayMethods, np.ndarray, Sequence)):
            return self._run(manipulation.repeat, operator.index(repeats), place)  # type: ignore[arg-type]
        counts = np.asarray(repeats)
        if counts.dtype.kind not in "iu" or counts.ndim > 1:
            raise TypeError(
                f"repeat: repeats of dtype {counts.dtype} and shape {counts.shape}; it takes one integer or a vector"
            )
        if counts.size and counts.min() < 0:
            raise ValueError(f"repeat: repeats has a negative number, {counts.min()}")
        shape = self._spec.shape if place is not None else (self._spec.size,)
        k = normalize_axis("repeat", place or 0, len(shape))
        if counts.size not in (1, shape[k]):
            raise ValueError(
                f"repeat: {counts.size} repeats for {shape[k]} elements along axis {k}; give one, or one for each"
            )
        positions = np.repeat(np.arange(shape[k]), np.broadcast_to(counts.reshape(-1), (shape[k],)))
        return self._run(taking.take, None if place is None else k, others=(positions,))

    def nonzero(self) -> tuple[Array, ...]:
        """Where the elements are not zero, as ``aio.nonzero``; the value is read."""
        if self._spec.ndim == 0:
            raise ValueError("nonzero: an array without axes has no positions; use reshape(x, (1,))")
        dtype = index_dtype(builtins.max(self._spec.shape))
        places = np.nonzero(self._host_value("nonzero"))
        return tuple(self._from_host(vector.astype(dtype)) for vector in places)

    def searchsorted(
        self, v: ArrayLike, side: Literal["left", "right"] = "left", sorter: ArrayLike | None = None
    ) -> Array:
        """Where in this sorted vector the values ``v`` belong, as ``aio.searchsorted``."""
        if isinstance(v, (bool, int, float, builtins.complex)):
            # It takes its dtype from this array alone, not from the positions in the sorter.
            dtype = dtypes.weak_dtype(dtypes.scalar_rank(v), self._spec.dtype)
            v = self._from_host(host_array("searchsorted", v, dtype).astype(dtype))
        return self._run(searching.searchsorted, side, others=(v, sorter))

    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Array:
        """Diagonals of the matrices in two axes, as ``aio.diagonal``."""
        axes = (operator.index(axis1), operator.index(axis2))
        return self._run(matrices.diagonal, operator.index(offset), axes)

    def trace(
        self,
        offset: SupportsIndex = 0,
        axis1: SupportsIndex = 0,
        axis2: SupportsIndex = 1,
        dtype: Any = None,
        out: Any = None,
    ) -> Array:
        """Sums of diagonals, as ``aio.trace``."""
        if out is not None:
            _refuse("trace", out=out)
        axes = (operator.index(axis1), operator.index(axis2))
        return self._run(matrices.trace, operator.index(offset), _dtype(dtype), axes)

    def dot(self, other: ArrayLike, out: Any = None) -> Array:
        """The product with ``other``, as ``aio.dot``."""
        if out is not None:
            _refuse("dot", out=out)
        return self._run(products.dot, None, others=(other,))

    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None, out: Any = None) -> Array:
        """The elements, none below ``min`` or above ``max``, as ``aio.clip``."""
        if out is not None:
            _refuse("clip", out=out)
        return self._run(comparison.clip, others=(bound_of(self, min), bound_of(self, max)))

    def round(self, decimals: SupportsIndex = 0, out: Any = None) -> Array:
        """The elements rounded to so many decimals, as ``aio.round``."""
        if out is not None:
            _refuse("round", out=out)
        return self._run(rounding.round, operator.index(decimals))

    def conj(self) -> Array:
        """The elements with the opposite imaginary part, as ``aio.conj``."""
        return self._run(complex.conj)

    conjugate = conj

    @property
    def real(self) -> Array:
        """The real parts, as ``aio.real``."""
        return self._run(complex.real)

    @property
    def imag(self) -> Array:
        """The imaginary parts, as ``aio.imag``."""
        return self._run(complex.imag)

    def copy(self, order: Order = "C") -> Array:
        """Another Array with this value: ``a[index] = value`` on one of them does not change the other."""
        by_columns("copy", order)
        return self.__copy__()

    def reshape(
        self, *shape: SupportsIndex | Sequence[SupportsIndex], order: Order = "C", copy: bool | None = None
    ) -> Array:
        """The elements in another shape, given as one tuple or as lengths; one may be -1, and is filled in.

        With ``order="F"`` elements are read and put with the first axis running fastest. ``copy`` is that of the
        function.

        >>> aio.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        given: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], SupportsIndex) else shape
        lengths = tuple(operator.index(n) for n in given)
        if copy is False and lengths != self._spec.shape:
            raise ValueError(
                f"reshape: shape {self._spec.shape} to {lengths} takes a copy, and copy=False; use copy=None"
            )
        by_column = order != "C" and by_columns("reshape", order)
        return self._run(manipulation.reshape_by_columns if by_column else manipulation.reshape, lengths)

    def ravel(self, order: Order = "C") -> Array:
        """The elements in one dimension; with ``order="F"`` the first axis runs fastest."""
        by_column = order != "C" and by_columns("ravel", order)
        return self._run(manipulation.reshape_by_columns if by_column else manipulation.reshape, (-1,))

    flatten = ravel

    def tobytes(self, order: Order = "C") -> bytes:
        """The bytes of the elements; the value is read. With ``order="F"`` the first axis runs fastest.

        >>> aio.asarray([1, 2], dtype="uint8").tobytes()
        b'\\x01\\x02'
        """
        value = self._host_value("array.tobytes()")
        return value.tobytes("F" if by_columns("tobytes", order) else "C")

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> Array:
        """The axes in another order, given as one tuple or one by one; without, reversed.

        >>> aio.zeros((2, 3, 4)).transpose(0, 2, 1).shape
        (2, 4, 3)
        """
        if not axes or axes == (None,):
            return self.T
        order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], SupportsIndex) else axes
        return self._run(manipulation.permute_dims, tuple(operator.index(axis) for axis in order))

    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Array:
        """Two axes in each other's place, as ``aio.swapaxes``."""
        order = list(range(self._spec.ndim))
        first, second = (normalize_axis("swapaxes", operator.index(k), len(order)) for k in (axis1, axis2))
        order[first], order[second] = second, first
        return self._run(manipulation.permute_dims, tuple(order))

    def squeeze(self, axis: Axes = None) -> Array:
        """Without dimensions of length 1: those of ``axis``, or all."""
        return self._run(manipulation.squeeze, _axes(axis))

    def astype(
        self,
        dtype: Any,
        order: Order = "K",
        casting: Literal["unsafe"] = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """The elements in ``dtype``, as ``aio.astype``. The other arguments are NumPy's, without a choice here."""
        if order != "K":
            by_columns("astype", order)
        if casting != "unsafe":
            raise ValueError(f"astype: casting={casting!r} is not taken; values are cast as by 'unsafe'")
        return self._run(data_types.astype, dtypes.as_dtype(dtype))

    def view(self, dtype: Any) -> Array:
        """The same bytes as elements of another dtype: an Array of its own, which shares no memory.

        A narrower dtype makes the last axis longer, a wider one shorter; complex numbers are pairs. ``ValueError``
        where the bytes of the last axis do not make whole elements, ``TypeError`` for dtypes of four bits.

        >>> aio.asarray([1.0, -2.0]).view("uint32")
        Array([1065353216, 3221225472], dtype=uint32)
        >>> aio.asarray([1 + 2j]).view("float32")
        Array([1., 2.], dtype=float32)
        """
        return self._run(data_types.view, dtypes.as_dtype(dtype))

    # Python's own functions of numbers

    def __round__(self, ndigits: SupportsIndex | None = None) -> Array:
        if ndigits is not None:
            return self.round(ndigits)
        rounded = self.round()
        return rounded.astype(dtypes.default_for_rank(1)) if rounded.dtype in dtypes.REAL_FLOATING else rounded

    def __trunc__(self) -> int:
        return math.trunc(self._host_scalar("math.trunc(array)").item())  # type: ignore[no-any-return]

    def __floor__(self) -> int:
        return math.floor(self._host_scalar("math.floor(array)").item())  # type: ignore[no-any-return]

    def __ceil__(self) -> int:
        return math.ceil(self._host_scalar("math.ceil(array)").item())  # type: ignore[no-any-return]


def by_columns(function: str, order: str) -> bool:
    """Whether ``order`` asks for the first axis to run fastest; "A" and "K" are "C", which is how Arrays lie."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"{function}: order={order!r} is not known; use 'C' or 'F'")
    return order == "F"


# What to write in place of an argument that is not taken.
_REMEDIES = {
    "out": "a result is a new array",
    "where": "choose elements by aio.where(condition, x, other)",
    "initial": "combine it with the result, as by aio.add or aio.maximum",
    "mean": "leave it out",
    "order": "leave it out; there are no fields",
}


def _refuse(function: str, **arguments: object) -> NoReturn:
    """Say which of NumPy's arguments is not taken. ``TypeError``."""
    name = next(name for name, value in arguments.items() if value is not (True if name == "where" else None))
    raise TypeError(f"{function}: {name}= is not taken; {_REMEDIES[name]}")


def bound_of(x: object, bound: ArrayLike | None) -> ArrayLike | None:
    """``bound``; for a Python integer beyond the dtype of ``x``, the last one within, which bounds as little."""
    if type(bound) is int and isinstance(x, ArrayMethods) and x._spec.dtype in dtypes.INTEGRAL:
        limits = dtypes.iinfo(x._spec.dtype)
        return builtins.min(builtins.max(bound, int(limits.min)), int(limits.max))
    return bound


def _axis(axis: SupportsIndex | None) -> int | None:
    return None if axis is None else operator.index(axis)


def _axes(axis: Axes) -> int | tuple[int, ...] | None:
    if axis is None:
        return None
    return operator.index(axis) if isinstance(axis, SupportsIndex) else tuple(operator.index(k) for k in axis)


def _dtype(dtype: Any) -> dtypes.DType | None:
    return None if dtype is None else dtypes.as_dtype(dtype)
