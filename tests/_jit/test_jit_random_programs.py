"""Random programs give the same eagerly, jitted, and in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aioarray as aio

# Each entry: the function in aioarray and in NumPy, of arrays of one dtype kind.
UNARY: dict[str, tuple[Any, Any]] = {
    "abs": (aio.abs, np.abs),
    "negative": (aio.negative, np.negative),
    "square": (aio.square, np.square),
    "sign": (aio.sign, np.sign),
    "tanh": (lambda x: aio.tanh(x.astype("float64")), lambda x: np.tanh(x.astype(np.float64))),
    "sin": (lambda x: aio.sin(x.astype("float64")), lambda x: np.sin(x.astype(np.float64))),
    "exp": (lambda x: aio.exp(aio.tanh(x.astype("float64"))), lambda x: np.exp(np.tanh(x.astype(np.float64)))),
    "flip": (lambda x: aio.flip(x), np.flip),
    "transpose": (lambda x: x.T if x.ndim == 2 else x, lambda x: x.T),
    "reverse rows": (lambda x: x[::-1] if x.ndim else x, lambda x: x[::-1] if x.ndim else x),
    "first": (lambda x: x[0] if x.ndim and x.shape[0] else x, lambda x: x[0] if x.ndim and x.shape[0] else x),
    "reshape": (lambda x: aio.reshape(x, (-1,)), lambda x: np.reshape(x, (-1,))),
    "sum": (lambda x: aio.sum(x, axis=0) if x.ndim else x, lambda x: np.sum(x, axis=0, dtype=x.dtype) if x.ndim else x),
    "mean": (
        lambda x: aio.mean(x.astype("float64")) if x.size else x,
        lambda x: np.mean(x.astype(np.float64)) if x.size else x,
    ),
    "cumulative_sum": (
        lambda x: aio.cumulative_sum(x, axis=0, dtype=x.dtype) if x.ndim else x,
        lambda x: np.cumsum(x, axis=0, dtype=x.dtype) if x.ndim else x,
    ),
    "sort": (lambda x: aio.sort(x) if x.ndim else x, lambda x: np.sort(x) if x.ndim else x),
    "clip": (lambda x: aio.clip(x, -2, 3), lambda x: np.clip(x, -2, 3)),
    "to int32": (lambda x: aio.clip(x, -99, 99).astype("int32"), lambda x: np.clip(x, -99, 99).astype(np.int32)),
    "to float32": (lambda x: x.astype("float32"), lambda x: x.astype(np.float32)),
    "plus one": (lambda x: x + 1, lambda x: x + 1),
    "times half": (
        lambda x: x.astype("float64") * 0.5,
        lambda x: x.astype(np.float64) * 0.5,
    ),
    "expand": (lambda x: x[None] if x.ndim < 2 else x, lambda x: x[None] if x.ndim < 2 else x),
    "broadcast": (
        lambda x: aio.broadcast_to(x, (3, *x.shape)) if x.ndim < 2 else x,
        lambda x: np.broadcast_to(x, (3, *x.shape)) if x.ndim < 2 else x,
    ),
}
BINARY: dict[str, tuple[Any, Any]] = {
    "add": (aio.add, np.add),
    "subtract": (aio.subtract, np.subtract),
    "multiply": (aio.multiply, np.multiply),
    "maximum": (aio.maximum, np.maximum),
    "minimum": (aio.minimum, np.minimum),
    "where": (lambda x, y: aio.where(x > y, x, y), lambda x, y: np.where(x > y, x, y)),
    "less": (
        lambda x, y: aio.less(x, y).astype("int32"),
        lambda x, y: np.less(x, y).astype(np.int32),
    ),
    "divide": (
        lambda x, y: x.astype("float64") / (aio.abs(y.astype("float64")) + 1),
        lambda x, y: x.astype(np.float64) / (np.abs(y.astype(np.float64)) + 1),
    ),
    "matmul": (
        lambda x, y: x.astype("float64") @ y.astype("float64"),
        lambda x, y: np.matmul(x.astype(np.float64), y.astype(np.float64)),
    ),
    "concat": (
        lambda x, y: aio.concat([x, y], axis=0),
        lambda x, y: np.concatenate([x, y], axis=0),
    ),
}


class Step(NamedTuple):
    """One operation on values that there are: two of them are inputs, the others results of earlier steps."""

    name: str
    first: int
    second: int | None


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Step], list[np.ndarray[Any, Any]]]:
    """Steps that NumPy can carry out, and the inputs."""
    shapes = st.sampled_from([(), (1,), (3,), (4,), (0,), (2, 3), (3, 3), (1, 3)])
    dtypes = st.sampled_from([np.float32, np.float64, np.int32])
    inputs = []
    for _ in range(2):
        shape = draw(shapes)
        size = int(np.prod(shape))
        numbers = draw(st.lists(st.integers(-50, 50), min_size=size, max_size=size))
        inputs.append((np.asarray(numbers, np.float64).reshape(shape) / 8).astype(draw(dtypes)))
    values = list(inputs)
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, 8))):
        first = draw(st.integers(0, len(values) - 1))
        if draw(st.booleans()):
            step = Step(draw(st.sampled_from(sorted(UNARY))), first, None)
        else:
            step = Step(draw(st.sampled_from(sorted(BINARY))), first, draw(st.integers(0, len(values) - 1)))
        result = carry_out(step, values, 1)
        if result is not None:
            steps.append(step)
            values.append(result)
    return steps, inputs


def carry_out(step: Step, values: list[Any], library: int) -> Any:
    """The result of ``step`` in aioarray (0) or NumPy (1); None where NumPy refuses or the values grow too much."""
    if step.second is None:
        result = UNARY[step.name][library](values[step.first])
    else:
        try:
            result = BINARY[step.name][library](values[step.first], values[step.second])
        except ValueError:
            if library == 0:
                raise
            return None
    if library == 1:
        result = np.asarray(result)
        if result.size > 200 or (result.size and np.abs(result.astype(np.float64)).max() > 1e6):
            return None
    return result


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs())
def test_eager_jitted_and_numpy_agree(program: tuple[list[Step], list[np.ndarray[Any, Any]]]) -> None:
    steps, inputs = program

    def run(*arrays: Any, library: int = 0) -> list[Any]:
        values = list(arrays)
        for step in steps:
            values.append(carry_out(step, values, library))
        return values[len(arrays) :]

    expected = run(*inputs, library=1)
    eager = run(*map(aio.asarray, inputs))
    jitted = aio.jit(run)(*inputs)
    for step, wanted, one, other in zip(steps, expected, eager, jitted, strict=True):
        assert one.shape == other.shape == wanted.shape, step
        assert one.dtype == other.dtype == wanted.dtype, step
        # In units of the last place of the largest value, since sums are in another order.
        scale = max(1.0, float(np.abs(wanted.astype(np.float64)).max())) if wanted.size else 1.0
        epsilon = np.finfo(np.float32 if any(v.dtype == np.float32 for v in (*inputs, *expected)) else np.float64).eps
        for result in (one, other):
            np.testing.assert_allclose(
                np.asarray(result), wanted, rtol=64 * epsilon, atol=64 * epsilon * scale, err_msg=str(step)
            )
