"""Attention, and what goes with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio

from .._dtypes import DTYPES
from .._registry import operator
from .._values import Tensor, as_array, cast, is_known

if TYPE_CHECKING:
    from .._evaluate import Call


def heads_apart(x: Tensor, heads: int) -> Tensor:
    """(batch, steps, heads * width) as (batch, heads, steps, width)."""
    batch, steps, width = x.shape
    return aio.permute_dims(aio.reshape(x, (batch, steps, heads, width // heads)), (0, 2, 1, 3))


def heads_together(x: Tensor) -> Tensor:
    """(batch, heads, steps, width) as (batch, steps, heads * width)."""
    batch, heads, steps, width = x.shape
    return aio.reshape(aio.permute_dims(x, (0, 2, 1, 3)), (batch, steps, heads * width))


@operator("Attention", since=23)
def attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor = None,
    past_key: Tensor = None,
    past_value: Tensor = None,
    lengths: Tensor = None,
) -> tuple[Tensor, ...]:
    flat = query.ndim == 3
    if flat:
        heads, shared = call.integer("q_num_heads"), call.integer("kv_num_heads")
        query, key, value = heads_apart(query, heads), heads_apart(key, shared), heads_apart(value, shared)
    if past_key is not None:
        key, value = aio.concat([past_key, key], axis=2), aio.concat([past_value, value], axis=2)
    present_key, present_value = key, value
    group = query.shape[1] // key.shape[1]
    if group > 1:
        key, value = aio.repeat(key, group, axis=1), aio.repeat(value, group, axis=1)
    dtype = query.dtype
    scale = call.get("scale")
    root = np.sqrt(1 / math.sqrt(query.shape[3]) if scale is None else scale).astype(dtype)
    logits = aio.matmul(query * root, aio.permute_dims(key, (0, 1, 3, 2)) * root)
    mode = call.integer("qk_matmul_output_mode", 0)
    shown = logits
    cap = call.number("softcap", 0.0)
    if cap > 0:
        logits = aio.tanh(logits / cap) * cap
        shown = logits if mode == 1 else shown
    steps, total = query.shape[2], key.shape[2]
    bias, masked = _bias(call, mask, steps, total, past_key, lengths, dtype)
    if bias is not None:
        logits = logits + bias
    shown = logits if mode == 2 else shown
    precision = call.get("softmax_precision")
    weights = cast(logits, DTYPES[precision]) if precision else logits
    weights = _softmax(weights)
    if masked is not None:
        weights = aio.where(masked, 0, weights)
    weights = cast(weights, dtype)
    shown = weights if mode == 3 else shown
    result = aio.matmul(weights, value)
    return (heads_together(result) if flat else result), present_key, present_value, shown


def _softmax(x: Tensor) -> Tensor:
    """Where all is minus infinity, all is zero."""
    most = aio.max(x, axis=-1, keepdims=True)
    powers = aio.exp(x - aio.where(aio.isinf(most) & (most < 0), 0, most))
    total = aio.sum(powers, axis=-1, keepdims=True)
    return powers / aio.where(total == 0, 1, total)


def _bias(
    call: Call, mask: Tensor, steps: int, total: int, past: Tensor, lengths: Tensor, dtype: Any
) -> tuple[Tensor, Tensor]:
    """What is added to the products, and where rows are without any key; None each where there is none."""
    least = np.asarray(-np.inf, dtype)
    zero = np.asarray(0, dtype)
    bias = None
    if mask is not None:
        missing = total - mask.shape[-1]
        if missing > 0:
            filler = np.asarray(False if mask.dtype == np.dtype(bool) else -np.inf, mask.dtype)
            mask = aio.pad(mask, [*[(0, 0)] * (mask.ndim - 1), (0, missing)], constant_values=filler)
        bias = aio.where(mask, zero, least) if mask.dtype == np.dtype(bool) else cast(mask, dtype)
    left, right = call.integer("left_window_size", -1), call.integer("right_window_size", -1)
    allowed: Any = None
    if lengths is not None and past is None:
        offset: Any = aio.reshape(cast(lengths, np.int64), (-1, 1, 1, 1)) - steps
    else:
        offset = np.int64(0 if past is None else past.shape[2])
    distance = np.arange(steps)[:, None] + offset - np.arange(total)
    if call.integer("is_causal", 0):
        allowed = distance >= 0
    if left >= 0:
        allowed = distance <= left if allowed is None else allowed & (distance <= left)
    if right >= 0:
        allowed = -distance <= right if allowed is None else allowed & (-distance <= right)
    if lengths is not None:
        present = np.arange(total) < aio.reshape(cast(lengths, np.int64), (-1, 1, 1, 1))
        allowed = present if allowed is None else allowed & present
    if allowed is not None:
        other = (np if is_known(allowed) else aio).where(allowed, zero, least)
        bias = other if bias is None else bias + other
    if bias is None:
        return None, None
    most = aio.max(as_array(bias), axis=-1, keepdims=True)
    return bias, aio.isinf(most) & (most < 0)


@operator("FlexAttention", domain="ai.onnx.preview")
def flex_attention(call: Call, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention whose products, and whose weights, graphs of the node may change."""
    group = query.shape[1] // key.shape[1]
    if group > 1:
        key, value = aio.repeat(key, group, axis=1), aio.repeat(value, group, axis=1)
    dtype = query.dtype
    number = call.integer("softmax_precision", 0)
    wide = DTYPES[number] if number else np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    scale = call.number("scale", 1 / math.sqrt(query.shape[3]))
    scores = aio.matmul(cast(query, wide), aio.permute_dims(cast(key, wide), (0, 1, 3, 2))) * scale
    if call.get("score_mod") is not None:
        (scores,) = call.evaluate(call.graph("score_mod"), [scores])
    weights = _softmax(scores)
    if call.get("prob_mod") is not None:
        (weights,) = call.evaluate(call.graph("prob_mod"), [weights])
    return cast(aio.matmul(weights, cast(value, wide)), dtype)


