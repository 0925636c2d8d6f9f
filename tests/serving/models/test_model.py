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
