"""Running sums and products: functions of the array API standard, and NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._array import Array, ArrayLike, call
from .._dispatch.arguments import DTypeLike, axis_of, dtype_of
from .._ops import cumulative

if TYPE_CHECKING:
    from .._array import Array


__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]


def cumsum(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running sums along ``axis``; of the flattened array if that is None. Dtypes as for ``sum``.

    >>> aio.cumsum(aio.asarray([[1, 2], [3, 4]]))
    Array([ 1,  3,  6, 10], dtype=int32)
    """
    place = None if axis is None else axis_of("cumsum", axis)
    return call(cumulative.cumsum, (x,), place, dtype_of(dtype))


def cumprod(x: ArrayLike, /, axis: int | None = None, dtype: DTypeLike | None = None) -> Array:
    """Running products along ``axis``; of the flattened array if that is None. Dtypes as for ``sum``.

    >>> aio.cumprod(aio.asarray([[1, 2], [3, 4]]))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    place = None if axis is None else axis_of("cumprod", axis)
    return call(cumulative.cumprod, (x,), place, dtype_of(dtype))


def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Running sums along ``axis``, which may be left out for vectors; with ``include_initial``, 0 comes first.

    Dtypes as for ``sum``. ``ValueError`` if ``axis`` is needed and not given.

    >>> aio.cumulative_sum(aio.asarray([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    place = None if axis is None else axis_of("cumulative_sum", axis)
    return call(cumulative.cumulative_sum, (x,), place, dtype_of(dtype), bool(include_initial))


def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Running products along ``axis``, which may be left out for vectors; with ``include_initial``, 1 comes first.

    Dtypes as for ``sum``. ``ValueError`` if ``axis`` is needed and not given.

    >>> aio.cumulative_prod(aio.asarray([1, 2, 3]), include_initial=True)
    Array([1, 1, 2, 6], dtype=int32)
    """
    place = None if axis is None else axis_of("cumulative_prod", axis)
    return call(cumulative.cumulative_prod, (x,), place, dtype_of(dtype), bool(include_initial))
