"""Activation functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, cast, is_floating, namespace

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("Relu")
def relu(call: Call, x: Tensor) -> Tensor:
    return namespace(x).maximum(x, np.asarray(0, x.dtype))


@operator("Sigmoid")
def sigmoid(call: Call, x: Tensor) -> Tensor:
    return nn.sigmoid(x)


@operator("HardSigmoid")
def hard_sigmoid(call: Call, x: Tensor) -> Tensor:
    return aio.clip(call.number("alpha", 0.2) * x + call.number("beta", 0.5), 0, 1)


@operator("HardSwish")
def hard_swish(call: Call, x: Tensor) -> Tensor:
    return x * aio.clip(x / 6 + 0.5, 0, 1)


@operator("Elu")
def elu(call: Call, x: Tensor) -> Tensor:
    return nn.elu(x, alpha=call.number("alpha", 1.0))


@operator("Celu")
def celu(call: Call, x: Tensor) -> Tensor:
    alpha = call.number("alpha", 1.0)
    return aio.maximum(x, 0) + aio.minimum(alpha * aio.expm1(x / alpha), 0)


@operator("Selu", since=6)
def selu(call: Call, x: Tensor) -> Tensor:
    alpha = call.number("alpha", 1.67326319217681884765625)
    gamma = call.number("gamma", 1.05070102214813232421875)
    return gamma * aio.where(x > 0, x, alpha * aio.expm1(aio.minimum(x, 0)))


@operator("LeakyRelu")
def leaky_relu(call: Call, x: Tensor) -> Tensor:
    return aio.where(x < 0, call.number("alpha", 0.01) * x, x)


@operator("PRelu")
def prelu_of_channels(call: Call, x: Tensor, slope: Tensor) -> Tensor:
    """Before version 7 there is a slope for each channel."""
    if slope.ndim == 1 and slope.size > 1:
        slope = namespace(slope).reshape(slope, (-1, *[1] * (x.ndim - 2)))
    return call.newer("PRelu", 7, x, slope)


@operator("PRelu", since=7)
def prelu(call: Call, x: Tensor, slope: Tensor) -> Tensor:
    xp = namespace(x, slope)
    return xp.where(xp.less(x, np.asarray(0, x.dtype)), xp.multiply(slope, x), x)


@operator("ThresholdedRelu")
def thresholded_relu(call: Call, x: Tensor) -> Tensor:
    return aio.where(x > call.number("alpha", 1.0), x, 0)


@operator("Softplus")
def softplus(call: Call, x: Tensor) -> Tensor:
    return nn.softplus(x)


@operator("Softsign")
def softsign(call: Call, x: Tensor) -> Tensor:
    return x / (1 + aio.abs(x))


@operator("Mish")
def mish(call: Call, x: Tensor) -> Tensor:
    return nn.mish(x)


@operator("Gelu")
def gelu(call: Call, x: Tensor) -> Tensor:
    return nn.gelu(x, approximate=call.text("approximate", "none") == "tanh")


@operator("Swish")
def swish(call: Call, x: Tensor) -> Tensor:
    return x * nn.sigmoid(call.number("alpha", 1.0) * x)


@operator("Shrink")
def shrink(call: Call, x: Tensor) -> Tensor:
    bias, limit = call.number("bias", 0.0), call.number("lambd", 0.5)
    wide = x if is_floating(x) else cast(x, np.float32)
    return cast(aio.where(wide < -limit, wide + bias, aio.where(wide > limit, wide - bias, 0)), x.dtype)


def _flattened(call: Call, x: Tensor) -> tuple[Tensor, int]:
    """Before version 13 these operators see two axes: those before ``axis`` and those from it on."""
    axis = call.integer("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return aio.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))), 1


@operator("Softmax")
def softmax_of_two_axes(call: Call, x: Tensor) -> Tensor:
    flat, axis = _flattened(call, x)
    return aio.reshape(nn.softmax(flat, axis=axis), x.shape)


@operator("Softmax", since=13)
def softmax(call: Call, x: Tensor) -> Tensor:
    return nn.softmax(x, axis=call.integer("axis", -1))


@operator("LogSoftmax")
def log_softmax_of_two_axes(call: Call, x: Tensor) -> Tensor:
    flat, axis = _flattened(call, x)
    return aio.reshape(nn.log_softmax(flat, axis=axis), x.shape)


@operator("LogSoftmax", since=13)
def log_softmax(call: Call, x: Tensor) -> Tensor:
    return nn.log_softmax(x, axis=call.integer("axis", -1))


@operator("Hardmax")
def hardmax_of_two_axes(call: Call, x: Tensor) -> Tensor:
    flat, axis = _flattened(call, x)
    return aio.reshape(_hardmax(flat, axis), x.shape)


@operator("Hardmax", since=13)
def hardmax(call: Call, x: Tensor) -> Tensor:
    return _hardmax(x, call.integer("axis", -1))


def _hardmax(x: Tensor, axis: int) -> Tensor:
    return nn.one_hot(aio.argmax(x, axis=axis), x.shape[axis], axis=axis, dtype=x.dtype)
