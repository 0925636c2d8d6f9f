"""Operators that keep a state from step to step: linear attention and causal convolutions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import lax, nn

from .._registry import operator
from .._values import Tensor, as_array, cast
from .attention import heads_apart

if TYPE_CHECKING:
    from .._evaluate import Call

_RULES = ("linear", "gated", "delta", "gated_delta")


@operator("LinearAttention", since=27)
def linear_attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past: Tensor = None,
    decay: Tensor = None,
    rate: Tensor = None,
) -> tuple[Tensor, ...]:
    rule = call.text("update_rule", "gated_delta")
    if rule not in _RULES:
        raise call.error(f"is {rule!r}; it takes {', '.join(_RULES)}", "update_rule")
    heads, shared = call.integer("q_num_heads"), call.integer("kv_num_heads")
    if shared < 1 or heads < 1 or heads % shared:
        raise call.error(f"is {heads}; it takes a multiple of kv_num_heads, {shared}", "q_num_heads")
    gated, delta = rule.startswith("gated"), rule.endswith("delta")
    if gated != (decay is not None) or delta != (rate is not None):
        raise ValueError(f"the rule {rule} takes {'a' if gated else 'no'} decay and {'a' if delta else 'no'} beta")
    batch, steps, _ = query.shape
    # (steps, batch, heads, width)
    q, k, v = (
        aio.permute_dims(heads_apart(cast(as_array(x), np.float32), n), (2, 0, 1, 3))
        for x, n in ((query, heads), (key, shared), (value, shared))
    )
    width = q.shape[-1]
    scale = call.number("scale", 0.0) or 1 / math.sqrt(width)
    sequences: dict[str, Any] = {"q": q, "k": k, "v": v}
    for name, x, count in (("decay", decay, shared), ("rate", rate, shared)):
        if x is not None:
            x = cast(as_array(x), np.float32)
            last = x.shape[-1]
            each = last // count if name == "decay" and last != count else 1
            sequences[name] = aio.permute_dims(aio.reshape(x, (batch, steps, last // each, each)), (1, 0, 2, 3))
    start = (
        aio.zeros((batch, shared, width, v.shape[-1]), dtype=np.float32)
        if past is None
        else cast(as_array(past), np.float32)
    )

    def turn(state: Any, now: Any) -> Any:
        update = now["v"]
        if gated:
            state = state * aio.expand_dims(aio.exp(now["decay"]), axis=-1)
        if delta:
            update = now["rate"] * (update - aio.einsum("bhdm,bhd->bhm", state, now["k"]))
        state = state + now["k"][..., :, None] * update[..., None, :]
        read = state if heads == shared else aio.repeat(state, heads // shared, axis=1)
        return state, scale * aio.einsum("bhd,bhdm->bhm", now["q"], read)

    last, outputs = lax.scan(turn, start, sequences)
    y = aio.reshape(aio.permute_dims(outputs, (1, 0, 2, 3)), (batch, steps, heads * v.shape[-1]))
    return cast(y, query.dtype), cast(last, query.dtype if past is None else past.dtype)


@operator("CausalConvWithState", since=27)
def causal_conv_with_state(
    call: Call, x: Tensor, kernel: Tensor, bias: Tensor = None, past: Tensor = None
) -> tuple[Tensor, ...]:
    activation = call.text("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise call.error(f"is {activation!r}; it takes none, silu or swish", "activation")
    size = kernel.shape[2]
    before = aio.zeros((*x.shape[:2], size - 1), dtype=x.dtype) if past is None else past
    whole = aio.concat([before, x], axis=2)
    y = nn.conv(whole, kernel, bias, groups=x.shape[1])
    return (y if activation == "none" else nn.silu(y)), whole[:, :, whole.shape[2] - (size - 1) :]
