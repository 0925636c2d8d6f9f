"""``inject``: operations, compiles and copies fail as the device would report it, and nothing else does."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import numpy as np
import pytest

import aioarray as aio
from aioarray import testing
from aioarray.errors import CompileError, DeviceError
from tests.promise.work import LOST, start_python
from tests.testing.gates import ones


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_the_nth_match_fails_every_time_it_is_awaited(nth: int) -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("RESOURCE_EXHAUSTED: no memory left", match="add", nth=nth) as fault:
            results = [x + 1 for _ in range(5)]
            aio.sin(x)
        assert (fault.matched, fault.injected) == (5, 1)
        for number, result in enumerate(results, 1):
            if number != nth:
                await result
                continue
            for _ in range(3):
                with pytest.raises(DeviceError, match="no memory left") as caught:
                    await result
                assert caught.value.operation == "add"
                assert caught.value.status == "RESOURCE_EXHAUSTED"
                assert "test_inject.py" in str(caught.value.location)
                assert caught.value.detail == "no memory left"

    asyncio.run(main())


def test_several_of_the_matches_fail() -> None:
    x = ones()
    with testing.inject("INTERNAL: flaky", nth=range(2, 100, 2)) as fault:
        results = [x + i for i in range(6)]
    assert (fault.matched, fault.injected) == (6, 3)
    for number, result in enumerate(results, 1):
        if number % 2:
            result.block_until_ready()
        else:
            with pytest.raises(DeviceError, match="flaky"):
                result.block_until_ready()


def test_without_match_operations_fail_and_copies_do_not() -> None:
    double = aio.jit(lambda x: x * 2)
    with testing.inject("INTERNAL: no") as fault:
        made = [aio.ones(3), aio.asarray([1.0, 2.0]), aio.zeros((2, 2)), aio.arange(3)]
        assert all(not np.isnan(x.tolist()).any() for x in made)
        assert (fault.matched, fault.injected) == (0, 0)
        results = [made[0] + 1, double(made[1]), aio.random.uniform(aio.random.key(0), (3,))]
    for x in results:
        with pytest.raises(DeviceError, match="no"):
            x.block_until_ready()


@pytest.mark.parametrize("match", ["device_put", "*", "dev*"])
def test_copies_fail_at_the_call_where_the_pattern_names_them(match: str) -> None:
    with testing.inject("INTERNAL: no", match=match), pytest.raises(DeviceError, match="device_put"):
        aio.asarray([1.0, 2.0])


def test_a_retry_succeeds() -> None:
    async def robust(x: aio.Array) -> aio.Array:
        for _ in range(3):
            try:
                return await aio.exp(x)
            except DeviceError:
                continue
        raise AssertionError("gave up")

    async def main() -> None:
        x = await ones()
        with testing.count() as counter, testing.inject("UNAVAILABLE: busy", match="exp", nth=1):
            assert np.allclose((await robust(x)).tolist(), np.e)
        assert counter.launched == ("exp", "exp")
        assert counter.failed == 1

    asyncio.run(main())


def test_what_is_computed_from_it_fails_with_the_same_error() -> None:
    x = ones()
    with testing.inject("INTERNAL: first", match="add"):
        y = x + 1
        z = aio.sin(y)
    for array in (y, z, y * 2):
        with pytest.raises(DeviceError, match="first") as caught:
            array.block_until_ready()
        assert caught.value.operation == "add"
    assert (x * 2).tolist() == [2.0] * 3


def test_held_work_fails_when_it_is_released() -> None:
    x = ones()
    with testing.hold() as gate, testing.inject("INTERNAL: late"):
        y = x + 1
        assert not y.is_ready()
        gate.release()
        with pytest.raises(DeviceError, match="late"):
            y.block_until_ready()


def test_dependents_of_failed_work_are_not_held_any_more() -> None:
    x = ones()
    with testing.hold() as gate, testing.inject("INTERNAL: early", match="add"):
        y = x + 1
        z = aio.sin(y)
        gate.release(y)
        with pytest.raises(DeviceError, match="early"):
            z.block_until_ready()
        assert gate.pending == ()


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        ("NOT_FOUND: gone", "NOT_FOUND", "gone"),
        ("something", "UNKNOWN", "something"),
        (MemoryError("full"), "RESOURCE_EXHAUSTED", "full"),
        (TimeoutError(), "DEADLINE_EXCEEDED", "TimeoutError"),
        (DeviceError("lost", operation="any", status="DATA_LOSS"), "DATA_LOSS", "lost"),
    ],
)
def test_errors_come_as_the_device_would_report_them(error: Any, status: str, detail: str) -> None:
    x = ones()
    with testing.inject(error):
        y = x + 1
    with pytest.raises(DeviceError) as caught:
        y.block_until_ready()
    assert (caught.value.status, caught.value.detail) == (status, detail)


def test_jitted_functions_fail_by_their_name() -> None:
    @aio.jit
    def predict(x: aio.Array) -> dict[str, aio.Array]:
        return {"mean": aio.mean(x), "largest": aio.max(x)}

    x = ones()
    predict(x)["mean"].block_until_ready()
    with testing.inject("INTERNAL: device lost", match="predict", nth=2):
        good, bad = predict(x), predict(x)
    assert float(good["mean"]) == 1.0
    for key in ("mean", "largest"):
        with pytest.raises(DeviceError, match="device lost") as caught:
            bad[key].block_until_ready()
        assert caught.value.operation == "predict"
    assert float(predict(x)["largest"]) == 1.0


def test_compiles_fail_whether_or_not_the_program_was_compiled_before() -> None:
    @aio.jit
    def known(x: aio.Array) -> aio.Array:
        return x * 5 - 1

    @aio.jit
    def unknown(x: aio.Array) -> aio.Array:
        return x * 7 - 2

    x = ones()
    known(x).block_until_ready()
    with testing.count() as counter, testing.inject("INTERNAL: no compiler", match_compile="*known") as fault:
        for function in (known, unknown):
            for _ in range(2):
                with pytest.raises(CompileError, match="no compiler"):
                    function(x).block_until_ready()
        (x + 1).block_until_ready()
    assert (fault.matched, fault.injected) == (2, 2)
    assert counter.compiles == 0 or counter.compiled[0].name == "add"
    # Nothing of that is left.
    assert known(x).tolist() == [4.0] * 3
    assert unknown(x).tolist() == [5.0] * 3


def test_the_nth_compile_fails() -> None:
    function = aio.jit(lambda x: x + 11, name="grown")
    with testing.inject("INTERNAL: no", match_compile="grown", nth=2):
        first, second, third = (function(aio.ones(n)) for n in (1, 2, 3))
    first.block_until_ready()
    third.block_until_ready()
    with pytest.raises(CompileError, match="no"):
        second.block_until_ready()


def test_compiling_ahead_of_time_fails_too() -> None:
    async def main() -> None:
        function = aio.jit(lambda x: x + 13, name="ahead")
        spec = aio.ShapeDtype((3,), "float32")
        with testing.inject("INTERNAL: no", match_compile="ahead"), pytest.raises(CompileError, match="no"):
            await function.compile(spec)
        compiled = await function.compile(spec)
        assert (await compiled(ones())).tolist() == [14.0] * 3

    asyncio.run(main())


def test_copies_to_the_host_fail() -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("INTERNAL: bus", match="to_host", nth=2) as fault:
            await x.to_host()
            with pytest.raises(DeviceError, match="bus") as caught:
                await aio.to_host([x])
            assert caught.value.operation == "to_host"
            x.tolist()
        assert fault.matched == 3

    asyncio.run(main())


def test_copies_to_the_device_fail() -> None:
    async def main() -> None:
        host = np.ones(3, np.float32)
        large = np.ones(1 << 20, np.float32)  # which is copied by another thread
        with testing.inject("RESOURCE_EXHAUSTED: full", match="device_put", nth=(2, 4)):
            aio.asarray(host)
            with pytest.raises(DeviceError, match="full"):
                aio.asarray(host)
            await aio.device_put(large)
            with pytest.raises(DeviceError, match="full"):
                await aio.device_put(large)

    asyncio.run(main())


def test_wrong_injections_are_refused() -> None:
    with pytest.raises(ValueError, match="number 1"):
        testing.inject("INTERNAL: x", nth=0)
    with pytest.raises(ValueError, match="match or match_compile"):
        testing.inject("INTERNAL: x", match="a", match_compile="b")
    with pytest.raises(TypeError, match="must be an exception"):
        testing.inject(MemoryError)  # type: ignore[arg-type]
    for nth in ("2", 1.5, True):
        with pytest.raises(TypeError, match="it must be a number, or a container of numbers"):
            testing.inject("INTERNAL: x", nth=nth)  # type: ignore[arg-type]
    assert "0 of 0" in repr(testing.inject("INTERNAL: x", nth=np.int64(2)))  # type: ignore[arg-type]


def test_which_of_the_matches_fail_is_counted_by_pattern() -> None:
    x = ones().block_until_ready()
    with (
        testing.inject("INTERNAL: second sum", match="sum", nth=2) as sums,
        testing.inject("INTERNAL: third", nth=3) as all_of_them,
    ):
        made = [x + 1, aio.sum(x), x * 2, aio.sum(x), x - 1]
    assert (sums.matched, sums.injected) == (2, 1)
    assert (all_of_them.matched, all_of_them.injected) == (5, 1)
    outcomes = []
    for y in made:
        try:
            y.block_until_ready()
        except DeviceError as error:
            outcomes.append(error.detail)
        else:
            outcomes.append("")
    assert outcomes == ["", "", "third", "second sum", ""]


def test_an_injected_error_that_nobody_saw_is_logged() -> None:
    process = start_python(
        "import asyncio, gc, aioarray as aio\n"
        "x = aio.ones(3)\n"
        "with aio.testing.inject('INTERNAL: unheard', match='add'):\n"
        "    y = x + 1\n"
        "x.block_until_ready()\n"
        "asyncio.run(aio.drain(1))\n"
        "del y\n"
    )
    _, errors = process.communicate(timeout=3 * LOST)
    assert process.returncode == 0
    assert errors.count("unheard") == 1
    assert "an error that nobody awaited: add, enqueued at" in errors


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_faults_reach_tasks_on_any_loop(backend: str) -> None:
    async def main() -> None:
        x = await ones()
        with testing.inject("INTERNAL: anywhere", match="add"), anyio.fail_after(LOST):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(failing, x)

    async def failing(x: aio.Array) -> None:
        with pytest.raises(DeviceError, match="anywhere"):
            await (x + 1)

    anyio.run(main, backend=backend)
