"""The values that a model is computed with.

A value is known while the model is traced, where it follows from shapes and constants, or it is not. What is known is
a NumPy array, what is not is an Array. An operator's function works on both, in the namespace that ``namespace`` gives
it: NumPy's where all operands are known, so that what it gives is known too, aioarray's otherwise.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

import aioarray as aio

# An Array, or a NumPy array where the value is known while the model is traced; None for an optional input that is
# not there, a list for a sequence. A union would have each operator tell apart what it need not.
Tensor: TypeAlias = Any

# Values are known up to this many elements: they become a part of the program, which should stay small.
KNOWN = 16384
# No array in a model has more bytes: a file of a few bytes may ask for any size.
LARGEST = 1 << 31


def is_known(x: Tensor) -> bool:
    """Whether the value is known while the model is traced."""
    return isinstance(x, np.ndarray)


def namespace(*operands: Tensor) -> Any:
    """NumPy if all operands are known, and their broadcast result is small; otherwise aioarray."""
    shapes = []
    for x in operands:
        if isinstance(x, np.ndarray):
            shapes.append(x.shape)
        elif x is not None:
            return aio
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return np  # operators that do not broadcast
    return np if math.prod(shape) <= KNOWN else aio


def filled(shape: tuple[int, ...], value: Any, dtype: Any) -> Tensor:
    """An array full of one value: known if it is small."""
    if math.prod(shape) <= KNOWN:
        return np.full(shape, value, dtype)
    return aio.broadcast_to(aio.asarray(np.asarray(value, dtype)), shape)


def as_tree(x: Tensor) -> Any:
    """``x`` as an Array, or a list of them for a sequence."""
    if isinstance(x, (list, tuple)):
        return [as_tree(each) for each in x]
    return None if x is None else as_array(x)


def as_array(x: Tensor) -> aio.Array:
    """``x`` as an Array."""
    return x if isinstance(x, aio.Array) else aio.asarray(x)


def cast(x: Tensor, dtype: Any) -> Tensor:
    """``x`` in another dtype."""
    wanted = np.dtype(dtype)
    if x.dtype == wanted:
        return x
    return x.astype(wanted) if is_known(x) else aio.astype(x, wanted)


def is_floating(x: Tensor) -> bool:
    """Whether the dtype is a real floating-point one."""
    return bool(aio.isdtype(x.dtype, "real floating"))


def axes_in_range(axes: Any, ndim: int) -> tuple[int, ...]:
    """``axes`` counted from the front; ``ValueError`` for one that is out of range."""
    found = []
    for axis in axes:
        number = int(axis)
        if not -ndim <= number < ndim:
            raise ValueError(f"axis {number} is out of range for {ndim} axes")
        found.append(number % ndim)
    return tuple(found)
