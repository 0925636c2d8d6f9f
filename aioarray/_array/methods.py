"""NumPy's methods of arrays: the most used functions, as ``x.sum()``. ``Array`` takes them from here one by one."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, Self, SupportsIndex, TypeAlias, TypeVar

import numpy as np

from .._base import dtypes
from .._base.host_values import host_array
from .._dispatch.arguments import axes_of, axis_of, dtype_of, integer_of, order_of, shape_of
from .._ops import (
    comparison,
    complex,
    cumulative,
    data_types,
    indexing,
    manipulation,
    matrices,
    modular,
    products,
    rounding,
    searching,
    sorting,
    statistical,
)
from .._ops._rules import index_dtype, normalize_axis
from .value import Value

if TYPE_CHECKING:
    from .._graph import ArraySpec, Definition, Node

ArrayLike: TypeAlias = Any  # that of `array`, which knows the class
Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | None"
Order: TypeAlias = Literal["C", "F", "A", "K"]


class Computes(Protocol):
    """What the methods need of an Array."""

    @property
    def _spec(self) -> ArraySpec: ...

    def _run(self, definition: Definition[Node], *static: Any, others: tuple[Any, ...] = ()) -> Self: ...
    def _from_host(self, value: np.ndarray) -> Self: ...
    def _host_value(self, what: str) -> np.ndarray: ...
    def __copy__(self) -> Self: ...


A = TypeVar("A", bound=Computes)


# NumPy's functions of these names call them with all the arguments that NumPy's methods take: `np.sum(x)` is
# `x.sum(axis=None, dtype=None, out=None)`. What has no meaning here is refused by name.


def sum(
    x: A,
    /,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> A:
    """Sums along ``axis``, as ``aio.sum``."""
    if out is not None or initial is not None or where is not True:
        _refuse("sum", out=out, initial=initial, where=where)
    return x._run(statistical.sum, axes_of("sum", axis), dtype_of(dtype), bool(keepdims))


def prod(
    x: A,
    /,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> A:
    """Products along ``axis``, as ``aio.prod``."""
    if out is not None or initial is not None or where is not True:
        _refuse("prod", out=out, initial=initial, where=where)
    return x._run(statistical.prod, axes_of("prod", axis), dtype_of(dtype), bool(keepdims))


def mean(
    x: A,
    /,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> A:
    """Means along ``axis``, as ``aio.mean``."""
    if out is not None or where is not True:
        _refuse("mean", out=out, where=where)
    return x._run(statistical.mean, axes_of("mean", axis), dtype_of(dtype), bool(keepdims))


def var(
    x: A,
    /,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float | None = None,
    keepdims: bool = False,
    *,
    correction: float = 0.0,
    mean: Any = None,
    where: Any = True,
) -> A:
    """Variances along ``axis``, as ``aio.var``; computed in ``dtype`` if one is named."""
    if out is not None or mean is not None or where is not True:
        _refuse("var", out=out, mean=mean, where=where)
    less = statistical.correction_of("var", correction, ddof)
    given = x if dtype is None else astype(x, dtype)
    return given._run(statistical.var, axes_of("var", axis), less, bool(keepdims))


def std(
    x: A,
    /,
    axis: Axes = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float | None = None,
    keepdims: bool = False,
    *,
    correction: float = 0.0,
    mean: Any = None,
    where: Any = True,
) -> A:
    """Standard deviations along ``axis``, as ``aio.std``; computed in ``dtype`` if one is named."""
    if out is not None or mean is not None or where is not True:
        _refuse("std", out=out, mean=mean, where=where)
    less = statistical.correction_of("std", correction, ddof)
    given = x if dtype is None else astype(x, dtype)
    return given._run(statistical.std, axes_of("std", axis), less, bool(keepdims))


def max(
    x: A,
    /,
    axis: Axes = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> A:
    """Largest elements along ``axis``, as ``aio.max``."""
    if out is not None:
        _refuse("max", out=out)
    if initial is not None or where is not True:
        mask = None if where is True else where
        return x._run(statistical.max_from, axes_of("max", axis), bool(keepdims), others=(initial, mask))
    return x._run(statistical.max, axes_of("max", axis), bool(keepdims))


def min(
    x: A,
    /,
    axis: Axes = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> A:
    """Smallest elements along ``axis``, as ``aio.min``."""
    if out is not None:
        _refuse("min", out=out)
    if initial is not None or where is not True:
        mask = None if where is True else where
        return x._run(statistical.min_from, axes_of("min", axis), bool(keepdims), others=(initial, mask))
    return x._run(statistical.min, axes_of("min", axis), bool(keepdims))


def argmax(x: A, /, axis: SupportsIndex | None = None, out: Any = None, *, keepdims: bool = False) -> A:
    """Positions of the largest elements along ``axis``, as ``aio.argmax``."""
    if out is not None:
        _refuse("argmax", out=out)
    return x._run(statistical.argmax, None if axis is None else axis_of("argmax", axis), bool(keepdims))


def argmin(x: A, /, axis: SupportsIndex | None = None, out: Any = None, *, keepdims: bool = False) -> A:
    """Positions of the smallest elements along ``axis``, as ``aio.argmin``."""
    if out is not None:
        _refuse("argmin", out=out)
    return x._run(statistical.argmin, None if axis is None else axis_of("argmin", axis), bool(keepdims))


def any(x: A, /, axis: Axes = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> A:
    """Whether some element along ``axis`` is true, as ``aio.any``."""
    if out is not None or where is not True:
        _refuse("any", out=out, where=where)
    return x._run(statistical.any, axes_of("any", axis), bool(keepdims))


def all(x: A, /, axis: Axes = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> A:
    """Whether all elements along ``axis`` are true, as ``aio.all``."""
    if out is not None or where is not True:
        _refuse("all", out=out, where=where)
    return x._run(statistical.all, axes_of("all", axis), bool(keepdims))


def cumsum(x: A, /, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> A:
    """Running sums along ``axis``, as ``aio.cumsum``."""
    if out is not None:
        _refuse("cumsum", out=out)
    return x._run(cumulative.cumsum, None if axis is None else axis_of("cumsum", axis), dtype_of(dtype))


def cumprod(x: A, /, axis: SupportsIndex | None = None, dtype: Any = None, out: Any = None) -> A:
    """Running products along ``axis``, as ``aio.cumprod``."""
    if out is not None:
        _refuse("cumprod", out=out)
    return x._run(cumulative.cumprod, None if axis is None else axis_of("cumprod", axis), dtype_of(dtype))


def argsort(
    x: A,
    /,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> A:
    """The positions that sort along ``axis``, as ``aio.argsort``. ``kind`` is NumPy's; "stable" is, as all are."""
    if order is not None:
        _refuse("argsort", order=order)
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"argsort: kind={kind!r} is not known; use 'stable'")
    steady = kind is not None or stable is None or bool(stable)
    return x._run(sorting.argsort, None if axis is None else axis_of("argsort", axis), bool(descending), steady)


