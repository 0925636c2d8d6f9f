"""NumPy's methods of arrays: the most used functions, as ``x.sum()``."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from .._base import dtypes
from .._ops import (
    comparison,
    complex,
    cumulative,
    data_types,
    manipulation,
    products,
    rounding,
    sorting,
    statistical,
    taking,
)
from .._ops._rules import normalize_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._graph import ArraySpec, Definition, Node
    from .array import Array, ArrayLike

Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | None"


class ArrayMethods:
    """The part of ``Array`` that stands for functions; see the functions of the same names."""

    __slots__ = ()

    if TYPE_CHECKING:
        _spec: ArraySpec

        def _run(
            self, definition: Definition[Node], *static: Any, others: tuple[ArrayLike | None, ...] = ()
        ) -> Array: ...
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

    def sum(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Sums along ``axis``, as ``aio.sum``."""
        return self._run(statistical.sum, _axes(axis), _dtype(dtype), bool(keepdims))

    def prod(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Products along ``axis``, as ``aio.prod``."""
        return self._run(statistical.prod, _axes(axis), _dtype(dtype), bool(keepdims))

    def mean(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Means along ``axis``, as ``aio.mean``."""
        return self._run(statistical.mean, _axes(axis), _dtype(dtype), bool(keepdims))

    def var(
        self, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False, ddof: float | None = None
    ) -> Array:
        """Variances along ``axis``, as ``aio.var``."""
        less = statistical.correction_of("var", correction, ddof)
        return self._run(statistical.var, _axes(axis), less, bool(keepdims))

    def std(
        self, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False, ddof: float | None = None
    ) -> Array:
        """Standard deviations along ``axis``, as ``aio.std``."""
        less = statistical.correction_of("std", correction, ddof)
        return self._run(statistical.std, _axes(axis), less, bool(keepdims))

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Largest elements along ``axis``, as ``aio.max``."""
        return self._run(statistical.max, _axes(axis), bool(keepdims))

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Smallest elements along ``axis``, as ``aio.min``."""
        return self._run(statistical.min, _axes(axis), bool(keepdims))

    def argmax(self, axis: SupportsIndex | None = None, *, keepdims: bool = False) -> Array:
        """Positions of the largest elements along ``axis``, as ``aio.argmax``."""
        return self._run(statistical.argmax, _axis(axis), bool(keepdims))

    def argmin(self, axis: SupportsIndex | None = None, *, keepdims: bool = False) -> Array:
        """Positions of the smallest elements along ``axis``, as ``aio.argmin``."""
        return self._run(statistical.argmin, _axis(axis), bool(keepdims))

    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether some element along ``axis`` is true, as ``aio.any``."""
        return self._run(statistical.any, _axes(axis), bool(keepdims))

    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether all elements along ``axis`` are true, as ``aio.all``."""
        return self._run(statistical.all, _axes(axis), bool(keepdims))

    def cumsum(self, axis: SupportsIndex | None = None, dtype: Any = None) -> Array:
        """Running sums along ``axis``, as ``aio.cumsum``."""
        return self._run(cumulative.cumsum, _axis(axis), _dtype(dtype))

    def cumprod(self, axis: SupportsIndex | None = None, dtype: Any = None) -> Array:
        """Running products along ``axis``, as ``aio.cumprod``."""
        return self._run(cumulative.cumprod, _axis(axis), _dtype(dtype))

    def argsort(self, axis: SupportsIndex | None = -1, *, descending: bool = False, stable: bool = True) -> Array:
        """The positions that sort along ``axis``, as ``aio.argsort``."""
        return self._run(sorting.argsort, _axis(axis), bool(descending), bool(stable))

    def take(self, indices: ArrayLike, axis: SupportsIndex | None = None) -> Array:
        """The elements at ``indices`` along ``axis``, as ``aio.take``."""
        return self._run(taking.take, _axis(axis), others=(indices,))

    def dot(self, other: ArrayLike) -> Array:
        """The product with ``other``, as ``aio.dot``."""
        return self._run(products.dot, None, others=(other,))

    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
        """The elements, none below ``min`` or above ``max``, as ``aio.clip``."""
        return self._run(comparison.clip, others=(bound_of(self, min), bound_of(self, max)))

    def round(self, decimals: SupportsIndex = 0) -> Array:
        """The elements rounded to so many decimals, as ``aio.round``."""
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

    def copy(self) -> Array:
        """Another Array with this value: ``a[index] = value`` on one of them does not change the other."""
        return self.__copy__()

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> Array:
        """The elements in another shape, given as one tuple or as lengths; one may be -1, and is filled in.

        >>> aio.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        lengths: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], SupportsIndex) else shape
        return self._run(manipulation.reshape, tuple(operator.index(n) for n in lengths))

    def ravel(self) -> Array:
        """The elements in one dimension."""
        return self._run(manipulation.reshape, (-1,))

    flatten = ravel

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> Array:
        """The axes in another order, given as one tuple or one by one; without, reversed.

        >>> aio.zeros((2, 3, 4)).transpose(0, 2, 1).shape
        (2, 4, 3)
        """
        if not axes:
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

    def astype(self, dtype: Any) -> Array:
        """The elements in ``dtype``, as ``aio.astype``."""
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
