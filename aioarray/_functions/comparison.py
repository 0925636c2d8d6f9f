"""Comparison, logic and choice: element-wise functions of the array API standard, and NumPy's everyday others."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from .._array import ArrayLike, binary, bound_of, call, unary
from .._ops import comparison, logical
from .searching import nonzero

if TYPE_CHECKING:
    from .._array import Array

__all__ = [
    "clip",
    "equal",
    "fmax",
    "fmin",
    "greater",
    "greater_equal",
    "isclose",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "not_equal",
    "where",
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


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether both elements of each pair are true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_and(aio.asarray([True, False]), True)
    Array([ True, False], dtype=bool)
    """
    return binary(logical.logical_and, x1, x2)


def logical_not(x: ArrayLike, /) -> Array:
    """Whether each element is false, that is 0.

    Any dtype; the result is bool.

    >>> aio.logical_not(aio.asarray([True, False]))
    Array([False,  True], dtype=bool)
    """
    return unary(logical.logical_not, x)


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether either element of each pair is true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_or(aio.asarray([True, False]), False)
    Array([ True, False], dtype=bool)
    """
    return binary(logical.logical_or, x1, x2)


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Whether exactly one element of each pair is true, that is not 0.

    Any dtypes; the result is bool. ``ValueError`` for shapes that do not broadcast.

    >>> aio.logical_xor(aio.asarray([True, False]), True)
    Array([False,  True], dtype=bool)
    """
    return binary(logical.logical_xor, x1, x2)


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


@overload
def where(condition: ArrayLike, /) -> tuple[Array, ...]: ...
@overload
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Array: ...
def where(
    condition: ArrayLike, x1: ArrayLike | None = None, x2: ArrayLike | None = None, /
) -> Array | tuple[Array, ...]:
    """The element of ``x1`` where ``condition`` is true, of ``x2`` elsewhere.

    ``x1`` and ``x2`` promote, all three broadcast. ``ValueError`` for shapes that do not broadcast. Without both it is
    ``nonzero(condition)``, which reads the values.

    >>> aio.where(aio.asarray([True, False]), aio.asarray([1, 2]), 0)
    Array([1, 0], dtype=int32)
    """
    if x1 is None or x2 is None:
        if x1 is None and x2 is None:
            return nonzero(condition)
        raise ValueError("where: one of x1 and x2 is None; give both, or neither for the positions of what is true")
    return call(logical.where, (condition, x1, x2))