def take(
    x: A,
    /,
    indices: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Any = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> A:
    """The elements at ``indices`` along ``axis``, as ``aio.take``."""
    if out is not None:
        _refuse("take", out=out)
    return x._run(indexing.take, None if axis is None else axis_of("take", axis), mode, others=(indices,))


def repeat(x: A, /, repeats: SupportsIndex | ArrayLike, axis: SupportsIndex | None = None) -> A:
    """Every element along ``axis`` so many times, as ``aio.repeat``; an Array ``repeats`` is read."""
    place = None if axis is None else axis_of("repeat", axis)
    if not isinstance(repeats, (Value, np.ndarray, Sequence)):
        return x._run(manipulation.repeat, integer_of("repeat", "repeats", repeats), place)
    counts = np.asarray(repeats)
    if counts.dtype.kind not in "iu" or counts.ndim > 1:
        raise TypeError(
            f"repeat: repeats of dtype {counts.dtype} and shape {counts.shape}; it takes one integer or a vector"
        )
    if counts.size and counts.min() < 0:
        raise ValueError(f"repeat: repeats has a negative number, {counts.min()}")
    shape = x._spec.shape if place is not None else (x._spec.size,)
    k = normalize_axis("repeat", place or 0, len(shape))
    if counts.size not in (1, shape[k]):
        raise ValueError(
            f"repeat: {counts.size} repeats for {shape[k]} elements along axis {k}; give one, or one for each"
        )
    positions = np.repeat(np.arange(shape[k]), np.broadcast_to(counts.reshape(-1), (shape[k],)))
    return x._run(indexing.take, None if place is None else k, others=(positions,))


def nonzero(x: A, /) -> tuple[A, ...]:
    """Where the elements are not zero, as ``aio.nonzero``; the value is read."""
    if x._spec.ndim == 0:
        raise ValueError("nonzero: an array without axes has no positions; use reshape(x, (1,))")
    dtype = index_dtype(builtins.max(x._spec.shape))
    places = np.nonzero(x._host_value("nonzero"))
    return tuple(x._from_host(vector.astype(dtype)) for vector in places)


def searchsorted(x: A, /, v: ArrayLike, side: Literal["left", "right"] = "left", sorter: ArrayLike | None = None) -> A:
    """Where in this sorted vector the values ``v`` belong, as ``aio.searchsorted``."""
    if isinstance(v, (bool, int, float, builtins.complex)):
        # It takes its dtype from this array alone, not from the positions in the sorter.
        dtype = dtypes.weak_dtype(dtypes.scalar_rank(v), x._spec.dtype)
        v = x._from_host(host_array("searchsorted", v, dtype).astype(dtype))
    return x._run(searching.searchsorted, side, others=(v, sorter))


def diagonal(x: A, /, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> A:
    """Diagonals of the matrices in two axes, as ``aio.diagonal``."""
    axes = (axis_of("diagonal", axis1), axis_of("diagonal", axis2))
    return x._run(matrices.diagonal, integer_of("diagonal", "offset", offset), axes)


def trace(
    x: A,
    /,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: Any = None,
    out: Any = None,
) -> A:
    """Sums of diagonals, as ``aio.trace``."""
    if out is not None:
        _refuse("trace", out=out)
    axes = (axis_of("trace", axis1), axis_of("trace", axis2))
    return x._run(matrices.trace, integer_of("trace", "offset", offset), dtype_of(dtype), axes)


def dot(x: A, /, other: ArrayLike, out: Any = None) -> A:
    """The product with ``other``, as ``aio.dot``."""
    if out is not None:
        _refuse("dot", out=out)
    return x._run(products.dot, None, others=(other,))


def clip(x: A, /, min: ArrayLike | None = None, max: ArrayLike | None = None, out: Any = None) -> A:
    """The elements, none below ``min`` or above ``max``, as ``aio.clip``."""
    if out is not None:
        _refuse("clip", out=out)
    return x._run(comparison.clip, others=(bound_of(x, min), bound_of(x, max)))


def round(x: A, /, decimals: SupportsIndex = 0, out: Any = None) -> A:
    """The elements rounded to so many decimals, as ``aio.round``."""
    if out is not None:
        _refuse("round", out=out)
    return x._run(rounding.round, integer_of("round", "decimals", decimals))


def conj(x: A, /) -> A:
    """The elements with the opposite imaginary part, as ``aio.conj``."""
    return x._run(complex.conj)


conjugate = conj


def copy(x: A, /, order: Order = "C") -> A:
    """Another Array with this value: ``a[index] = value`` on one of them does not change the other."""
    by_columns("copy", order)
    return x.__copy__()


def reshape(
    x: A, /, *shape: SupportsIndex | Sequence[SupportsIndex], order: Order = "C", copy: bool | None = None
) -> A:
    """The elements in another shape, given as one tuple or as lengths; one may be -1, and is filled in.

    With ``order="F"`` elements are read and put with the first axis running fastest. ``copy`` is that of the
    function.

    >>> aio.arange(6).reshape(2, -1).shape
    (2, 3)
    """
    given: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], SupportsIndex) else shape
    lengths = shape_of("reshape", given)
    if copy is False and lengths != x._spec.shape:
        raise ValueError(f"reshape: shape {x._spec.shape} to {lengths} takes a copy, and copy=False; use copy=None")
    by_column = order != "C" and by_columns("reshape", order)
    return x._run(manipulation.reshape_by_columns if by_column else manipulation.reshape, lengths)


