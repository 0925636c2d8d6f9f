"""Whether whole arrays are equal: NumPy's everyday functions, which give an Array of no axes to be awaited."""

from __future__ import annotations

from .._array import Array, ArrayLike, as_array, fused
from .bitwise import bitwise_or
from .comparison import equal, isclose, logical_and
from .creation import asarray
from .floating_point import isnan
from .utility import all

__all__ = ["allclose", "array_equal"]


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
