"""The same calls to PyTorch, where it is installed: names, layouts and conventions are those of its functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn.reference import numbers

torch: Any = pytest.importorskip("torch", reason="the package torch is not installed")
F: Any = torch.nn.functional


def t(x: np.ndarray) -> Any:
    return torch.from_numpy(x)


def same(ours: aio.Array, theirs: Any, **tolerance: float) -> None:
    np.testing.assert_allclose(ours, theirs.numpy(), **({"rtol": 1e-5, "atol": 1e-5} | tolerance))


@pytest.mark.parametrize(
    ("name", "theirs", "options"),
    [
        ("relu", "relu", {}),
        ("gelu", "gelu", {}),
        ("silu", "silu", {}),
        ("sigmoid", "sigmoid", {}),
        ("elu", "elu", {"alpha": 0.7}),
        ("leaky_relu", "leaky_relu", {"negative_slope": 0.2}),
        ("softplus", "softplus", {}),
        ("hard_swish", "hardswish", {}),
        ("log_sigmoid", "logsigmoid", {}),
        ("mish", "mish", {}),
    ],
)
def test_activations(name: str, theirs: str, options: Any) -> None:
    x = numbers(50) * 5
    same(getattr(nn, name)(aio.asarray(x), **options), getattr(F, theirs)(t(x), **options))


def test_gelu_approximate() -> None:
    x = numbers(50) * 5
    same(nn.gelu(aio.asarray(x), approximate=True), F.gelu(t(x), approximate="tanh"))


def test_norms_and_linear() -> None:
    x, w, b = numbers(2, 6, 5), numbers(6, 5, seed=1), numbers(6, 5, seed=2)
    same(nn.layer_norm(*map(aio.asarray, (x, w, b)), axis=(1, 2)), F.layer_norm(t(x), (6, 5), t(w), t(b)))
    same(nn.rms_norm(aio.asarray(x), eps=1e-3), F.rms_norm(t(x), (5,), eps=1e-3))
    c, d = numbers(6, seed=3), numbers(6, seed=4)
    same(nn.group_norm(*map(aio.asarray, (x, c, d)), groups=3), F.group_norm(t(x), 3, t(c), t(d)))
    mean, var = numbers(6, seed=5), numbers(6, seed=6) ** 2
    same(nn.batch_norm(*map(aio.asarray, (x, mean, var, c, d))), F.batch_norm(t(x), t(mean), t(var), t(c), t(d)))
    same(nn.linear(*map(aio.asarray, (x, w, w[:, 0]))), F.linear(t(x), t(w), t(w[:, 0].copy())))


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_attention(options: Any) -> None:
    query, key, value = numbers(2, 6, 4, 8), numbers(2, 6, 2, 8, seed=1), numbers(2, 6, 2, 8, seed=2)
    theirs = F.scaled_dot_product_attention(
        *(t(x).transpose(1, 2) for x in (query, key, value)), enable_gqa=True, **options
    ).transpose(1, 2)
    ours = {"causal" if name == "is_causal" else name: value for name, value in options.items()}
    same(nn.dot_product_attention(*map(aio.asarray, (query, key, value)), **ours), theirs)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_convolutions_and_pools(n: int) -> None:
    x, kernel, bias = numbers(2, 4, *(9, 8, 7)[:n]), numbers(6, 2, *(3, 2, 2)[:n], seed=1), numbers(6, seed=2)
    arrays = tuple(map(aio.asarray, (x, kernel, bias)))
    options = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
    same(nn.conv(*arrays, **options), getattr(F, f"conv{n}d")(t(x), t(kernel), t(bias), **options))
    back, sums = numbers(4, 3, *(3, 2, 2)[:n], seed=3), numbers(6, seed=4)
    options |= {"output_padding": 1}
    same(
        nn.conv_transpose(*map(aio.asarray, (x, back, sums)), **options),
        getattr(F, f"conv_transpose{n}d")(t(x), t(back), t(sums), **options),
    )
    same(nn.max_pool(arrays[0], 3, stride=2, padding=1), getattr(F, f"max_pool{n}d")(t(x), 3, 2, 1))
    same(nn.avg_pool(arrays[0], 3, stride=2, padding=1), getattr(F, f"avg_pool{n}d")(t(x), 3, 2, 1))
    same(
        nn.avg_pool(arrays[0], 3, stride=2, padding=1, count_padding=False),
        getattr(F, f"avg_pool{n}d")(t(x), 3, 2, 1, count_include_pad=False),
    )
    same(nn.adaptive_avg_pool(arrays[0], 3), getattr(F, f"adaptive_avg_pool{n}d")(t(x), 3))


def test_cross_entropy() -> None:
    logits, labels = numbers(6, 5), np.array([0, 4, -100, 2, 1, 3])
    for options in ({}, {"reduction": "sum"}, {"label_smoothing": 0.1}):
        ours = nn.cross_entropy(aio.asarray(logits), aio.asarray(labels), ignore_index=-100, **options)
        same(ours, F.cross_entropy(t(logits), t(labels), **options))