def ravel(x: A, /, order: Order = "C") -> A:
    """The elements in one dimension; with ``order="F"`` the first axis runs fastest."""
    by_column = order != "C" and by_columns("ravel", order)
    return x._run(manipulation.reshape_by_columns if by_column else manipulation.reshape, (-1,))


flatten = ravel


def tobytes(x: A, /, order: Order = "C") -> bytes:
    """The bytes of the elements; the value is read. With ``order="F"`` the first axis runs fastest.

    >>> aio.asarray([1, 2], dtype="uint8").tobytes()
    b'\\x01\\x02'
    """
    value = x._host_value("array.tobytes()")
    return value.tobytes("F" if by_columns("tobytes", order) else "C")


def transpose(x: A, /, *axes: SupportsIndex | Sequence[SupportsIndex] | None) -> A:
    """The axes in another order, given as one tuple or one by one; without, reversed.

    >>> aio.zeros((2, 3, 4)).transpose(0, 2, 1).shape
    (2, 4, 3)
    """
    if not axes or axes == (None,):
        return x._run(manipulation.permute_dims, tuple(range(x._spec.ndim))[::-1])
    order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], SupportsIndex) else axes
    return x._run(manipulation.permute_dims, order_of("transpose", order))


def matrix_transpose(x: A, /) -> A:
    """The last two axes in each other's place. ``ValueError`` below two dimensions."""
    ndim = x._spec.ndim
    if ndim < 2:
        raise ValueError(f"mT: needs at least two dimensions, this array has {ndim}")
    return x._run(manipulation.permute_dims, (*range(ndim - 2), ndim - 1, ndim - 2))


