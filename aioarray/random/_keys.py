"""Keys of random functions: made of seeds, and of other keys."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from .._array import Array, call, from_host
from .._base import dtypes
from .._dispatch.arguments import shape_of
from .._ops import manipulation, random, threefry
from .._xla.trees import register_tree_node

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

# The one generator there is.
IMPLEMENTATION = "threefry2x32"
Implementation: TypeAlias = Literal["threefry2x32"]


class Key:
    """A key, or an array of keys, of the random functions; made by ``key`` and ``split``, not by calling the class.

    ``key.shape`` is ``()`` for one key. Several unpack, and ``keys[i]`` is one of them. Using a key twice gives the
    same values twice. It passes through ``jit``, pickles, and ``await`` gives the key itself, ready.

    >>> key1, key2 = aio.random.split(aio.random.key(0))
    >>> key1
    Key(shape=(), partitionable=False)
    """

    __slots__ = ("_data", "_partitionable")

    _data: Array
    _partitionable: bool

    def __init__(self, data: Array, partitionable: bool) -> None:
        self._data = data
        self._partitionable = partitionable

    @property
    def data(self) -> Array:
        """The bits: uint32, with an axis of length 2 behind the keys' own."""
        return self._data

    @property
    def partitionable(self) -> bool:
        """Whether bits are drawn in JAX's partitionable layout."""
        return self._partitionable

    @property
    def shape(self) -> tuple[int, ...]:
        """``()`` for one key, the lengths of the axes for several."""
        return self._data.shape[:-1]

    @property
    def ndim(self) -> int:
        """How many axes; 0 for one key."""
        return self._data.ndim - 1

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of one key")
        return self.shape[0]

    def __getitem__(self, index: Any, /) -> Key:
        entries = index if isinstance(index, tuple) else (index,)
        taken = sum(1 for entry in entries if entry is not None and entry is not ...)
        if taken > self.ndim:
            raise IndexError(f"{taken} indices for keys of shape {self.shape}; they take at most {self.ndim}")
        # Without an ellipsis the last axis, of the bits, stays as it is; with one, a slice must stand for it.
        has_ellipsis = any(entry is ... for entry in entries)
        return Key(self._data[(*entries, slice(None)) if has_ellipsis else entries], self._partitionable)

    def __iter__(self) -> Iterator[Key]:
        if not self.shape:
            raise TypeError("iteration over one key; split it into several: random.split(key)")
        if not len(self):
            return iter(())
        rows = call(manipulation.unstack, (self._data,), 0)
        return iter([Key(row, self._partitionable) for row in rows])

    def __repr__(self) -> str:
        return f"Key(shape={self.shape}, partitionable={self._partitionable})"

    def __await__(self) -> Generator[Any, Any, Key]:
        yield from self._data.__await__()
        return self


register_tree_node(Key, lambda key: ((key._data,), key._partitionable), lambda layout, data: Key(data[0], layout))

KeyLike: TypeAlias = Key | Array | np.ndarray


def _check_implementation(function: str, impl: str) -> None:
    if impl != IMPLEMENTATION:
        raise ValueError(f"{function}: impl {impl!r} is not known; use {IMPLEMENTATION!r}")


def _seeded(function: str, seed: SupportsIndex | Array) -> Array:
    if isinstance(seed, Array):
        return call(random.seed, (seed,))
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(f"{function}: seed {seed!r} is no integer") from None
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{function}: seed {number} does not fit in 64 bits")
    return from_host(np.array(threefry.seed_words(number), np.uint32))


def key(seed: SupportsIndex | Array, *, impl: Implementation = "threefry2x32", partitionable: bool = False) -> Key:
    """A key made of an integer, of which the low 32 bits count.

    ``partitionable`` chooses the layout of the bits drawn from it: False that of JAX with
    ``jax_threefry_partitionable=False``, True the one JAX has by default. ``TypeError`` for what is no integer,
    ``OverflowError`` beyond 64 bits.

    >>> aio.random.uniform(aio.random.key(0), (3,))
    Array([0.9653214 , 0.31468165, 0.63302994], dtype=float32)
    """
    _check_implementation("key", impl)
    return Key(_seeded("key", seed), bool(partitionable))


def PRNGKey(seed: SupportsIndex | Array) -> Array:
    """The bare bits of a key, uint32 of shape ``(2,)``, which all functions take like a key of the original layout.

    >>> aio.random.PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    return _seeded("PRNGKey", seed)


def key_data(key: KeyLike) -> Array:
    """The bits of a key, or of several: uint32 of shape ``(..., 2)``.

    >>> aio.random.key_data(aio.random.key(7))
    Array([0, 7], dtype=uint32)
    """
    return opened("key_data", key)[0]


def wrap_key_data(
    data: Array | np.ndarray, *, impl: Implementation = "threefry2x32", partitionable: bool = False
) -> Key:
    """The key, or keys, with these bits: the inverse of ``key_data``.

    >>> aio.random.wrap_key_data(aio.random.PRNGKey(7))
    Key(shape=(), partitionable=False)
    """
    _check_implementation("wrap_key_data", impl)
    bits, _ = opened("wrap_key_data", data)
    if bits.dtype != dtypes.uint32 or bits.shape[-1:] != (2,):
        raise ValueError(
            f"wrap_key_data: {bits.dtype.name} of shape {bits.shape}; the bits are uint32 of shape (..., 2)"
        )
    return Key(bits, bool(partitionable))


def opened(function: str, key: KeyLike) -> tuple[Array, bool]:
    """A key's bits, and whether its layout is partitionable; the definitions check dtype and shape."""
    if isinstance(key, Key):
        return key._data, key._partitionable
    if isinstance(key, Array):
        return key, False
    if isinstance(key, np.ndarray):
        return from_host(key), False
    raise TypeError(f"{function}: {key!r} is no key; make one with random.key(seed)")


def split(key: KeyLike, num: SupportsIndex | Sequence[SupportsIndex] = 2) -> Any:
    """``num`` new keys (or an array of keys of that shape) made of one, which should not be used again.

    They come as a ``Key`` that unpacks; of bare bits, as bare bits. ``ValueError`` for more than one key.

    >>> key = aio.random.key(0)
    >>> key, subkey = aio.random.split(key)
    >>> aio.random.split(key, (2, 3)).shape
    (2, 3)
    """
    bits, layout = opened("split", key)
    new = call(random.split, (bits,), shape_of("split", num), layout)
    return Key(new, layout) if isinstance(key, Key) else new


def fold_in(key: KeyLike, data: SupportsIndex | Array) -> Any:
    """A new key made of a key and an integer of 32 bits, such as the number of a step.

    ``OverflowError`` for a number below 0 or beyond 32 bits.

    >>> key = aio.random.key(0)
    >>> aio.random.fold_in(key, 1)
    Key(shape=(), partitionable=False)
    """
    bits, layout = opened("fold_in", key)
    if not isinstance(data, Array):
        try:
            number = operator.index(data)
        except TypeError:
            raise TypeError(f"fold_in: data {data!r} is no integer") from None
        if not 0 <= number < 2**32:
            raise OverflowError(f"fold_in: data {number} does not fit in 32 bits without a sign")
        data = from_host(np.array(number, np.uint32))
    new = call(random.fold_in, (bits, data))
    return Key(new, layout) if isinstance(key, Key) else new
