"""Random numbers: of a key that follows from the seed in the file, or of one that is new for each program."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._dtypes import DTYPES
from .._registry import operator
from .._values import Tensor, as_array, cast
from .shapes import check_lengths

if TYPE_CHECKING:
    from .._evaluate import Call


def _key(call: Call) -> Any:
    """A program's numbers are the same at each call: it takes no state. Without a seed another program has others."""
    seed = call.get("seed")
    number = secrets.randbits(31) if seed is None else int(np.float32(seed).view(np.uint32))
    return aio.random.key(number)


def _dtype(call: Call, x: Tensor = None) -> np.dtype[Any]:
    number = call.get("dtype")
    if number is None:
        return np.dtype(np.float32) if x is None else x.dtype
    if number not in DTYPES:
        raise call.error(f"is {number}, which is no element type", "dtype")
    return DTYPES[number]


def _shape(call: Call) -> tuple[int, ...]:
    shape = call.items("shape")
    check_lengths(call, shape)
    return shape


def _uniform(call: Call, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
    low, high = call.number("low", 0.0), call.number("high", 1.0)
    return cast(aio.random.uniform(_key(call), shape, minval=low, maxval=high), dtype)


def _normal(call: Call, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
    return cast(aio.random.normal(_key(call), shape) * call.number("scale", 1.0) + call.number("mean", 0.0), dtype)


@operator("RandomUniform", random=True)
def random_uniform(call: Call) -> Tensor:
    return _uniform(call, _shape(call), _dtype(call))


@operator("RandomUniformLike", random=True)
def random_uniform_like(call: Call, x: Tensor) -> Tensor:
    return _uniform(call, x.shape, _dtype(call, x))


@operator("RandomNormal", random=True)
def random_normal(call: Call) -> Tensor:
    return _normal(call, _shape(call), _dtype(call))


@operator("RandomNormalLike", random=True)
def random_normal_like(call: Call, x: Tensor) -> Tensor:
    return _normal(call, x.shape, _dtype(call, x))


@operator("Bernoulli", random=True)
def bernoulli(call: Call, x: Tensor) -> Tensor:
    drawn = aio.random.uniform(_key(call), x.shape)
    return cast(drawn < cast(x, np.float32), _dtype(call, x))


@operator("Multinomial", random=True)
def multinomial(call: Call, x: Tensor) -> Tensor:
    count = call.integer("sample_size", 1)
    dtype = DTYPES[call.integer("dtype", 6)]
    drawn = aio.random.uniform(_key(call), (x.shape[0], count, x.shape[1]), minval=1e-7, maxval=1.0)
    # The greatest of the logarithms plus Gumbel noise.
    noise = -aio.log(-aio.log(drawn))
    return cast(aio.argmax(cast(as_array(x), np.float32)[:, None] + noise, axis=-1), dtype)
