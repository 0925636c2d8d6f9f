"""Normalisation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, axes_in_range, cast

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("BatchNormalization", since=7)
def batch_normalization(
    call: Call, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor
) -> tuple[Tensor, ...] | Tensor:
    epsilon = call.number("epsilon", 1e-5)
    if not call.integer("training_mode", 0):
        return cast(nn.batch_norm(x, mean, variance, scale, shift, eps=epsilon), x.dtype)
    axes = tuple(k for k in range(x.ndim) if k != 1)
    now, spread = aio.mean(x, axis=axes), aio.var(x, axis=axes)
    momentum = call.number("momentum", 0.9)
    y = nn.batch_norm(x, now, spread, scale, shift, eps=epsilon)
    return y, mean * momentum + now * (1 - momentum), variance * momentum + spread * (1 - momentum)


@operator("InstanceNormalization")
def instance_normalization(call: Call, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    axes = tuple(range(2, x.ndim))
    shape = (-1, *[1] * (x.ndim - 2))
    wide = cast(x, np.float32) if x.dtype.itemsize < 4 else x
    mean = aio.mean(wide, axis=axes, keepdims=True)
    spread = aio.mean(aio.square(wide - mean), axis=axes, keepdims=True)
    y = (wide - mean) / aio.sqrt(spread + call.number("epsilon", 1e-5))
    return cast(y * scale.reshape(shape) + shift.reshape(shape), x.dtype)


@operator("LayerNormalization", since=17)
def layer_normalization(call: Call, x: Tensor, scale: Tensor, shift: Tensor = None) -> tuple[Tensor, ...]:
    first = axes_in_range([call.integer("axis", -1)], x.ndim)[0]
    axes = tuple(range(first, x.ndim))
    wide = cast(x, np.float32) if x.dtype.itemsize < 4 else x
    mean = aio.mean(wide, axis=axes, keepdims=True)
    centred = wide - mean
    inverse = 1 / aio.sqrt(aio.mean(centred * centred, axis=axes, keepdims=True) + call.number("epsilon", 1e-5))
    y = cast(centred * inverse, x.dtype) * scale
    return (y if shift is None else y + shift), mean, inverse


@operator("RMSNormalization", since=23)
def rms_normalization(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    first = axes_in_range([call.integer("axis", -1)], x.ndim)[0]
    axes = tuple(range(first, x.ndim))
    wide = cast(x, np.float32) if x.dtype.itemsize < 4 else x
    mean = aio.mean(wide * wide, axis=axes, keepdims=True)
    y = wide / aio.sqrt(mean + call.number("epsilon", 1e-5))
    return cast(cast(y, x.dtype) * scale, scale.dtype)


@operator("GroupNormalization", since=18)
def group_normalization_by_group(call: Call, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """In this version, which was withdrawn, there is a scale for each group."""
    groups = call.integer("num_groups")
    each = x.shape[1] // groups
    return _group_norm(call, x, aio.repeat(scale, each), aio.repeat(shift, each))


@operator("GroupNormalization", since=21)
def group_normalization(call: Call, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return _group_norm(call, x, scale, shift)


def _group_norm(call: Call, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return nn.group_norm(x, scale, shift, groups=call.integer("num_groups"), eps=call.number("epsilon", 1e-5))


@operator("LpNormalization")
def lp_normalization(call: Call, x: Tensor) -> Tensor:
    axis, p = call.integer("axis", -1), call.integer("p", 2)
    if p == 1:
        norm = aio.sum(aio.abs(x), axis=axis, keepdims=True)
    else:
        norm = aio.sqrt(aio.sum(x * x, axis=axis, keepdims=True))
    return aio.where(norm == 0, 0, x / aio.where(norm == 0, 1, norm))


@operator("LRN")
def local_response_normalization(call: Call, x: Tensor) -> Tensor:
    size = call.integer("size")
    before, after = (size - 1) // 2, math.ceil((size - 1) / 2)
    squares = aio.pad(x * x, [(0, 0), (before, after), *[(0, 0)] * (x.ndim - 2)])
    total = sum(squares[:, k : k + x.shape[1]] for k in range(size))
    base = call.number("bias", 1.0) + call.number("alpha", 1e-4) / size * total
    return x / base ** call.number("beta", 0.75)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(call: Call, x: Tensor) -> Tensor:
    axes = axes_in_range(call.items("axes", (0, 2, 3)), x.ndim)
    mean = aio.mean(x, axis=axes, keepdims=True)
    spread = aio.mean(x * x, axis=axes, keepdims=True) - mean * mean
    return (x - mean) / (aio.sqrt(spread) + 1e-9)


@operator("BatchNormalization", since=6)
def batch_normalization_tested(
    call: Call, x: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    """In this version an attribute says that the model is not trained."""
    if not call.integer("is_test", 0):
        raise call.error("is 0, as in training; aioarray runs models, and trains none", "is_test")
    return nn.batch_norm(x, mean, variance, scale, shift, eps=call.number("epsilon", 1e-5))


@operator("Dropout")
def dropout_tested(call: Call, x: Tensor) -> Tensor:
    """In this version an attribute says that the model is not trained."""
    if not call.integer("is_test", 0):
        raise call.error("is 0, as in training; aioarray runs models, and trains none", "is_test")
    return x


@operator("Dropout", since=7)
def dropout(call: Call, x: Tensor, ratio: Tensor = None, training: Tensor = None) -> tuple[Tensor, ...]:
    """Nothing is dropped but in training."""
    if training is not None and bool(call.scalar(training, "whether it is training")):
        rate = 0.5 if ratio is None else float(call.scalar(ratio, "the ratio"))
        if rate:
            raise call.error("drops elements at random, as in training; aioarray runs models, and trains none")
    return x, aio.full(x.shape, True, dtype=np.bool_)
