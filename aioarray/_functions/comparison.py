"""Comparison, logic and choice: element-wise functions of the array API standard, and NumPy's everyday others."""

from __future__ import annotations

from .._array import Array, ArrayLike, as_array, binary, bound_of, call, fused
from .._ops import comparison
from .._ops._rules import broadcast_shapes
from .bitwise import bitwise_or
from .creation import asarray
from .floating_point import isnan
from .logical import logical_and
from .utility import all

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "clip",
    "equal",
    "fmax",
    "fmin",
    "greater",
    "greater_equal",
    "isclose",
    "less",
    "less_equal",
    "maximum",
    "minimum",
    "not_equal",
]


def clip(x: ArrayLike, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """Each element, but not below ``min`` and not above ``max`` (None: no bound); NaN if any of the three is.

    ``x`` has a real numeric dtype; bounds are arrays, which promote with it and broadcast, or Python numbers.
    ``TypeError`` for other dtypes. ``ValueError`` for shapes that do not broadcast.

    >>> aio.clip(aio.asarray([1, 5, 9]), 2, 7)
    Array([2, 5, 7], dtype=int32)
    >>> aio.clip(aio.asarray([1.0, 5.0]), max=aio.asarray([0.5, 6.0]))
    Array([0.5, 5. ], dtype=float32)
    """
    return call(comparison.clip, (x, bound_of(x, min), bound_of(x, max)))


def equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether each pair of elements is equal.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.equal(aio.asarray([1, 2]), 2)
    Array([False,  True], dtype=bool)
    """
    return binary(comparison.equal, x1, x2)


def fmax(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The greater of each pair of elements; where one is NaN, the other.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.fmax(aio.asarray([1.0, float('nan')]), 0.5)
    Array([1. , 0.5], dtype=float32)
    """
    return binary(comparison.fmax, x1, x2)


def fmin(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The lesser of each pair of elements; where one is NaN, the other.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.fmin(aio.asarray([1.0, float('nan')]), 0.5)
    Array([0.5, 0.5], dtype=float32)
    """
    return binary(comparison.fmin, x1, x2)


def greater(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether the first element of each pair is greater.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.greater(aio.asarray([1, 2, 3]), 2)
    Array([False, False,  True], dtype=bool)
    """
    return binary(comparison.greater, x1, x2)


def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether the first element of each pair is greater, or both are equal.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.greater_equal(aio.asarray([1, 2, 3]), 2)
    Array([False,  True,  True], dtype=bool)
    """
    return binary(comparison.greater_equal, x1, x2)


def isclose(x1: ArrayLike, x2: ArrayLike, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether ``abs(x1 - x2) <= atol + rtol * abs(x2)``; equal infinities are close, and NaNs if ``equal_nan``.

    Any dtypes, which promote; shapes broadcast; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.isclose(aio.asarray([1.0, 1.1]), 1.000001)
    Array([ True, False], dtype=bool)
    """
    return call(comparison.isclose, (x1, x2), float(rtol), float(atol), bool(equal_nan))


def less(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether the first element of each pair is less.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.less(aio.asarray([1, 2, 3]), 2)
    Array([ True, False, False], dtype=bool)
    """
    return binary(comparison.less, x1, x2)


def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether the first element of each pair is less, or both are equal.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.less_equal(aio.asarray([1, 2, 3]), 2)
    Array([ True,  True, False], dtype=bool)
    """
    return binary(comparison.less_equal, x1, x2)


def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The greater of each pair of elements; NaN where either is.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.maximum(aio.asarray([1, 5]), 3)
    Array([3, 5], dtype=int32)
    """
    return binary(comparison.maximum, x1, x2)


def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The lesser of each pair of elements; NaN where either is.

    Any dtypes, which promote. ``ValueError`` for shapes that do not broadcast.

    >>> aio.minimum(aio.asarray([1, 5]), 3)
    Array([1, 3], dtype=int32)
    """
    return binary(comparison.minimum, x1, x2)


def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether each pair of elements differs.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.not_equal(aio.asarray([1, 2]), 2)
    Array([ True, False], dtype=bool)
    """
    return binary(comparison.not_equal, x1, x2)


@fused
def allclose(x1: ArrayLike, x2: ArrayLike, /, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether all pairs of elements are equal within a tolerance, as ``isclose`` has it. One bool.

    ``ValueError`` for shapes that do not broadcast.

    >>> aio.allclose(aio.asarray([1.0, 2.0]), aio.asarray([1.0, 2.000001]))
    Array(True, dtype=bool)
    """
    return all(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))


@fused
def array_equal(x1: ArrayLike, x2: ArrayLike, /, equal_nan: bool = False) -> Array:
    """Whether both arrays have the same shape and all elements are equal; with ``equal_nan`` also NaN to NaN. One bool.

    >>> aio.array_equal(aio.asarray([1, 2]), aio.asarray([1, 2])), aio.array_equal(aio.ones(2), aio.ones(3))
    (Array(True, dtype=bool), Array(False, dtype=bool))
    """
    a, b = as_array("array_equal", x1), as_array("array_equal", x2)
    if a.shape != b.shape:
        return asarray(False)
    same = equal(a, b)
    if equal_nan and a.dtype.kind not in "biu" and b.dtype.kind not in "biu":
        same = bitwise_or(same, logical_and(isnan(a), isnan(b)))
    return all(same)


@fused
def array_equiv(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether all elements of two arrays are equal after they are broadcast; False where the shapes do not broadcast.

    Any dtypes, which promote. The result is a bool Array of no axes, to be awaited.

    >>> aio.array_equiv(aio.asarray([1, 2]), aio.asarray([[1, 2], [1, 2]]))
    Array(True, dtype=bool)
    """
    first, second = as_array("array_equiv", x1), as_array("array_equiv", x2)
    try:
        broadcast_shapes("array_equiv", first.shape, second.shape)
    except ValueError:
        return asarray(False)
    return all(equal(first, second))
