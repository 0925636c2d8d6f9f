"""Ahead of time: ``lower``, ``compile``, ``cost``, ``eval_shape``, ``warmup``, ``ShapeDtype``."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from tests.support.compiling import compiles


def test_shape_dtype() -> None:
    x = aio.ShapeDtype((2, np.int64(3)), "float32")
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes) == ((2, 3), aio.float32, 2, 6, 24)
    assert x == aio.ShapeDtype([2, 3], np.float32)
    assert hash(x) == hash(aio.ShapeDtype([2, 3], np.float32))
    assert x != aio.ShapeDtype((2, 3), "float64")
    assert aio.ShapeDtype(5, "int8").shape == (5,)
    assert repr(x) == "ShapeDtype((2, 3), 'float32')"
    assert pickle.loads(pickle.dumps(x)) == x
    with pytest.raises(ValueError, match="negative"):
        aio.ShapeDtype((-1,), "float32")
    with pytest.raises(TypeError, match="dtype"):
        aio.ShapeDtype((1,), "U5")


def test_eval_shape_computes_and_compiles_nothing() -> None:
    def f(tree: Any, n: int) -> Any:
        return {"product": tree["a"] @ tree["b"], "n": n}

    before = aio.stats()
    a, b = aio.ShapeDtype((200_000, 300), "float32"), aio.ShapeDtype((300, 200_000), "float64")
    result = aio.eval_shape(f, {"a": a, "b": b}, 3)
    assert result == {"product": aio.ShapeDtype((200_000, 200_000), "float64"), "n": aio.ShapeDtype((), "int32")}
    after = aio.stats()
    assert after["enqueued"] == before["enqueued"]
    assert after["compiles"] == before["compiles"]
    with pytest.raises(ValueError, match="matmul"):
        aio.eval_shape(f, {"a": a, "b": a}, 3)


def test_eval_shape_of_jitted_functions_and_methods() -> None:
    f = aio.jit(lambda x, n: [x] * n, static_argnums=1)
    assert aio.eval_shape(f, aio.ShapeDtype(2, "int8"), 2) == [aio.ShapeDtype(2, "int8")] * 2

    class Model:
        def __init__(self) -> None:
            self.w = aio.ones((3, 4))

        @aio.jit
        def __call__(self, x: Any) -> Any:
            return x @ self.w

    assert aio.eval_shape(Model().__call__, aio.ShapeDtype((2, 3), "float32")) == aio.ShapeDtype((2, 4), "float32")


def test_lowered_text_and_cost() -> None:
    f = aio.jit(lambda x, y: x @ y, name="product")
    lowered = f.lower(aio.ShapeDtype((8, 16), "float32"), aio.ShapeDtype((16, 4), "float32"))
    text = lowered.as_text()
    assert "module @product" in text
    assert "stablehlo.dot_general" in text
    assert "tensor<8x16xf32>" in text
    cost = lowered.cost()
    assert cost.flops == 2 * 8 * 16 * 4
    assert cost.bytes_accessed >= 4 * (8 * 16 + 16 * 4 + 8 * 4)
    assert cost.peak_memory >= 4 * (8 * 16 + 16 * 4 + 8 * 4)
    assert repr(lowered) == "<lowered product>"
    # Also once it has been compiled, and called.
    assert f.lower(aio.ShapeDtype((8, 16), "float32"), aio.ShapeDtype((16, 4), "float32")).as_text() == text


def test_donation_is_in_the_text_and_the_cost() -> None:
    x = aio.ShapeDtype(1000, "float32")
    kept = aio.jit(lambda x: x + 1).lower(x)
    donated = aio.jit(lambda x: x + 1, donate_argnums=0).lower(x)
    assert "buffer_donor" not in kept.as_text()
    assert "buffer_donor" in donated.as_text()
    assert donated.cost().peak_memory < kept.cost().peak_memory


@pytest.mark.asyncio
async def test_compiled_ahead_nothing_is_compiled_at_the_call() -> None:
    f = aio.jit(lambda tree, s: {"y": tree["x"] * s + 51.5})
    compiled = await f.compile({"x": aio.ShapeDtype((3, 5), "float32")}, 2.0)
    before = compiles()
    result = await aio.to_host(f({"x": aio.ones((3, 5))}, 3.0))
    assert result["y"][0, 0] == 54.5
    result = await aio.to_host(compiled({"x": aio.ones((3, 5))}, 4.0))
    assert result["y"][0, 0] == 55.5
    assert compiles() == before
    assert compiled.cost().flops > 0
    assert "HloModule" in compiled.as_text()
    assert repr(compiled) == "<compiled <lambda>>"
    with pytest.raises(
        TypeError, match=r"compiled for other arguments: argument tree\['x'\] was float32\[3,5\], now it is"
    ):
        compiled({"x": aio.ones((3, 6))}, 4.0)


@pytest.mark.asyncio
async def test_compiling_does_not_hold_the_loop_and_can_be_cancelled() -> None:
    @aio.jit
    def f(x: Any) -> Any:
        for i in range(60):
            x = x @ x + i
        return x

    lowered = f.lower(aio.ShapeDtype((13, 13), "float32"))
    with pytest.raises(RuntimeError, match=r"await lowered.compile\(\)"):
        lowered.cost()
    first = asyncio.ensure_future(lowered.compile())
    second = asyncio.ensure_future(lowered.compile())
    await asyncio.sleep(0)
    assert not first.done()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    compiled = await second
    assert lowered.cost() == compiled.cost()


@pytest.mark.asyncio
async def test_program_that_does_not_compile() -> None:
    f = aio.jit(lambda x: aio.nn.relu(x) if hasattr(aio, "nn") else x)
    lowered = f.lower(aio.ShapeDtype(3, "float32"))
    assert lowered._program is not None
    lowered._program.options = (("no_such_option", True),)
    with pytest.raises(aio.errors.CompileError, match="no_such_option"):
        await lowered.compile()
    with pytest.raises(aio.errors.CompileError, match="no_such_option"):
        await f(aio.ones(3))
    with pytest.raises(aio.errors.CompileError, match="no_such_option"):
        lowered.cost()


@pytest.mark.asyncio
async def test_function_without_results() -> None:
    compiled = await aio.jit(lambda x: None).compile(1.0)
    assert compiled(2.0) is None
    assert compiled.cost() == type(compiled.cost())(0.0, 0.0, 0.0, 0)
    assert compiled.as_text() == ""


@pytest.mark.asyncio
async def test_methods_ahead_of_time() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = aio.ones((7, 2))

        @aio.jit
        def apply(self, x: Any) -> Any:
            return x @ self.w - 52.5

    model = Model()
    await model.apply.compile(aio.ShapeDtype((1, 7), "float32"))
    before = compiles()
    assert (await model.apply(aio.ones((1, 7))).to_host())[0, 0] == -45.5
    assert compiles() == before
    assert "dot_general" in model.apply.lower(aio.ones((1, 7))).as_text()


@pytest.mark.asyncio
async def test_warmup_compiles_everything_once_and_reports() -> None:
    f = aio.jit(lambda x: aio.tan(x) + 53.5, name="f")
    g = aio.jit(lambda x, n: x * n + 54.5, static_argnums=1, name="g")
    reports: list[tuple[int, int, str]] = []
    before = compiles()
    programs: list[Any] = [(f, aio.ShapeDtype(n, "float32")) for n in range(101, 106)]
    programs += [(g, (aio.ShapeDtype(n, "float32"), 2)) for n in range(101, 104)]
    programs += [programs[0]]
    compiled = await aio.warmup(programs, progress=lambda *report: reports.append(report))
    assert len(compiled) == 9
    assert compiles() - before == 8
    assert [done for done, _, _ in reports] == list(range(1, 10))
    assert {total for _, total, _ in reports} == {9}
    assert reports[-1][2] == "f"
    await aio.ready([f(aio.ones(101)), g(aio.ones(103), 2)])
    assert compiles() - before == 8


@pytest.mark.asyncio
async def test_warmup_logs_where_there_is_no_terminal(caplog: pytest.LogCaptureFixture) -> None:
    f = aio.jit(lambda x: x - 55.5, name="logged")
    with caplog.at_level("INFO", logger="aioarray"):
        await aio.warmup([(f, (1.0,))], progress=True)
    assert "compiled logged, 1 of 1" in caplog.text


@pytest.mark.asyncio
async def test_warmup_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich", reason="the bar is drawn by rich")

    class Terminal:
        encoding = "utf-8"

        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str) -> int:
            self.text += text
            return len(text)

        def flush(self) -> None:
            pass

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    f = aio.jit(lambda x: x - 56.5, name="drawn")
    await aio.warmup([(f, (1.0,)), (f, (2.0,))], progress=True)
    assert "2/2" in terminal.text
    assert "drawn" in terminal.text


@pytest.mark.asyncio
async def test_warmup_of_nothing_and_of_failures() -> None:
    assert await aio.warmup([], progress=True) == []
    f = aio.jit(lambda x: x @ x)
    with pytest.raises(ValueError, match="matmul"):
        await aio.warmup([(f, aio.ShapeDtype((2, 3), "float32"))])
