"""NumPy's functions that say what an array is, without its values: they never wait."""

from __future__ import annotations

from .._array import ArrayLike, as_array
from .._base import dtypes
from .._dispatch.arguments import axis_of
from .._ops._rules import normalize_axis

__all__ = ["iscomplexobj", "isrealobj", "ndim", "shape", "size"]


def ndim(x: ArrayLike, /) -> int:
    """How many axes ``x``, of any dtype, has.

    >>> aio.ndim(aio.ones((2, 3)))
    2
    """
    return as_array("ndim", x).ndim


def shape(x: ArrayLike, /) -> tuple[int, ...]:
    """The lengths of the axes of ``x``, of any dtype.

    >>> aio.shape([[1, 2, 3]])
    (1, 3)
    """
    return as_array("shape", x).shape


def size(x: ArrayLike, /, axis: int | None = None) -> int:
    """How many elements ``x``, of any dtype, has, in all or along ``axis``. ``IndexError`` for an axis that it has not.

    >>> aio.size(aio.ones((2, 3))), aio.size(aio.ones((2, 3)), 1)
    (6, 3)
    """
    array = as_array("size", x)
    return array.size if axis is None else array.shape[normalize_axis("size", axis_of("size", axis), array.ndim)]


def iscomplexobj(x: ArrayLike, /) -> bool:
    """Whether ``x`` is of a complex dtype, whatever its values.

    >>> aio.iscomplexobj(aio.asarray([1 + 0j]))
    True
    """
    return as_array("iscomplexobj", x).dtype in dtypes.COMPLEX


def isrealobj(x: ArrayLike, /) -> bool:
    """Whether ``x`` is not of a complex dtype.

    >>> aio.isrealobj(aio.asarray([1.0]))
    True
    """
    return not iscomplexobj(x)
