"""``x[mask] = value`` for a boolean mask: no shape in it depends on the mask's values, so nothing has to be read."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Node, definition
from ._primitives import reshape, select, subtract
from ._rules import broadcast_to, convert, index_dtype
from .cumulative import cumulative_sum
from .indexing import take
from .subscripts import combine, fit_value


@definition
def setmask(x: Node, value: Node, mask: Node, mode: str) -> Node:
    """x with ``value`` put, added, … where ``mask`` is true; ``mask`` has the first axes of x.

    ``value`` broadcasts to the shape of ``x[mask]``, which has one axis for those of the mask. If it is longer than 1
    along that axis, its elements go to the true places in order; that there are as many is not checked.
    """
    if mask.dtype != dtypes.bool_:
        raise IndexError(f"setitem: a mask of dtype {mask.dtype.name}; it takes booleans")
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(
            f"setitem: a mask of shape {mask.shape} for an array of shape {x.shape}; its axes are the first ones"
        )
    inner = x.shape[mask.ndim :]
    if value.ndim > len(inner) and value.shape[-len(inner) - 1] != 1:
        count = value.shape[-len(inner) - 1]
        value = fit_value(value, (count, *inner), x)
        rank = subtract(cumulative_sum(convert(reshape(mask, (mask.size,)), index_dtype(mask.size)), 0, None, False), 1)
        update = reshape(take(value, rank, 0), x.shape)
    else:
        update = broadcast_to(_without_count(fit_value(value, (1, *inner), x)), x.shape)
    chosen = broadcast_to(reshape(mask, (*mask.shape, *(1,) * len(inner))), x.shape)
    return select(chosen, combine(mode, x, update), x)


def _without_count(value: Node) -> Node:
    return reshape(value, value.shape[1:])
