"""``Batcher``: limits, deadlines, warming up, stopping; and options that cannot be."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import weakref
from typing import Any

import anyio
import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray import errors
from aioarray.serving import Batcher, TensorSpec
from tests.serving.runners import RUNNERS, Asking, Gated, Runner, settle


@pytest.fixture(params=RUNNERS.values(), ids=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param  # type: ignore[no-any-return]


def row(value: float, length: int = 3) -> np.ndarray:
    return np.full(length, value, np.float32)


async def five_asked(batcher: Batcher, model: Gated, group: Any) -> Asking:
    """Five requests, of which ``model`` has begun with the first ones."""
    asking = Asking(batcher, group)
    for i in range(5):
        asking.ask(i, row(i))
    await model.begun(1)
    return asking


def assert_none_was_served(asking: Asking) -> None:
    assert len(asking.ended) == 5
    assert all(isinstance(error, errors.NotServingError) for error in asking.ended.values())


# Limits


def test_a_full_queue_turns_away(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model, max_batch_size=2, max_queue=3) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("runs", row(0))
            await model.begun(1)
            for i in range(3):
                asking.ask(i, row(i))
            await settle()
            with pytest.raises(errors.QueueFullError):
                await batcher(row(9))
            with pytest.raises(errors.InvalidInputError, match="more than max_queue"):
                await batcher(np.zeros((4, 3), np.float32), batched=True)
            for _ in range(3):
                model.release()
                await settle()
        assert batcher.stats().rejected == 1
        assert batcher.stats().completed == 4

    run(main)


def test_deadlines_pass_on_time_while_the_model_is_busy(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model, max_batch_size=1, timeout=0.05) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("running", row(1), timeout=1e9)
            await model.begun(1)
            asking.ask("queued", row(2))
            asking.ask("patient", row(3), timeout=1e9)
            await asking.have_ended(1)
            # It ended while the model had not gone on.
            assert len(model.calls) == 1
            assert isinstance(asking.ended["queued"], errors.DeadlineError)
            assert isinstance(asking.ended["queued"], TimeoutError)
            model.release()
            await model.begun(2)
            assert model.calls[1][0, 0] == 3
            model.release()
        assert (asking.ended["running"][0], asking.ended["patient"][0]) == (2, 6)
        assert batcher.stats().expired == 1

    run(main)


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_deadline_that_has_passed(run: Runner, timeout: float) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:
            with pytest.raises(errors.DeadlineError):
                await batcher(row(1), timeout=timeout)
            with pytest.raises(ValueError, match="timeout"):
                await batcher(row(1), timeout=float("nan"))

    run(main)


def test_a_function_that_hangs_is_given_up_after_batch_timeout(run: Runner) -> None:
    hangs = [True]

    async def model(x: aio.Array) -> aio.Array:
        if hangs.pop() if hangs else False:
            await anyio.sleep_forever()
        return x

    async def main() -> None:
        async with Batcher(model, batch_timeout=0.02) as batcher:
            with pytest.raises(errors.DeadlineError, match="batch_timeout"):
                await batcher(row(1))
            batcher._settings = dataclasses.replace(
                batcher._settings, batch_timeout=1e9
            )  # not for what works, however slow the machine is
            assert (await batcher(row(2)))[0] == 2

    run(main)


# Life


def test_warmup_runs_every_bucket_once_and_freezes(run: Runner) -> None:
    async def main() -> None:
        model = aio.jit(lambda x: x * 2)
        specs = TensorSpec(("n",), "float32")
        reports: list[tuple[int, int, str]] = []
        batcher = Batcher(model, specs=specs, buckets={"batch": (1, 4), "n": (2, 5)}, name="model")
        async with batcher:
            assert not batcher.ready
            await batcher.warmup(progress=lambda *report: reports.append(report))
            assert batcher.ready
            before = aio.stats()["compiles"]
            await batcher([1.0])
            await batcher(np.ones((6, 5), np.float32), batched=True)
            assert aio.stats()["compiles"] == before
            assert len(model.programs) == 4
            assert sorted(report[2] for report in reports) == ["model[1x2]", "model[1x5]", "model[4x2]", "model[4x5]"]
        assert not batcher.ready

    run(main)


def test_what_was_measured_refuses_what_cannot_be_in_time(run: Runner) -> None:
    calls: list[int] = []

    async def model(x: aio.Array) -> aio.Array:
        calls.append(x.shape[0])
        await anyio.sleep(0.2)  # what this model takes
        return x

    async def main() -> None:
        async with Batcher(model, buckets=(1,)) as batcher:
            await batcher.warmup(row(1))
            with pytest.raises(errors.DeadlineError, match="at least"):
                await batcher(row(1), timeout=0.1)
            assert (batcher.stats().hopeless, batcher.stats().accepted) == (1, 0)

    run(main)
    assert calls == [1, 1]


def test_after_warmup_nothing_new_is_compiled(run: Runner) -> None:
    async def main() -> None:
        model = aio.jit(lambda x: x * 3)
        async with Batcher(model, buckets=(1, 2)) as batcher:
            with pytest.raises(ValueError, match="specs, or an example"):
                await batcher.warmup()
            await batcher.warmup(row(1))
            assert (await batcher(row(1)))[0] == 3
            with pytest.raises(errors.CompileBudgetError):
                await batcher(row(1, 4))
            await batcher.warmup(row(1, 4))
            assert (await batcher(row(1, 4)))[0] == 3
        # Others may compile.
        await aio.jit(lambda x: x * 4)(row(1))

    run(main)


def test_leaving_answers_what_was_accepted(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with anyio.create_task_group() as group:
            async with Batcher(model, max_batch_size=2) as batcher:
                asking = await five_asked(batcher, model, group)

                async def release() -> None:
                    for i in range(3):
                        await model.begun(i + 1)
                        model.release()

                group.start_soon(release)
            with pytest.raises(errors.NotServingError):
                await batcher(row(1))
        assert [asking.ended[i][0] for i in range(5)] == [0, 2, 4, 6, 8]

    run(main)


def test_drain_refuses_new_requests_and_can_be_given_up(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("accepted", row(1))
            await model.begun(1)
            with anyio.move_on_after(0.01) as scope:
                await batcher.drain()
            assert scope.cancelled_caught
            assert not batcher.ready
            with pytest.raises(errors.NotServingError):
                await batcher(row(2))
            model.release()
            await batcher.drain()
            await asking.have_ended(1)
            assert batcher.stats().completed == 1

    run(main)


def test_leaving_with_an_error_ends_every_request(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        batcher = Batcher(model, max_batch_size=2)

        async def serve(group: Any) -> None:
            async with batcher:
                asked.append(await five_asked(batcher, model, group))
                raise KeyError

        asked: list[Asking] = []
        async with anyio.create_task_group() as group:
            with pytest.raises(KeyError):
                await serve(group)
        assert_none_was_served(asked[0])
        assert batcher.stats().queued == batcher.stats().running == 0

    run(main)


def test_a_function_that_hangs_for_nobody_does_not_keep_the_batcher(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("gone", row(1))
            await model.begun(1)
            asking.cancel("gone")
        assert asking.ended == {"gone": "cancelled"}
        assert batcher.stats().running == 0

    run(main)


def test_being_cancelled_while_draining_ends_every_request(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        batcher = Batcher(model, max_batch_size=2)

        async def give_up(scope: anyio.CancelScope) -> None:
            await settle()
            scope.cancel()

        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                async with batcher:
                    asking = await five_asked(batcher, model, group)
                    group.start_soon(give_up, scope)
            assert scope.cancelled_caught
        assert_none_was_served(asking)

    run(main)


def test_being_cancelled_while_starting(run: Runner) -> None:
    async def main() -> None:
        batcher = Batcher(lambda x: x)
        with anyio.CancelScope() as scope:
            scope.cancel()
            async with batcher:
                pytest.fail("it was started")
        assert scope.cancelled_caught
        with pytest.raises(errors.NotServingError):
            await batcher(row(1))
        await settle()

    run(main)


def test_a_batcher_is_used_inside_and_not_started_twice_at_once(run: Runner) -> None:
    async def main() -> None:
        batcher = Batcher(lambda x: x)
        with pytest.raises(errors.NotServingError, match="async with"):
            await batcher(row(1))
        await batcher.drain()
        batcher = Batcher(lambda x: x)
        async with batcher:
            await batcher(row(1))
            with pytest.raises(errors.NotServingError, match="it is running"):
                await batcher.__aenter__()
        with pytest.raises(errors.NotServingError):
            await batcher(row(1))

    run(main)


def test_a_batcher_that_has_stopped_starts_anew_on_any_loop() -> None:
    batcher = Batcher(lambda x: x * 2)

    async def main() -> None:
        async with batcher:
            assert batcher.ready
            assert np.array_equal(await batcher(row(1)), row(2))
        with pytest.raises(errors.NotServingError):
            await batcher(row(1))

    for backend in ("asyncio", "trio", "trio", "asyncio"):
        anyio.run(main, backend=backend)
    assert batcher.stats().completed == 4


def test_another_loop_gets_a_clear_error(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:

            def elsewhere() -> None:
                async def ask() -> None:
                    await batcher(row(1))

                asyncio.run(ask())

            with pytest.raises(errors.NotServingError, match="another event loop"):
                await anyio.to_thread.run_sync(elsewhere)

    run(main)


def test_a_loop_that_ends_with_requests_under_way_leaves_nothing() -> None:
    """asyncio.run cancels what is left; nothing hangs and nothing is reported."""
    model = Gated()
    tasks: list[Any] = []

    async def main() -> None:
        async def serve() -> None:
            async with Batcher(model, max_batch_size=1) as batcher:
                tasks.extend(asyncio.create_task(batcher(row(i))) for i in range(3))
                await anyio.sleep_forever()

        tasks.append(asyncio.create_task(serve()))
        await model.begun(1)

    asyncio.run(main())
    assert all(task.done() for task in tasks)
    for task in tasks:
        assert task.cancelled() or isinstance(task.exception(), errors.NotServingError)


def test_nothing_is_kept_of_a_request_that_ended() -> None:
    async def main() -> None:
        async with Batcher(lambda x: x, max_batch_size=4) as batcher:
            seen: list[weakref.ref[Any]] = []
            for _ in range(20):
                x = row(1)
                seen.append(weakref.ref(x))
                result = await batcher(x, timeout=1000.0)
                base = result.base
                seen.append(weakref.ref(result if base is None else base))
                del x, result, base
            await settle()
            gc.collect()
            assert sum(ref() is not None for ref in seen) == 0

    trio.run(main)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_batch_size": 0}, "max_batch_size is 0"),
        ({"buckets": (0, 4)}, "sizes of 1 or more"),
        ({"buckets": (4,), "max_batch_size": 8}, "largest bucket of batches is 4"),
        ({"buckets": {"n": (4,)}}, "give specs"),
        ({"buckets": {"n": (4,)}, "specs": TensorSpec(("m",), "int32")}, "lengths"),
        ({"buckets": {"n": ()}, "specs": TensorSpec(("n",), "int32")}, "sizes of 1 or more"),
        ({"max_batch_size": 2.5}, "max_batch_size is 2.5"),
        ({"buckets": (2.5,)}, "sizes of 1 or more"),
        ({"buckets": "12"}, "sizes of 1 or more"),
        ({"buckets": {"n": (1.5,)}, "specs": TensorSpec(("n",), "int32")}, "buckets of 'n'"),
        ({"max_queue": 0}, "max_queue is 0"),
        ({"max_queue": 1.5}, "max_queue is 1.5"),
        ({"max_queue": float("nan")}, "max_queue is nan"),
        ({"priority_levels": "2"}, "priority_levels is '2'"),
        ({"max_concurrent_batches": 0}, "max_concurrent_batches is 0"),
        ({"max_delay": float("nan")}, "max_delay is nan"),
        ({"max_delay": -1}, "max_delay is -1"),
        ({"timeout": 0}, "timeout is 0"),
        ({"cost": len}, "go together"),
        ({"arguments": {"mask": "m"}}, "not one of key, batch"),
        ({"outputs": TensorSpec(("n",), "int32")}, "no buckets"),
    ],
)
def test_options_that_cannot_be(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Batcher(lambda x: x, **options)


def test_options_of_the_wrong_type() -> None:
    with pytest.raises(TypeError, match="callable"):
        Batcher(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="TensorSpec"):
        Batcher(lambda x: x, specs={"x": 3})
    with pytest.raises(ValueError, match="negative"):
        TensorSpec((-1,), "int32")


@pytest.mark.parametrize("timeout", ["1", float("nan")])
def test_timeouts_that_are_none(run: Runner, timeout: Any) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:
            with pytest.raises(ValueError, match="it has to be a number of seconds"):
                await batcher(row(1), timeout=timeout)
            await batcher(row(1), timeout=float("inf"))
            assert batcher.stats().accepted == 1

    run(main)


@pytest.mark.parametrize("priority", [-1, 2, 0.5, "1", None])
def test_priorities_that_there_are_not(run: Runner, priority: Any) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x, priority_levels=2) as batcher:
            with pytest.raises(ValueError, match="levels 0 to 1"):
                await batcher(row(1), priority=priority)
            await batcher(row(1), priority=1)

    run(main)
