"""A model: what it is refused for, and what it finds out about its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Model, Registry, TensorSpec


@pytest.mark.parametrize(
    ("name", "inputs", "error"),
    [
        ("", {"x": TensorSpec((), "float32")}, ValueError),
        ("a/b", {"x": TensorSpec((), "float32")}, ValueError),
        ("a", {}, ValueError),
        ("a", {"x": TensorSpec((None,), "float32")}, ValueError),
        ("a", {"x": TensorSpec((), "complex64")}, TypeError),
    ],
)
def test_models_that_cannot_be_served(name: str, inputs: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Model(name, lambda x: x, inputs)


@pytest.mark.asyncio
async def test_lengths_in_results_that_vary() -> None:
    tokens = TensorSpec(("length",), "int32")
    model = Model("m", lambda x: (x, aio.sum(x, axis=1)), {"x": tokens}, buckets={"batch": (1,), "length": (2, 4)})
    async with Registry([model]) as registry:
        await registry.settled.wait()
        outputs = registry.get("m").metadata()["outputs"]
    assert [output["shape"] for output in outputs] == [[-1, -1], [-1]]


def some(x: dict[str, np.ndarray]) -> int:
    """What requests cost, or what they are batched by; knows nothing of zeros."""
    if not x["x"].any():
        raise ValueError("no numbers")
    return 1


@pytest.mark.parametrize(
    "options", [{"check_finite": True}, {"cost": some, "max_batch_cost": 8}, {"key": some}], ids=lambda o: next(iter(o))
)
@pytest.mark.asyncio
async def test_a_model_whose_results_for_zeros_are_none_can_be_started(options: dict[str, Any]) -> None:
    parts = aio.jit(lambda x: x / aio.sum(x, axis=1, keepdims=True))
    model = Model("parts", parts, {"x": aio.ShapeDtype((2,), "float32")}, max_batch_size=2, **options)
    async with Registry([model]) as registry:
        await registry.settled.wait()
        assert registry.failures == {}
        stats = model.stats()
        assert stats is not None
        assert stats.accepted == 0
        result = await model.infer({"x": np.asarray([[1, 3]], np.float32)})
        np.testing.assert_array_equal(result["output"], [[0.25, 0.75]])
        with pytest.raises(aio.errors.InvalidInputError if "key" in options or "cost" in options else ArithmeticError):
            await model.infer({"x": np.zeros((1, 2), np.float32)})


@pytest.mark.parametrize("form", [tuple, list, lambda results: dict(zip(("a", "b", "c"), results, strict=True))])
@pytest.mark.asyncio
async def test_padding_is_cut_off_results_along_named_lengths(form: Any) -> None:
    def function(x: aio.Array, y: aio.Array) -> Any:
        return form((x * 2, aio.sum(y, axis=1), aio.concat([y, y], axis=1)))

    inputs = {"x": TensorSpec((2, "n"), "float32"), "y": TensorSpec(("m",), "float32")}
    model = Model("m", function, inputs, outputs=("a", "b", "c"), buckets={"batch": (1, 4), "n": (3, 8), "m": (2, 8)})
    async with Registry([model]) as registry:
        await registry.settled.wait()
        assert registry.failures == {}
        assert [output["shape"] for output in model.metadata()["outputs"]] == [[-1, 2, -1], [-1], [-1, -1]]
        for rows, n, m in ((1, 3, 2), (3, 2, 5), (4, 7, 8)):
            x, y = np.ones((rows, 2, n), np.float32), np.ones((rows, m), np.float32)
            result = await model.infer({"x": x, "y": y})
            np.testing.assert_array_equal(result["a"], x * 2)
            np.testing.assert_array_equal(result["b"], np.full(rows, m, np.float32))
            # What is no length of the input, but twice one, stays as it is.
            assert result["c"].shape == (rows, 2 * (2 if m <= 2 else 8))
