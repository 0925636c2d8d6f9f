"""Attention, rotary positions, and decoding with a cache."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio
from aioarray import nn
from tests.nn import reference
from tests.nn.reference import numbers


def projections(t: int, s: int, heads: int, kv: int, width: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return numbers(t, heads, width), numbers(s, kv, width, seed=1), numbers(s, kv, width + 1, seed=2)


def ours(*arrays: np.ndarray, **options: Any) -> np.ndarray:
    options = {name: aio.asarray(x) if isinstance(x, np.ndarray) else x for name, x in options.items()}
    return np.asarray(nn.dot_product_attention(*map(aio.asarray, arrays), **options))


MASK = np.random.default_rng(3).random((6, 4, 7)) > 0.4


@pytest.mark.parametrize("kv", [1, 2, 3, 6])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"causal": True},
        {"scale": 0.5},
        {"mask": MASK},
        {"mask": MASK[:1], "causal": True},
        {"bias": numbers(4, 7, seed=4)},
        {"bias": numbers(6, 1, 7, seed=4), "mask": MASK[0, :1], "causal": True, "scale": 2.0},
    ],
    ids=lambda options: " ".join(options) or "plain",
)
def test_against_one_query_at_a_time(kv: int, options: dict[str, Any]) -> None:
    arrays = projections(4, 7, 6, kv)
    np.testing.assert_allclose(ours(*arrays, **options), reference.attention(*arrays, **options), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lead", [(2,), (2, 3)])
def test_leading_axes_are_a_batch(lead: tuple[int, ...]) -> None:
    query, key, value = numbers(*lead, 4, 6, 8), numbers(*lead, 7, 2, 8, seed=1), numbers(*lead, 7, 2, 5, seed=2)
    mask = np.random.default_rng(0).random((*lead, 1, 1, 7)) > 0.3
    y = ours(query, key, value, mask=mask)
    assert y.shape == (*lead, 4, 6, 5)
    for index in np.ndindex(lead):
        expected = reference.attention(query[index], key[index], value[index], mask=mask[index])
        np.testing.assert_allclose(y[index], expected, rtol=1e-5, atol=1e-5)


def test_what_sees_nothing_is_zero() -> None:
    arrays = projections(3, 4, 2, 2)
    mask = np.ones((3, 4), bool)
    mask[1] = False
    y = ours(*arrays, mask=mask)
    assert (y[1] == 0).all()
    np.testing.assert_allclose(y, reference.attention(*arrays, mask=mask), rtol=1e-5, atol=1e-6)


def test_large_scores_do_not_overflow() -> None:
    query, key, value = projections(3, 4, 2, 2)
    query = query * 1e4
    # Scores of some 2e4 are known to about 1e-3, and so are their powers.
    np.testing.assert_allclose(ours(query, key, value), reference.attention(query, key, value), rtol=4e-3, atol=4e-3)


def test_bfloat16_scores_and_sums_are_float32() -> None:
    arrays = [x.astype(ml_dtypes.bfloat16) for x in projections(16, 64, 4, 4, 32)]
    y = ours(*arrays)
    assert y.dtype == ml_dtypes.bfloat16
    expected = reference.attention(*[x.astype(np.float32) for x in arrays])
    # The powers are rounded to bfloat16 for the product: 2**-9 each, at random.
    np.testing.assert_allclose(y.astype(np.float64), expected, rtol=2**-7, atol=2e-3)


def test_float64_stays() -> None:
    arrays = [x.astype(np.float64) for x in projections(3, 4, 2, 2)]
    y = ours(*arrays)
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, reference.attention(*arrays), rtol=1e-12)


def test_one_launch() -> None:
    x, mask = aio.asarray(numbers(4, 2, 8)), aio.asarray(np.ones((4, 4), bool))
    nn.dot_product_attention(x, x, x, mask=mask, causal=True).block_until_ready()
    before = aio.stats()["enqueued"]
    nn.dot_product_attention(x, x, x, mask=mask, causal=True)
    assert aio.stats()["enqueued"] == before + 1


@pytest.mark.parametrize(
    ("shapes", "options", "error", "message"),
    [
        ([(4, 8)] * 3, {}, ValueError, "it takes (…, length, heads, width) three times"),
        ([(4, 2, 8), (4, 2, 7), (4, 2, 8)], {}, ValueError, "the width of query and key must agree"),
        ([(4, 2, 8), (5, 2, 8), (4, 2, 8)], {}, ValueError, "length and heads of key and value"),
        ([(2, 4, 2, 8), (3, 4, 2, 8), (3, 4, 2, 8)], {}, ValueError, "leading axes of all"),
        ([(4, 4, 8), (4, 3, 8), (4, 3, 8)], {}, ValueError, "4 query heads do not divide among 3 heads"),
        ([(4, 2, 8)] * 3, {"mask": np.ones((5, 5), bool)}, ValueError, "mask of shape (5, 5) does not broadcast to"),
        ([(4, 2, 8)] * 3, {"bias": np.ones((2, 2, 4, 4))}, ValueError, "bias of shape (2, 2, 4, 4) does not broadcast"),
        ([(4, 2, 8)] * 3, {"mask": np.ones((4, 4))}, TypeError, "mask is of dtype float64; it takes booleans"),
    ],
)
def test_wrong_arguments(shapes: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        ours(*[numbers(*shape) for shape in shapes], **options)
    assert str(caught.value).startswith("dot_product_attention: ")
    assert message in str(caught.value)


def turned(x: np.ndarray, positions: np.ndarray, base: float, interleaved: bool) -> np.ndarray:
    """Rotary embedding as multiplication of complex numbers."""
    half = x.shape[-1] // 2
    pairs = x[..., ::2] + 1j * x[..., 1::2] if interleaved else x[..., :half] + 1j * x[..., half:]
    angles = positions[..., None, None] * base ** (-2 * np.arange(half) / x.shape[-1])
    pairs = pairs * np.exp(1j * angles)
    if interleaved:
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)
    return np.concatenate([pairs.real, pairs.imag], -1)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("base", [10000.0, 500.0])
def test_rotary_embedding(interleaved: bool, base: float) -> None:
    x = numbers(2, 5, 3, 8)
    positions = np.array([[0, 1, 2, 3, 4], [10, 11, 12, 200, 1000]], np.int32)
    y = nn.rotary_embedding(aio.asarray(x), aio.asarray(positions), base=base, interleaved=interleaved)
    np.testing.assert_allclose(y, turned(x, positions, base, interleaved), atol=3e-4)
    shared = nn.rotary_embedding(aio.asarray(x), aio.asarray(positions[0]), base=base, interleaved=interleaved)
    np.testing.assert_allclose(shared, turned(x, positions[:1], base, interleaved), atol=1e-6, rtol=1e-5)


def test_rotary_scores_depend_on_distance_only() -> None:
    query, key = numbers(1, 1, 64), numbers(1, 1, 64, seed=1)

    def score(i: int, j: int) -> float:
        turned = [nn.rotary_embedding(aio.asarray(x), aio.asarray([k])) for x, k in ((query, i), (key, j))]
        return float(np.vdot(*map(np.asarray, turned)))

    assert score(7, 3) == pytest.approx(score(57, 53), rel=1e-4)
    assert score(7, 3) != pytest.approx(score(8, 3), rel=1e-4)


def test_rotary_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="width even"):
        nn.rotary_embedding(aio.asarray(numbers(4, 2, 7)), aio.asarray([0, 1, 2, 3]))
    with pytest.raises(ValueError, match=r"positions of shape \(3,\) do not broadcast to \(4,\)"):
        nn.rotary_embedding(aio.asarray(numbers(4, 2, 8)), aio.asarray([0, 1, 2]))


def test_decoding_with_a_cache_equals_attending_to_all() -> None:
    batch, length, heads, kv, width = 2, 6, 4, 2, 8
    query, key = numbers(batch, length, heads, width), numbers(batch, length, kv, width, seed=1)
    value = numbers(batch, length, kv, width, seed=2)
    expected = ours(query, key, value, causal=True)
    cache = nn.kv_cache(batch, 8, kv, width)
    results = []
    for start, stop in ((0, 3), (3, 4), (4, 6)):  # a prompt, then steps
        cut = slice(start, stop)
        cache = nn.update_kv_cache(cache, aio.asarray(key[:, cut]), aio.asarray(value[:, cut]))
        mask = nn.kv_cache_mask(cache, stop - start)
        assert mask.shape == (batch, 1, stop - start, 8)
        step = nn.dot_product_attention(aio.asarray(query[:, cut]), cache.keys, cache.values, mask=mask)
        results.append(np.asarray(step))
    assert cache.lengths.tolist() == [6, 6]
    np.testing.assert_allclose(np.concatenate(results, 1), expected, rtol=1e-5, atol=1e-6)


def test_sequences_of_different_lengths_and_overflow() -> None:
    keys = np.zeros((2, 3, 1, 1), np.float32)
    cache = nn.KVCache(aio.asarray(keys), aio.asarray(keys), aio.asarray(np.array([0, 2], np.int32)))
    new = aio.asarray(np.array([[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]], np.float32))
    cache = nn.update_kv_cache(cache, new, -new)
    # The second sequence had one place left: what is beyond it is dropped.
    np.testing.assert_array_equal(cache.keys[..., 0, 0], [[1, 2, 0], [0, 0, 3]])
    np.testing.assert_array_equal(cache.values[..., 0, 0], [[-1, -2, 0], [0, 0, -3]])
    assert cache.lengths.tolist() == [2, 4]


def test_a_cache_has_its_dtype_and_is_one_launch() -> None:
    cache = nn.kv_cache(1, 4, 1, 2, dtype="bfloat16")
    assert (cache.keys.dtype, cache.lengths.dtype) == (ml_dtypes.bfloat16, np.int32)
    new = aio.asarray(numbers(1, 1, 1, 2))
    cache = nn.update_kv_cache(cache, new, new)
    assert cache.values.dtype == ml_dtypes.bfloat16
    aio.block_until_ready(cache)
    before = aio.stats()["enqueued"]
    nn.update_kv_cache(cache, new, new)
    assert aio.stats()["enqueued"] == before + 1
    with pytest.raises(ValueError, match=r"keys of shape \(1, 1, 2\) for a cache of shape \(1, 4, 1, 2\)"):
        nn.update_kv_cache(cache, new[0], new)