def modular_power(x: A, exponent: ArrayLike, modulus: ArrayLike, /) -> A:
    """``pow(x, exponent, modulus)``. ``ValueError`` for a modulus of 0 and an exponent that is no uint64."""
    if type(modulus) is int and modulus == 0:
        raise ValueError("pow: the modulus must not be 0")
    if type(exponent) is not int:
        return x._run(modular.modular_power, others=(exponent, modulus))
    if not 0 <= exponent < 2**64:
        raise ValueError(f"pow: exponent {exponent} with a modulus; it takes exponents from 0 to 2**64 - 1")
    return x._run(modular.modular_power, exponent, others=(None, modulus))


def swapaxes(x: A, /, axis1: SupportsIndex, axis2: SupportsIndex) -> A:
    """Two axes in each other's place, as ``aio.swapaxes``."""
    order = list(range(x._spec.ndim))
    first, second = (normalize_axis("swapaxes", axis_of("swapaxes", k), len(order)) for k in (axis1, axis2))
    order[first], order[second] = second, first
    return x._run(manipulation.permute_dims, tuple(order))


def squeeze(x: A, /, axis: Axes = None) -> A:
    """Without dimensions of length 1: those of ``axis``, or all."""
    return x._run(manipulation.squeeze, axes_of("squeeze", axis))


def astype(
    x: A,
    /,
    dtype: Any,
    order: Order = "K",
    casting: Literal["unsafe"] = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> A:
    """The elements in ``dtype``, as ``aio.astype``. The other arguments are NumPy's, without a choice here."""
    if order != "K":
        by_columns("astype", order)
    if casting != "unsafe":
        raise ValueError(f"astype: casting={casting!r} is not taken; values are cast as by 'unsafe'")
    return x._run(data_types.astype, dtypes.as_dtype(dtype))


def view(x: A, /, dtype: Any) -> A:
    """The same bytes as elements of another dtype: an Array of its own, which shares no memory.

    A narrower dtype makes the last axis longer, a wider one shorter; complex numbers are pairs. ``ValueError``
    where the bytes of the last axis do not make whole elements, ``TypeError`` for dtypes of four bits.

    >>> aio.asarray([1.0, -2.0]).view("uint32")
    Array([1065353216, 3221225472], dtype=uint32)
    >>> aio.asarray([1 + 2j]).view("float32")
    Array([1., 2.], dtype=float32)
    """
    return x._run(data_types.view, dtypes.as_dtype(dtype))


def rounded(x: A, /, ndigits: SupportsIndex | None = None) -> A:
    """Python's ``round``: without digits, of real numbers, integers."""
    result = round(x, 0 if ndigits is None else ndigits)
    if ndigits is None and x._spec.dtype in dtypes.REAL_FLOATING:
        return astype(result, dtypes.default_for_rank(1))
    return result


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
    if type(bound) is int and isinstance(x, Value) and x._spec.dtype in dtypes.INTEGRAL:
        limits = dtypes.iinfo(x._spec.dtype)
        return builtins.min(builtins.max(bound, int(limits.min)), int(limits.max))
    return bound
