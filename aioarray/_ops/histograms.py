"""How often values occur."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Node, definition
from ._gather import SCATTER
from ._primitives import less, minimum, reshape, select
from ._rules import broadcast_to, convert, index_dtype, scalar


@definition
def bincount(x: Node, weights: Node | None, length: int) -> Node:
    """How often each integer below ``length`` occurs in the vector ``x``, or the sum of its ``weights``.

    Others are not counted.
    """
    if x.ndim != 1 or x.dtype not in dtypes.INTEGRAL_OR_BOOLEAN:
        raise TypeError(f"bincount: x of dtype {x.dtype.name} and shape {x.shape}; it takes a vector of integers")
    if length < 0:
        raise ValueError(f"bincount: length={length} must not be negative")
    if weights is None:
        dtype = index_dtype(x.size)
        weights = broadcast_to(scalar(1, dtype), x.shape)
    elif weights.shape != x.shape:
        raise ValueError(f"bincount: weights have shape {weights.shape}, x {x.shape}; they must be the same")
    counts = broadcast_to(scalar(0, weights.dtype), (length,))
    if length == 0 or x.size == 0:
        return counts
    if x.dtype == dtypes.bool_:
        x = convert(x, dtypes.int32)
    # A position that is out of range is dropped; a wide unsigned one must not become a narrow signed one before.
    if x.dtype in dtypes.UNSIGNED and length < 2 ** (8 * x.dtype.itemsize):
        x = minimum(x, length)
    elif x.dtype in dtypes.SIGNED and length < 2 ** (8 * x.dtype.itemsize - 1):
        x = select(less(x, 0), length, minimum(x, length))
    places = convert(x, dtypes.int64 if length > 2**30 else dtypes.int32)
    return SCATTER(
        counts,
        reshape(places, (x.size, 1)),
        weights,
        axes=(0,),
        window=(),
        combine="stablehlo.add",
        unique=False,
    )
