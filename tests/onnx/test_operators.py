"""Control flow on values of the device, sequences, and what is computed once: what ONNX's own tests do not look at."""

from __future__ import annotations

import numpy as np
import pytest

import aioarray as aio
from tests.onnx.models import parsed

pytest.importorskip("onnx", reason="the extra onnx is not installed")

COUNTDOWN = """f (float x, int64 most) => (float y) {
    start = Constant<value_int = 1>()
    go = Cast<to = 9>(start)
    y = Loop<body = turn (int64 i, bool c, float v) => (bool on, float w) {
        two = Constant<value_float = 2.0>()
        w = Mul(v, two)
        limit = Constant<value_float = 100.0>()
        on = Less(w, limit)
    }>(most, go, x)
}"""


@pytest.mark.asyncio
async def test_loop_on_values_of_the_device_is_one_launch() -> None:
    model = await aio.onnx.load(parsed(COUNTDOWN))
    x, most = await aio.ready((aio.asarray(3.0), aio.asarray(np.int64(50))))
    await model(x, most)
    before = aio.stats()["launched"]
    y = await model(x, most)
    assert aio.stats()["launched"] == before + 1
    assert y.tolist() == 192.0
    assert (await model(x, np.int64(2))).tolist() == 12.0


CHOICE = """f (float[n] x, bool c) => (float[n] y) {
    y = If<then_branch = a () => (float[n] p) { p = Neg(x) }, else_branch = b () => (float[n] q) { q = Exp(x) }>(c)
}"""


@pytest.mark.asyncio
async def test_branch_on_a_value_of_the_device_is_one_program() -> None:
    model = await aio.onnx.load(parsed(CHOICE))
    assert (await model([0.0, 1.0], np.asarray(True))).tolist() == [0.0, -1.0]
    before = aio.stats()["compiles"]
    assert (await model([0.0, 0.0], np.asarray(False))).tolist() == [1.0, 1.0]
    assert aio.stats()["compiles"] == before


GROWING = """f (float[n] x) => (float[m] y) {
    three = Constant<value_int = 3>()
    one = Constant<value_int = 1>()
    go = Cast<to = 9>(one)
    y = Loop<body = turn (int64 i, bool c, float[k] v) => (bool on, float[l] w) {
        on = Identity(c)
        w = Concat<axis = 0>(v, x)
    }>(three, go, x)
}"""


@pytest.mark.asyncio
async def test_loop_of_a_known_count_may_change_shapes() -> None:
    model = await aio.onnx.load(parsed(GROWING))
    assert (await model([1.0, 2.0])).tolist() == [1.0, 2.0] * 4


@pytest.mark.asyncio
async def test_what_follows_from_constants_is_computed_once() -> None:
    text = """f (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}> {
        t = Transpose(w)
        e = Exp(t)
        y = MatMul(x, e)
    }"""
    model = await aio.onnx.load(parsed(text))
    program = model.lower().as_text()
    assert "exponential" not in program
    assert "transpose" not in program
    np.testing.assert_allclose(
        np.asarray(await model(np.eye(2, dtype=np.float32))), np.exp([[1, 3], [2, 4]]), rtol=1e-6
    )


@pytest.mark.asyncio
async def test_random_numbers_are_no_constants() -> None:
    text = "f (float[n] x) => (float[4] y) { y = RandomNormal<shape = [4], seed = 1.0>() }"
    model = await aio.onnx.load(parsed(text))
    assert "rng" in model.lower(n=1).as_text() or "xor" in model.lower(n=1).as_text()
