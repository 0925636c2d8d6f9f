"""Budgets for programs: ``compile_budget``, ``jit(max_programs=...)``, ``compile_cache.freeze``."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

import pytest

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def thawed() -> Iterator[None]:
    yield
    aio.compile_cache.thaw()


def test_budget_counts_programs_of_operations_and_jit() -> None:
    f = aio.jit(lambda x: aio.sum(x) * 2)
    x = aio.ones((3, 111))
    with aio.compile_budget(2) as budget:
        f(x)
        f(x * 1.5)
        f(x)
    assert budget.used == 2


def test_over_budget_names_what_changed() -> None:
    @aio.jit(static_argnames="n")
    def f(tree: Any, x: Any, n: int) -> Any:
        return tree["a"] * n

    tree = {"a": aio.ones((2, 3))}
    f(tree, aio.ones(3), 1)
    with aio.compile_budget(0):
        f(tree, aio.zeros(3), 1)
        with pytest.raises(aio.errors.CompileBudgetError, match=r"f needs a new program, number 1") as caught:
            f({"a": aio.ones((2, 4))}, aio.ones(3), 1)
        assert "argument tree['a'] was float32[2,3], now it is float32[2,4]" in str(caught.value)
        with pytest.raises(aio.errors.CompileBudgetError, match=r"static argument n was 1, now it is 2"):
            f(tree, aio.ones(3), 2)
        with pytest.raises(aio.errors.CompileBudgetError, match=r"passed as .*, now as"):
            f((aio.ones(3),) and {"a": aio.ones((2, 3)), "b": 1.0}, aio.ones(3), 1)
    f(tree, aio.ones(3), 2)


def test_the_nearest_program_is_named() -> None:
    f = aio.jit(lambda x, y: (x, y))
    f(aio.ones(3), aio.ones(30))
    f(aio.ones(100), aio.ones(40))
    f(aio.ones(4), aio.ones(41))
    with aio.compile_budget(0), pytest.raises(aio.errors.CompileBudgetError) as caught:
        f(aio.ones(5), aio.ones(41))
    assert "argument x was float32[4], now it is float32[5]." in str(caught.value)


def test_operations_are_named_too() -> None:
    x = aio.ones((3, 112)).block_until_ready()
    aio.sin(x).block_until_ready()
    y = aio.ones((3, 113)).block_until_ready()
    with aio.compile_budget(0), pytest.raises(aio.errors.CompileBudgetError) as caught:
        aio.sin(y)
    assert "sin needs a new program" in str(caught.value)
    assert "float32[3,113]" in str(caught.value)


def test_warning_instead_of_error_is_at_the_callers_line() -> None:
    f = aio.jit(lambda x: x + 61.5)
    with aio.compile_budget(1, action="warn"):
        f(aio.ones(2))
        with pytest.warns(aio.errors.CompileBudgetWarning, match="number 2 under compile_budget") as caught:
            result = f(aio.ones(3))
    assert caught[0].filename == __file__
    assert float(result[0]) == 62.5


def test_budgets_nest() -> None:
    f = aio.jit(lambda x: x + 62.5)
    with aio.compile_budget(3) as outer:
        with aio.compile_budget(1) as inner:
            f(aio.ones(2))
            with pytest.raises(aio.errors.CompileBudgetError):
                f(aio.ones(3))
        f(aio.ones(4))
    assert (outer.used, inner.used) == (3, 2)


@pytest.mark.asyncio
async def test_budget_holds_in_tasks_started_there_and_nowhere_else() -> None:
    f = aio.jit(lambda x: x + 63.5)

    async def call(n: int) -> None:
        await f(aio.ones(n))

    with aio.compile_budget(1) as budget:
        await asyncio.create_task(call(2))
        with pytest.raises(aio.errors.CompileBudgetError):
            await asyncio.create_task(call(3))
    await asyncio.create_task(call(4))
    assert budget.used == 2


def test_max_programs_of_a_method_says_what_differs() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = aio.ones(3)

        @aio.jit(max_programs=1)
        def scale(self, x: Any) -> Any:
            return x * self.w

    model = Model()
    model.scale(aio.ones(3))
    with pytest.raises(aio.errors.CompileBudgetError, match=r"argument x was float32\[3\], now it is float32\[1\]"):
        model.scale(aio.ones(1))
    model.w = aio.ones(1)
    with pytest.raises(aio.errors.CompileBudgetError, match=r"an attribute of the object whose method it is, was"):
        model.scale(aio.ones(3))


def test_max_programs_of_a_function() -> None:
    f = aio.jit(lambda x: x + 64.5, max_programs=2)
    for n in (1, 2, 1, 2):
        f(aio.ones(n))
    with pytest.raises(aio.errors.CompileBudgetError, match=r"number 3 under jit\(max_programs=2\): argument x was"):
        f(aio.ones(3))
    assert float(f(aio.ones(1))[0]) == 65.5


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="limit is -1"):
        aio.compile_budget(-1)
    with pytest.raises(ValueError, match="'ignore' is not one of"):
        aio.compile_budget(1, action="ignore")  # type: ignore[arg-type]


@pytest.mark.usefixtures("thawed")
def test_frozen_cache_refuses_new_programs() -> None:
    f = aio.jit(lambda x: x + 65.5)
    x, y = aio.ones(7), aio.ones((8, 9))
    f(x).block_until_ready()
    aio.compile_cache.freeze()
    assert aio.compile_cache.stats()["frozen"]
    assert float(f(x).block_until_ready().tolist()[0]) == 66.5
    with pytest.raises(
        aio.errors.CompileBudgetError, match=r"frozen: argument x was float32\[7\], now it is float32\[8,9\]"
    ):
        f(y)
    with pytest.raises(aio.errors.CompileBudgetError, match="frozen"):
        aio.sin(y)
    aio.compile_cache.thaw()
    assert f(y).block_until_ready().shape == (8, 9)


@pytest.mark.usefixtures("thawed")
def test_frozen_cache_and_control_flow_outside_jit() -> None:
    def run(x: float) -> aio.Array:
        return aio.lax.cond(x > 1, lambda v: v + 66.5, lambda v: v, x)

    assert float(run(2.0)) == 68.5
    aio.compile_cache.freeze()
    # It is traced anew, but the program is equal to one that there is.
    assert float(run(3.0)) == 69.5
    with pytest.raises(aio.errors.CompileError, match="frozen"):
        aio.lax.cond(True, lambda v: v + 67.5, lambda v: v, 1.0).block_until_ready()


@pytest.mark.usefixtures("thawed")
def test_what_was_enqueued_before_the_freeze_still_compiles() -> None:
    result = aio.jit(lambda x: aio.exp(x) + 68.5)(aio.zeros(3))
    aio.compile_cache.freeze()
    assert float(result.block_until_ready().tolist()[0]) == 69.5


# Many shapes, without any budget


def test_many_shapes_are_told_of_once() -> None:
    @aio.jit
    def doubled(x: aio.Array) -> aio.Array:
        return x * 2

    with pytest.warns(
        aio.errors.CompileBudgetWarning, match=r"doubled has been compiled for 32 shapes.*buckets="
    ) as told:
        [doubled(aio.zeros(n)) for n in range(1, 66)]
    assert len(told) == 1
    assert told[0].filename == __file__


def test_other_programs_are_not_many_shapes() -> None:
    @functools.partial(aio.jit, static_argnames="k")
    def power(x: aio.Array, k: int) -> aio.Array:
        return x * k

    @aio.jit(buckets={"n": (64,)}, bucket_axes={"x": ("n",)})
    def padded(x: aio.Array) -> aio.Array:
        return x * 2

    for n in range(1, 40):
        power(aio.zeros(2), k=n)
        padded(aio.zeros(n))
    for n in range(1, 32):
        power(aio.zeros(n), k=0)
