"""``StreamBatcher``: requests join and leave between the steps of one running model."""

from __future__ import annotations

import gc
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import numpy as np
import pytest

import aioarray as aio
from aioarray import errors
from aioarray.serving import Slots, StreamBatcher, TensorSpec
from tests.serving.runners import RUNNERS, Runner, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@pytest.fixture(params=RUNNERS.values(), ids=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param  # type: ignore[no-any-return]


class Counting:
    """Yields ``100 * base + k`` for k = 0, 1, … below ``count``, for inputs (base, count), on the device.

    Records who was in the slots at each step. A step waits for ``release`` where ``gated``.
    """

    def __init__(self, gated: bool = False) -> None:
        self.steps: list[list[int]] = []  # the bases in the slots
        self.started = 0  # generators
        self.left: list[int] = []
        self._gates: list[anyio.Event] = []
        self._gated = gated
        self._next = aio.jit(lambda state: state + 1)

    async def __call__(self, slots: Slots) -> AsyncGenerator[Any, None]:
        self.started += 1
        state = aio.zeros(slots.size, dtype="int32")
        ends = np.zeros(slots.size, np.int32)
        while True:
            self.left += slots.left
            for slot, (base, count) in slots.joined:
                if count <= 0:
                    slots.fail(slot, ArithmeticError(f"no items for {base}"))
                if base == 66:
                    raise RuntimeError("the model is broken")
                state = state.at[slot].set(100 * int(base))
                ends[slot] = 100 * base + count - 1
            values = await state.to_host()
            self.steps.append(sorted(int(v) // 100 for v in values[slots.active]))
            for slot in np.flatnonzero(slots.active & (values >= ends)):
                slots.finish(int(slot))
            if self._gated:
                gate = anyio.Event()
                self._gates.append(gate)
                await gate.wait()
            yield {"value": state}
            state = self._next(state)

    async def begun(self, count: int) -> None:
        while len(self.steps) < count:
            await anyio.lowlevel.checkpoint()

    def release(self) -> None:
        next(gate for gate in self._gates if not gate.is_set()).set()


async def collect(stream: Any) -> list[int]:
    return [int(item["value"]) async for item in stream]


def test_each_stream_gets_its_own_items(run: Runner) -> None:
    model = Counting()

    async def main() -> None:
        got: dict[int, list[int]] = {}
        async with StreamBatcher(model, slots=3) as batcher:

            async def ask(base: int) -> None:
                got[base] = await collect(batcher((base, base % 5 + 1)))

            async with anyio.create_task_group() as group:
                for base in range(1, 11):
                    group.start_soon(ask, base)
        stats = batcher.stats()
        assert got == {base: [100 * base + k for k in range(base % 5 + 1)] for base in range(1, 11)}
        assert (stats.accepted, stats.completed, stats.queued, stats.running) == (10, 10, 0, 0)
        assert stats.rows == sum(map(len, got.values()))

    run(main)
    assert model.started == 1
    assert max(map(len, model.steps)) == 3
    # A slot is filled in the very step after it was emptied: no more steps than the work of the fullest slot needs.
    assert sum(map(len, model.steps)) == sum(base % 5 + 1 for base in range(1, 11))


def test_requests_join_and_leave_between_steps(run: Runner) -> None:
    model = Counting(gated=True)

    async def main() -> None:
        async with StreamBatcher(model, slots=2) as batcher, anyio.create_task_group() as group:
            first = batcher((1, 100))
            await model.begun(1)
            second = batcher((2, 100))
            third = batcher((3, 2))
            await settle()
            model.release()
            await model.begun(2)
            assert (await anext(first))["value"] == 100
            await first.aclose()
            model.release()
            await model.begun(3)
            assert model.left == [0]
            assert model.steps == [[1], [1, 2], [2, 3]]
            model.release()
            await model.begun(4)
            model.release()
            await model.begun(5)
            assert await collect(third) == [300, 301]
            await second.aclose()
            model.release()
            group.cancel_scope.cancel()

    run(main)
    assert model.steps == [[1], [1, 2], [2, 3], [2, 3], [2]]


@pytest.mark.parametrize("how", ["cancelled", "closed", "dropped"])
def test_a_consumer_that_goes_away_frees_its_slot(run: Runner, how: str) -> None:
    async def main() -> None:
        async with StreamBatcher(Counting(), slots=1, max_items=10**9) as batcher:
            stream = batcher((1, 10**6))
            assert (await anext(stream))["value"] == 100
            if how == "closed":
                async with stream:
                    await anext(stream)
                with pytest.raises(StopAsyncIteration):
                    await anext(stream)
            elif how == "cancelled":
                with anyio.CancelScope() as scope:
                    async for item in stream:
                        if item["value"] > 105:
                            scope.cancel()
                assert scope.cancelled_caught
            del stream
            gc.collect()
            assert await collect(batcher((2, 2))) == [200, 201]
        assert batcher.stats().cancelled == 1

    run(main)


def test_a_queued_stream_that_is_dropped_never_joins(run: Runner) -> None:
    model = Counting(gated=True)

    async def main() -> None:
        async with StreamBatcher(model, slots=1) as batcher:
            first = batcher((1, 1))
            await model.begun(1)
            batcher((2, 1))
            closed = batcher((3, 1))
            last = batcher((4, 1))
            await closed.aclose()
            gc.collect()
            model.release()
            await model.begun(2)
            model.release()
            assert await collect(first) == [100]
            assert await collect(last) == [400]

    run(main)
    assert model.steps == [[1], [4]]


def test_an_input_that_the_model_refuses_ends_alone(run: Runner) -> None:
    async def main() -> None:
        async with StreamBatcher(Counting(), slots=2) as batcher:
            fine = batcher((1, 3))
            bad = batcher((2, 0))
            with pytest.raises(ArithmeticError, match="no items for 2"):
                await anext(bad)
            with pytest.raises(StopAsyncIteration):
                await anext(bad)
            assert await collect(fine) == [100, 101, 102]
        assert (batcher.stats().failed, batcher.stats().completed) == (1, 1)

    run(main)


def test_a_model_that_raises_ends_those_in_slots_and_is_started_anew(run: Runner) -> None:
    model = Counting()

    async def main() -> None:
        async with StreamBatcher(model, slots=2) as batcher:
            streams = [batcher((base, 10**6 if base == 1 else 2)) for base in (1, 66, 3, 4)]
            for stream in streams[:2]:
                with pytest.raises(RuntimeError, match="broken"):
                    await collect(stream)
            assert await collect(streams[2]) == [300, 301]
            assert await collect(streams[3]) == [400, 401]

    run(main)
    assert model.started == 2


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([np.zeros(3)], r"an array of shape \(3,\); it needs a row for each of 2"),
        (["text"], "yielded str"),
        ([], "the generator ended"),
    ],
)
def test_generators_that_do_not_keep_to_the_rules(run: Runner, items: list[Any], message: str) -> None:
    async def model(slots: Slots) -> AsyncGenerator[Any, None]:
        for item in items:
            yield item

    async def main() -> None:
        async with StreamBatcher(model, slots=2) as batcher:
            with pytest.raises(RuntimeError, match=message):
                await anext(batcher(1))

    run(main)


@pytest.mark.parametrize("ends", [["finish"] * 2, ["fail"] * 2, ["finish", "fail"], ["fail", "finish"]], ids=" ".join)
def test_a_request_that_is_ended_twice_ends_once(run: Runner, ends: list[str]) -> None:
    async def model(slots: Slots) -> AsyncGenerator[Any, None]:
        while True:
            for slot, _ in slots.joined:
                for number, end in enumerate(ends):
                    if end == "finish":
                        slots.finish(slot)
                    else:
                        slots.fail(slot, ArithmeticError(number))
            yield np.arange(slots.size)

    async def main() -> None:
        async with StreamBatcher(model, slots=1) as batcher:
            for _ in range(2):
                if "fail" in ends:
                    with pytest.raises(ArithmeticError, match=str(ends.index("fail"))):
                        await anext(batcher(1))
                else:
                    assert [int(item) async for item in batcher(1)] == [0]
        stats = batcher.stats()
        assert (stats.accepted, stats.completed + stats.failed, stats.running) == (2, 2, 0)

    run(main)


@pytest.mark.parametrize("how", ["no exception", "no request"])
def test_an_end_that_cannot_be_is_the_models_error(run: Runner, how: str) -> None:
    async def model(slots: Slots) -> AsyncGenerator[Any, None]:
        if how == "no exception":
            slots.fail(0, "too long")  # type: ignore[arg-type]
        else:
            slots.finish(1)
        yield None

    async def main() -> None:
        async with StreamBatcher(model, slots=2) as batcher:
            with pytest.raises((TypeError, ValueError), match=r"it has to be an exception|no request in slot 1"):
                await anext(batcher(1))
            assert batcher.stats().failed == 1

    run(main)


def test_steps_without_items(run: Runner) -> None:
    async def model(slots: Slots) -> AsyncGenerator[Any, None]:
        yield None
        yield np.arange(slots.size)
        slots.finish(0)
        yield None
        while True:
            yield None

    async def main() -> None:
        async with StreamBatcher(model, slots=2) as batcher:
            assert [int(item) async for item in batcher("any")] == [0]

    run(main)


def test_deadlines_pass_during_a_step_and_in_the_queue(run: Runner) -> None:
    model = Counting(gated=True)

    async def main() -> None:
        async with StreamBatcher(model, slots=1, timeout=10) as batcher:
            real, late = batcher._clock, 0.0
            batcher._clock = lambda: real() + late
            running = batcher((1, 5))
            await model.begun(1)
            queued = batcher((2, 5))
            late = 10.0
            batcher._wake_clock()
            for stream in (running, queued):
                with pytest.raises(errors.DeadlineError):
                    await anext(stream)
            assert len(model.steps) == 1
            patient = batcher((3, 1), timeout=1e9)
            model.release()
            await model.begun(2)
            model.release()
            assert await collect(patient) == [300]
        assert batcher.stats().expired == 2

    run(main)


@pytest.mark.parametrize("then", ["looks", "goes away", "leaves"])
def test_a_deadline_that_passes_when_a_slot_gets_free(run: Runner, then: str) -> None:
    """Who takes requests into slots finds it late before the clock does; and it ends by one of them alone."""
    ended: list[str] = []

    async def read(stream: Any) -> None:
        try:
            await anext(stream)
        except Exception as error:
            ended.append(type(error).__name__)

    async def serve(batcher: StreamBatcher, model: Counting, group: Any) -> bool:
        async with batcher:
            real, late = batcher._clock, 0.0
            batcher._clock = lambda: real() + late
            running, queued = batcher((1, 1), timeout=1e9), batcher((2, 1), timeout=10)
            await model.begun(1)
            group.start_soon(read, queued)
            late = 20.0  # and the clock does not know yet
            model.release()
            assert await collect(running) == [100]
            while not batcher._queue._overdue and not ended:
                await anyio.lowlevel.checkpoint()
            if ended:
                return False
            if then == "leaves":
                raise KeyError
            if then == "goes away":
                await queued.aclose()
            batcher._wake_clock()
            after = batcher((3, 1), timeout=1e9)
            await model.begun(2)
            model.release()
            assert await collect(after) == [300]
        return True

    async def main() -> None:
        seen = False
        while not seen:  # trio chooses at random who runs first, and it may be the clock, by which nothing is shown
            ended.clear()
            model = Counting(gated=True)
            batcher = StreamBatcher(model, slots=1)
            async with anyio.create_task_group() as group:
                try:
                    seen = await serve(batcher, model, group)
                except KeyError:
                    seen = True
            assert batcher._recorder.unanswered == batcher.stats().running == 0

    run(main)
    assert (
        ended == {"looks": ["DeadlineError"], "goes away": ["StopAsyncIteration"], "leaves": ["NotServingError"]}[then]
    )


def test_a_step_that_hangs_is_given_up(run: Runner) -> None:
    started: list[Slots] = []

    async def model(slots: Slots) -> AsyncGenerator[Any, None]:
        started.append(slots)
        if len(started) == 1:
            await anyio.sleep_forever()
        slots.finish(0)
        yield np.ones(slots.size)

    async def main() -> None:
        async with StreamBatcher(model, slots=1, step_timeout=0.2) as batcher:
            with pytest.raises(errors.DeadlineError, match="step_timeout"):
                await anext(batcher(1))
            batcher._step_timeout = 1e9  # not for what works, however slow the machine is
            assert [item async for item in batcher(2)] == [1]

    run(main)


def test_limits(run: Runner) -> None:
    model = Counting(gated=True)

    async def main() -> None:
        async with StreamBatcher(model, slots=1, max_queue=2) as batcher:
            streams = [batcher((1, 1))]
            await model.begun(1)
            streams += [batcher((2, 1)), batcher((3, 1))]
            with pytest.raises(errors.QueueFullError):
                batcher((4, 1))
            for done in range(3):
                await model.begun(done + 1)
                model.release()
            assert [await collect(stream) for stream in streams] == [[100], [200], [300]]
        async with StreamBatcher(Counting(), slots=1, max_items=5) as batcher:
            slow = batcher((1, 100))
            while batcher.stats().failed == 0:
                await anyio.lowlevel.checkpoint()
            got = []
            with pytest.raises(errors.QueueFullError, match="max_items"):
                got += [item["value"] async for item in slow]

    run(main)


def test_inputs_are_checked_at_the_call(run: Runner) -> None:
    async def main() -> None:
        specs = (TensorSpec((), "int32"), TensorSpec((), "int32"))
        async with StreamBatcher(Counting(), specs=specs) as batcher:
            with pytest.raises(errors.InvalidInputError):
                batcher((1, "x"))
            with pytest.raises(ValueError, match="levels"):
                batcher((1, 1), priority=1)
            assert await collect(batcher((1, 2))) == [100, 101]
        with pytest.raises(errors.NotServingError):
            batcher((1, 1))
        with pytest.raises(TypeError, match="generator"):
            StreamBatcher(lambda slots: None)  # type: ignore[arg-type, return-value]

    run(main)


def test_two_tasks_cannot_wait_for_one_stream(run: Runner) -> None:
    model = Counting(gated=True)

    async def main() -> None:
        async with StreamBatcher(model, slots=1) as batcher, anyio.create_task_group() as group:
            stream = batcher((1, 1))
            group.start_soon(anext, stream)
            await model.begun(1)
            await settle()
            with pytest.raises(RuntimeError, match="another task"):
                await anext(stream)
            model.release()

    run(main)


def test_leaving_finishes_streams_and_leaving_with_an_error_ends_them(run: Runner) -> None:
    async def main() -> None:
        got: list[Any] = []

        async def consume(stream: Any) -> None:
            try:
                got.append(await collect(stream))
            except errors.NotServingError as error:
                got.append(error)

        async with anyio.create_task_group() as group, StreamBatcher(Counting(), slots=1) as batcher:
            for base in (1, 2, 3):
                group.start_soon(consume, batcher((base, 3)))
        assert got == [[100, 101, 102], [200, 201, 202], [300, 301, 302]]
        got.clear()
        model = Counting(gated=True)

        async def serve(group: Any) -> None:
            async with StreamBatcher(model, slots=1) as batcher:
                for base in (1, 2):
                    group.start_soon(consume, batcher((base, 3)))
                await model.begun(1)
                raise KeyError

        async with anyio.create_task_group() as group:
            with pytest.raises(KeyError):
                await serve(group)
        assert len(got) == 2
        assert all(isinstance(error, errors.NotServingError) for error in got)

    run(main)


@pytest.mark.parametrize("seed", [1, 2])
def test_storm_of_streams(run: Runner, seed: int) -> None:
    rng = random.Random(seed)
    model = Counting()
    ended: Counter[str] = Counter()

    async def main() -> None:
        async def client(batcher: StreamBatcher, base: int) -> None:
            kind = rng.choice(["whole", "whole", "cancelled", "closed", "refused"])
            count = 0 if kind == "refused" else rng.randint(1, 12)
            for _ in range(rng.randint(0, 200)):
                await anyio.lowlevel.checkpoint()
            got: list[int] = []
            with anyio.CancelScope() as scope:
                async with batcher((base, count), client=base % 7, priority=base % 2) as stream:
                    try:
                        async for item in stream:
                            got.append(int(item["value"]))
                            if kind == "closed" and rng.random() < 0.3:
                                break
                            if kind == "cancelled" and rng.random() < 0.3:
                                scope.cancel()
                    except ArithmeticError:
                        ended["refused"] += 1
                        assert kind == "refused"
            assert got == [100 * base + k for k in range(len(got))]
            if kind == "whole":
                assert len(got) == count
            ended["all"] += 1

        async with StreamBatcher(model, slots=5, priority_levels=2) as batcher:
            async with anyio.create_task_group() as group:
                for base in range(100, 400):
                    group.start_soon(client, batcher, base)
            stats = batcher.stats()
        assert ended["all"] == 300
        assert ended["refused"] == stats.failed
        assert stats.accepted == stats.completed + stats.failed + stats.cancelled == 300
        assert batcher.stats().queued == batcher.stats().running == 0

    run(main)
    assert model.started == 1
