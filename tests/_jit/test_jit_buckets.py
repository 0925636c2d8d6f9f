"""Shape buckets: any length for a few programs, with the results of the unpadded call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aioarray as aio
from tests.support.compiling import compiles


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_with_mask(x: Any, mask: Any) -> Any:
    scores = aio.where(mask, x @ x.mT, -aio.inf)
    exponentials = aio.exp(scores - aio.max(scores, axis=-1, keepdims=True))
    return exponentials / aio.sum(exponentials, axis=-1, keepdims=True) @ x


def jitted_attention() -> Any:
    return aio.jit(
        attention_with_mask,
        buckets={"tokens": (16, 32, 64, 128)},
        bucket_axes={"x": (None, "tokens")},
        bucket_masks={"mask": "tokens"},
    )


@aio.jit(buckets={"tokens": (16, 32, 64, 128)}, bucket_axes={"x": {-2: "tokens"}}, bucket_masks={"mask": "tokens"})
def masked_mean(x: Any, mask: Any) -> Any:
    return aio.sum(x * mask[:, None], axis=-2) / aio.sum(mask)


@pytest.mark.parametrize("on_device", [False, True])
def test_attention_of_any_length_costs_four_programs(on_device: bool) -> None:
    generator = np.random.default_rng(1)
    values = [generator.normal(size=(2, n, 8)).astype(np.float32) for n in (*range(1, 20), 32, 33, 64, 65, 100, 128)]
    attention = jitted_attention()
    with aio.compile_budget(4) as budget:
        results = [attention(aio.asarray(x) if on_device else x) for x in values]
    assert [r.shape for r in results] == [x.shape for x in values]
    for x, result in zip(values, results, strict=True):
        np.testing.assert_allclose(np.asarray(result), softmax(x @ x.swapaxes(-1, -2)) @ x, rtol=2e-5, atol=2e-6)
    assert budget.used == 4


def test_padding_does_not_change_a_bit() -> None:
    x = np.random.default_rng(2).normal(size=(3, 20, 4)).astype(np.float32)
    plain = aio.jit(attention_with_mask)(np.pad(x, ((0, 0), (0, 12), (0, 0))), np.arange(32) < 20)
    np.testing.assert_array_equal(np.asarray(jitted_attention()(x)), np.asarray(plain)[:, :20])


def test_masked_mean() -> None:
    generator = np.random.default_rng(3)
    for n in (1, 15, 16, 17, 128):
        x = generator.normal(size=(2, n, 3)).astype(np.float32)
        result = masked_mean(x)
        assert result.shape == (2, 3)
        np.testing.assert_allclose(np.asarray(result), x.mean(axis=1), rtol=1e-5, atol=1e-6)


def test_longer_than_the_largest_bucket() -> None:
    with pytest.raises(ValueError, match=r"masked_mean: 'tokens' is 129, and the largest bucket is 128"):
        masked_mean(np.zeros((1, 129, 2), np.float32))


def test_trees_several_arguments_and_several_buckets() -> None:
    @aio.jit(
        buckets={"batch": (2, 4), "n": (3, 6)},
        bucket_axes={"tree": {"a": ("batch", "n"), "b": ("batch",)}, "y": ("n",)},
    )
    def f(tree: Any, y: Any, z: Any) -> Any:
        return {"sum": tree["a"] + y, "b": tree["b"] * 2, "z": z, "outer": aio.concat([y[:1], y])}

    for batch in (1, 2, 3, 4):
        for n in (1, 3, 4, 6):
            a, b, y = np.ones((batch, n)), np.arange(batch), np.arange(float(n))
            result = f({"a": a, "b": b, "c": 1.0}, y=y, z=np.ones(5))
            np.testing.assert_array_equal(np.asarray(result["sum"]), a + y)
            np.testing.assert_array_equal(np.asarray(result["b"]), b * 2)
            np.testing.assert_array_equal(np.asarray(result["outer"]), np.concatenate([y[:1], y]))
            assert result["z"].shape == (5,)
    assert len(f.programs) == 4
    with pytest.raises(ValueError, match=r"axis 0 of argument y has length 2, but 'n' is 3 elsewhere"):
        f({"a": np.ones((1, 3)), "b": np.ones(1)}, np.ones(2), 1.0)
    with pytest.raises(ValueError, match=r"argument y has 0 dimensions"):
        f({"a": np.ones((1, 3)), "b": np.ones(1)}, 2.0, 1.0)


def test_result_that_mixes_padding_in_is_refused() -> None:
    @aio.jit(buckets={"n": (4, 8)}, bucket_axes={"x": ("n",)})
    def outer(x: Any) -> Any:
        return aio.reshape(x[:, None] * x, (-1,))

    with pytest.raises(
        ValueError, match=r"result number 0 has length 64 along axis 0 where 'n' is 8, and 25 where it is 5"
    ):
        outer(np.ones(6))


@pytest.mark.asyncio
async def test_pending_arguments_and_results() -> None:
    x = aio.ones((2, 5, 8))
    for _ in range(20):
        x = x @ aio.eye(8)
    result = jitted_attention()(x)
    assert result.shape == (2, 5, 8)
    await result
    assert result.is_ready()
    np.testing.assert_allclose(await result.to_host(), np.ones((2, 5, 8)), rtol=1e-5)


@pytest.mark.asyncio
async def test_compiled_ahead_for_each_bucket() -> None:
    f = aio.jit(
        lambda x, mask: aio.sum(x * mask) + 71.5,
        buckets={"n": (4, 8)},
        bucket_axes={"x": ("n",)},
        bucket_masks={"mask": "n"},
    )
    await aio.warmup([(f, aio.ShapeDtype(n, "float32")) for n in (4, 8)])
    before = compiles()
    for n in range(1, 9):
        assert await f(np.ones(n, np.float32)).to_host() == n + 71.5
    assert compiles() == before


@pytest.mark.asyncio
async def test_what_was_compiled_takes_what_the_function_takes() -> None:
    f = aio.jit(
        lambda x, mask: aio.where(mask, x, -1.0) * 2,
        buckets={"n": (4, 8)},
        bucket_axes={"x": ("n",)},
        bucket_masks={"mask": "n"},
    )
    compiled = await f.compile(aio.ShapeDtype(8, "float32"))
    result = compiled(np.ones(5, np.float32))
    np.testing.assert_array_equal(await result.to_host(), np.full(5, 2, np.float32))
    with pytest.raises(TypeError, match="was compiled for other arguments"):
        compiled(np.ones(4, np.float32))


def test_shapes_are_those_of_the_call_itself() -> None:
    assert aio.eval_shape(jitted_attention(), aio.ShapeDtype((2, 5, 8), "float32")).shape == (2, 5, 8)


def test_inside_another_trace_nothing_is_padded() -> None:
    outer = aio.jit(lambda x: masked_mean(x) * 2)
    x = np.ones((1, 5, 2), np.float32)
    assert "x16x" not in outer.lower(x).as_text()
    np.testing.assert_array_equal(np.asarray(outer(x)), [[2, 2]])


def test_methods() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = aio.ones(3)

        @aio.jit(buckets={"n": (4, 8)}, bucket_axes={"x": ("n",)})
        def apply(self, x: Any) -> Any:
            return x @ self.w

    model = Model()
    for n in range(1, 9):
        assert model.apply(np.ones((n, 3), np.float32)).shape == (n,)
    assert len(Model.__dict__["apply"].programs) == 2


def test_mistakes() -> None:
    def f(x: Any) -> Any:
        return x

    with pytest.raises(ValueError, match="bucket_axes"):
        aio.jit(f, buckets={"n": (1,)})
    with pytest.raises(ValueError, match=r"bucket_axes names 'y', but the parameters are x"):
        aio.jit(f, buckets={"n": (1,)}, bucket_axes={"y": ("n",)})
    with pytest.raises(ValueError, match=r"the buckets of 'n' are \(0, 2\)"):
        aio.jit(f, buckets={"n": (0, 2)}, bucket_axes={"x": ("n",)})
    with pytest.raises(ValueError, match="no buckets"):
        aio.jit(lambda x, mask: x, buckets={"n": (1,)}, bucket_axes={"x": ("n",)}, bucket_masks={"mask": "m"})
    with pytest.raises(ValueError, match="donated"):
        aio.jit(f, buckets={"n": (1,)}, bucket_axes={"x": ("n",)}, donate_argnames="x")
