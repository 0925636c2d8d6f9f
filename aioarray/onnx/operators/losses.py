"""Losses, which some models have inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, cast

if TYPE_CHECKING:
    from .._evaluate import Call


def _negative_log_likelihood(call: Call, x: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """``x`` is (batch, classes, …), of logarithms of probabilities; ``labels`` are (batch, …)."""
    ignored = call.get("ignore_index")
    kind = call.text("reduction", "mean")
    if kind not in ("mean", "sum", "none"):
        raise call.error(f"is {kind!r}; it takes mean, sum or none", "reduction")
    labels = cast(labels, np.int64)
    kept = None if ignored is None else labels != ignored
    places = labels if kept is None else aio.where(kept, labels, 0)
    loss = -aio.squeeze(aio.take_along_axis(x, aio.expand_dims(places, axis=1), axis=1), axis=1)
    factors = None if weights is None else aio.take(weights, aio.reshape(places, (places.size,)), axis=0)
    factor = None if factors is None else aio.reshape(factors, places.shape)
    if kept is not None:
        factor = cast(kept, x.dtype) if factor is None else aio.where(kept, factor, 0)
    if factor is not None:
        loss = loss * factor
    if kind == "none":
        return loss
    if kind == "sum":
        return aio.sum(loss)
    return aio.mean(loss) if factor is None else aio.sum(loss) / aio.sum(factor)


@operator("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(call: Call, x: Tensor, labels: Tensor, weights: Tensor = None) -> Tensor:
    return _negative_log_likelihood(call, x, labels, weights)


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(call: Call, x: Tensor, labels: Tensor, weights: Tensor = None) -> tuple[Tensor, ...]:
    logarithms = nn.log_softmax(x, axis=1)
    return _negative_log_likelihood(call, logarithms, labels, weights), logarithms
