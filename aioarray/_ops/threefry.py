"""Threefry2x32, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11), and
how JAX draws keys and bits from it: the same bits for the same key, in both of JAX's layouts.

A key is two words of 32 bits. The *original* layout hashes the counters 0..n-1 in pairs, first half with second half;
the *partitionable* one hashes the 64-bit index of each element, so an element's bits do not depend on the shape's size.

Every function takes keys uint32[*batch, 2] and draws from each; its results have the batch's dimensions first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._base import dtypes
from . import _primitives as p
from ._rules import BROADCAST, broadcast_to, convert, full_like

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._graph import Node

Shape = tuple[int, ...]

# Section 3.3 of the paper, table 2: rotation distances of Threefry-2x32, which repeat every eight rounds.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_GROUPS = 5  # of four rounds, so 20 rounds
_PARITY = 0x1BD11BDA
_UNSIGNED = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}
# The most counters that one key may hash in the original layout.
_MAX_COUNTERS = 2**32 - 1


def seed_words(seed: int) -> tuple[int, int]:
    """The key of a Python integer, as JAX makes it without 64-bit mode: its low 32 bits, two's complement."""
    return 0, seed & 0xFFFFFFFF


def threefry2x32(key: tuple[Node, Node], x0: Node, x1: Node) -> tuple[Node, Node]:
    """The hash of the words ``x0, x1`` under the key words ``key``; uint32, all of one shape."""
    schedule = (*key, p.bit_xor(p.bit_xor(*key), _PARITY))
    x0, x1 = p.add(x0, schedule[0]), p.add(x1, schedule[1])
    for group in range(_GROUPS):
        for distance in _ROTATIONS[group % 2]:
            x0 = p.add(x0, x1)
            x1 = p.bit_xor(x0, _rotate_left(x1, distance))
        x0 = p.add(x0, schedule[(group + 1) % 3])
        x1 = p.add(p.add(x1, schedule[(group + 2) % 3]), group + 1)
    return x0, x1


def _rotate_left(x: Node, distance: int) -> Node:
    return p.bit_or(p.shift_left(x, distance), p.shift_right(x, 32 - distance))


def key_words(keys: Node, shape: Shape = ()) -> tuple[Node, Node]:
    """The two words of each key, stretched over the counters ``shape`` behind the batch."""
    batch = keys.shape[:-1]
    words = (p.take_index(keys, -1, i) for i in range(2))
    dimensions = tuple(range(len(batch)))
    first, second = (BROADCAST(word, shape=batch + shape, dimensions=dimensions) for word in words)
    return first, second


def _hash_counters(keys: Node, count: int) -> Node:
    # Original layout, uint32[*batch, count]: counter i of the first half goes with counter i of the second; an odd
    # count is padded with a 0. Row r of the two takes word r of the hashes, so the hash is written once and each row
    # computes it: together with the barrier that compiles three times faster than joining the two words, and runs
    # no slower.
    batch = keys.shape[:-1]
    half = (count + 1) // 2
    rows = min(count, 2)
    shape = (*batch, rows, half)
    first = p.iota(shape, dtypes.uint32, -1)
    second = p.add(first, half)
    if count % 2:
        second = p.select(p.equal(second, count), 0, second)
    word0, word1 = threefry2x32(key_words(keys, (rows, half)), first, second)
    if rows < 2:
        return p.reshape(p.barrier(word0), (*batch, count))
    row = p.iota(shape, dtypes.uint32, -2)
    words = p.barrier(p.select(p.equal(row, 0), word0, word1))
    return p.slice_axis(p.reshape(words, (*batch, 2 * half)), -1, 0, count)


def _hash_indices(keys: Node, size: int) -> tuple[Node, Node]:
    # Partitionable layout, twice uint32[*batch, size]: the hash of the high and the low half of each index.
    shape = (*keys.shape[:-1], size)
    if size <= 2**32:
        low = p.iota(shape, dtypes.uint32, -1)
        high = full_like(low, 0)
    else:
        index = p.iota(shape, dtypes.uint64, -1)
        high, low = (convert(x, dtypes.uint32) for x in (p.shift_right(index, 32), index))
    return threefry2x32(key_words(keys, (size,)), high, low)


def split(keys: Node, shape: Shape, partitionable: bool) -> Node:
    """``prod(shape)`` new keys made of each: uint32[*batch, *shape, 2]."""
    count = math.prod(shape)
    if partitionable:
        words = p.stack(_hash_indices(keys, count), -1)
    else:
        words = _hash_counters(keys, 2 * count)
    return p.reshape(words, (*keys.shape[:-1], *shape, 2))


def split_list(keys: Node, count: int, partitionable: bool) -> tuple[Node, ...]:
    """``count`` nodes of new keys, each like ``keys``."""
    several = split(keys, (count,), partitionable)
    return tuple(p.take_index(several, -2, i) for i in range(count))


def fold_in(keys: Node, data: Node) -> Node:
    """The keys that ``keys`` and the uint32 scalar ``data`` make."""
    data = broadcast_to(data, keys.shape[:-1])
    return p.stack(threefry2x32(key_words(keys, ()), full_like(data, 0), data), -1)


def bits(keys: Node, width: int, shape: Shape, partitionable: bool) -> Node:
    """Random unsigned integers of 8, 16, 32 or 64 bits: uint[*batch, *shape]."""
    dtype = _UNSIGNED[width]
    size = math.prod(shape)
    batched = (*keys.shape[:-1], *shape)
    if partitionable:
        high, low = _hash_indices(keys, size)
        values = _join(high, low) if width == 64 else convert(p.barrier(p.bit_xor(high, low)), dtype)
        return p.reshape(values, batched)
    words = _original_words(keys, -(-size * width // 32))
    if width == 64:
        words = _join(p.slice_axis(words, -1, 0, size), p.slice_axis(words, -1, size, 2 * size))
    elif width < 32:
        words = p.slice_axis(_take_apart(words, dtype, width), -1, 0, size)
    return p.reshape(words, batched)


def _original_words(keys: Node, count: int) -> Node:
    blocks, rest = divmod(count, _MAX_COUNTERS)
    if not blocks:
        return _hash_counters(keys, count)
    *full, last = split_list(keys, blocks + 1, False)
    return p.concatenate([*(_hash_counters(k, _MAX_COUNTERS) for k in full), _hash_counters(last, rest)], -1)


def _join(high: Node, low: Node) -> Node:
    shifted = p.shift_left(convert(high, dtypes.uint64), 32)
    return p.bit_or(shifted, convert(low, dtypes.uint64))


def _take_apart(words: Node, dtype: DType, width: int) -> Node:
    # Each word gives 32 / width values, lowest bits first.
    *batch, count = words.shape
    parts = 32 // width
    shape = (*batch, count, parts)
    stretched = BROADCAST(words, shape=shape, dimensions=tuple(range(words.ndim)))
    shifted = p.shift_right(stretched, p.multiply(p.iota(shape, dtypes.uint32, -1), width))
    return p.reshape(convert(shifted, dtype), (*batch, count * parts))
