"""A cache of keys and values, for decoding a sequence step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._array import Array, ArrayLike, as_array, call
from .._base import dtypes
from .._functions.creation import zeros
from .._graph import Node, definition
from .._ops import _primitives as p
from .._ops._gather import SCATTER
from .._ops._rules import broadcast_to, convert

if TYPE_CHECKING:
    from .._dispatch.arguments import DeviceLike, DTypeLike

__all__ = ["KVCache", "kv_cache", "kv_cache_mask", "update_kv_cache"]


class KVCache(NamedTuple):
    """Keys and values of the positions seen so far, in arrays of a fixed size, so that every step is one program.

    ``keys`` and ``values`` are (batch, capacity, key heads, width), ``lengths`` (batch,) says how many of each are
    filled. A tree: it goes through ``jit`` as an argument and a result.

    >>> aio.nn.kv_cache(2, 16, 4, 8).keys.shape
    (2, 16, 4, 8)
    """

    keys: Array
    values: Array
    lengths: Array


def kv_cache(
    batch: int,
    capacity: int,
    heads: int,
    width: int,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> KVCache:
    """An empty cache for ``batch`` sequences of at most ``capacity`` positions; of the default real dtype.

    >>> aio.nn.kv_cache(2, 16, 4, 8).lengths
    Array([0, 0], dtype=int32)
    """
    shape = (batch, capacity, heads, width)
    return KVCache(
        zeros(shape, dtype=dtype, device=device),
        zeros(shape, dtype=dtype, device=device),
        zeros((batch,), dtype=dtypes.int32, device=device),
    )


def update_kv_cache(cache: KVCache, keys: ArrayLike, values: ArrayLike, /) -> KVCache:
    """The cache with ``keys`` and ``values`` (batch, T, key heads, width) behind what each sequence has.

    What goes beyond the capacity is dropped, though counted; see to it that ``lengths`` stay within. ``ValueError``
    where shapes do not fit.

    >>> cache = aio.nn.kv_cache(1, 3, 1, 1)
    >>> cache = aio.nn.update_kv_cache(cache, aio.asarray([[[[5.0]]]]), aio.asarray([[[[7.0]]]]))
    >>> cache.keys[0, :, 0, 0], cache.lengths
    (Array([5., 0., 0.], dtype=float32), Array([1], dtype=int32))
    """
    keys, values = as_array("update_kv_cache", keys), as_array("update_kv_cache", values)
    return KVCache(*call(_update, (*cache, keys, values)))


@definition
def _update(keys: Node, values: Node, lengths: Node, new_keys: Node, new_values: Node) -> tuple[Node, ...]:
    batch = keys.shape[0]
    steps = new_keys.shape[1] if new_keys.ndim == 4 else -1
    for name, new, old in (("keys", new_keys, keys), ("values", new_values, values)):
        if new.shape != (old.shape[0], steps, *old.shape[2:]):
            raise ValueError(
                f"update_kv_cache: {name} of shape {new.shape} for a cache of shape {old.shape}; they must be "
                "(batch, T, heads, width), like the cache but for the length"
            )
    # Where each new position goes: (batch, steps, 2).
    rows = p.iota((batch, steps), dtypes.int32, 0)
    columns = p.add(
        p.iota((batch, steps), dtypes.int32, 1), broadcast_to(p.reshape(lengths, (batch, 1)), (batch, steps))
    )
    places = p.stack((rows, columns), 2)
    updated = [_put(old, places, convert(new, old.dtype)) for old, new in ((keys, new_keys), (values, new_values))]
    return (*updated, p.add(lengths, steps))


def _put(x: Node, places: Node, update: Node) -> Node:
    return SCATTER(x, places, update, axes=(0, 1), window=(2, 3), combine=None, unique=True)


def kv_cache_mask(cache: KVCache, steps: int, /) -> Array:
    """The mask for ``steps`` queries that were just put in the cache: each sees itself and what is before it.

    Boolean (batch, 1, steps, capacity), for ``dot_product_attention``.

    >>> cache = aio.nn.KVCache(aio.zeros((1, 4, 1, 1)), aio.zeros((1, 4, 1, 1)), aio.asarray([3], dtype="int32"))
    >>> aio.nn.kv_cache_mask(cache, 2)
    Array([[[[ True,  True, False, False],
             [ True,  True,  True, False]]]], dtype=bool)
    """
    return call(_mask, (cache.lengths,), cache.keys.shape[1], int(steps))


@definition
def _mask(lengths: Node, capacity: int, steps: int) -> Node:
    shape = (lengths.shape[0], 1, steps, capacity)
    first = p.subtract(broadcast_to(p.reshape(lengths, (shape[0], 1, 1, 1)), shape), steps)
    return p.less_equal(p.iota(shape, dtypes.int32, 3), p.add(first, p.iota(shape, dtypes.int32, 2)))