@operator("RotaryEmbedding", since=23)
def rotary_embedding(call: Call, x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor = None) -> Tensor:
    flat = x.ndim == 3
    if flat:
        heads = call.integer("num_heads", 0)
        if heads < 1:
            raise call.error("is missing; it is needed for inputs of three axes", "num_heads")
        batch, steps, width = x.shape
        inner = aio.reshape(x, (batch, steps, heads, width // heads))
    else:
        inner = aio.permute_dims(x, (0, 2, 1, 3))
    if positions is not None:
        shape = (*positions.shape, cos.shape[-1])
        places = aio.reshape(positions, (positions.size,))
        cos = aio.reshape(aio.take(cos, places, axis=0), shape)
        sin = aio.reshape(aio.take(sin, places, axis=0), shape)
    y = rotated(
        inner,
        aio.expand_dims(cos, axis=2),
        aio.expand_dims(sin, axis=2),
        bool(call.integer("interleaved", 0)),
        call.integer("rotary_embedding_dim", 0),
    )
    return aio.reshape(y, x.shape) if flat else aio.permute_dims(y, (0, 2, 1, 3))


def rotated(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool, width: int) -> Tensor:
    """The first ``width`` elements of the last axis, all for 0, turned by angles in pairs."""
    width = width or x.shape[-1]
    turned, rest = x[..., :width], x[..., width:]
    one, two = (
        (turned[..., 0::2], turned[..., 1::2])
        if interleaved
        else (turned[..., : width // 2], turned[..., width // 2 :])
    )
    real, imaginary = cos * one - sin * two, sin * one + cos * two
    if interleaved:
        y = aio.reshape(aio.stack([real, imaginary], axis=-1), turned.shape)
    else:
        y = aio.concat([real, imaginary], axis=-1)
    return aio.concat([y, rest], axis=-1) if rest.shape[-1] else y
