"""A cancellation that is a model's own ends what it was for, and nothing else; a crash leaves nobody waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import pytest

import aioarray as aio
from aioarray import errors
from aioarray.serving import Batcher, Registry, StreamBatcher, cancel_on_disconnect
from aioarray.serving.batching.cancellation import CancelledWithinError
from tests.serving.runners import RUNNERS, Asking, Gated, on_asyncio, settle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.serving.runners import Runner

BAD = 13.0


class CrashError(BaseException):
    """Nothing that a model is expected to raise."""


@pytest.fixture(params=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    return RUNNERS[request.param]


async def raise_it() -> None:
    raise asyncio.CancelledError


async def await_a_task_that_was_cancelled() -> None:
    task = asyncio.ensure_future(anyio.sleep_forever())
    task.cancel()
    await task


async def await_a_future_that_was_cancelled() -> None:
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


CAUSES = [raise_it, await_a_task_that_was_cancelled, await_a_future_that_was_cancelled]
Cause = Callable[[], Any]


@pytest.mark.parametrize("cause", CAUSES)
def test_of_a_batch_only_the_culprit_ends(cause: Cause) -> None:
    async def model(x: aio.Array) -> Any:
        host = await x.to_host()
        if BAD in host:
            await cause()
        return host * 2

    async def main() -> None:
        async with Batcher(model, max_batch_size=4, name="model") as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for value in (1.0, BAD, 3.0, 4.0):
                asking.ask(value, np.float32(value))
            await asking.have_ended(4)
            assert isinstance(asking.ended.pop(BAD), CancelledWithinError)
            assert asking.ended == {1.0: 2.0, 3.0: 6.0, 4.0: 8.0}
            assert await batcher(np.float32(5)) == 10.0
            stats = batcher.stats()
            assert (stats.completed, stats.failed, stats.running) == (4, 1, 0)

    on_asyncio(main)


@pytest.mark.parametrize("cause", CAUSES)
def test_of_warming_up(cause: Cause) -> None:
    async def model(x: aio.Array) -> Any:
        await cause()

    async def main() -> None:
        async with Batcher(model, specs=aio.ShapeDtype((), "float32"), name="model") as batcher:
            with pytest.raises(CancelledWithinError, match=r"^model: the function awaited something"):
                await batcher.warmup()
            assert not batcher.ready

    on_asyncio(main)


@pytest.mark.parametrize("cause", CAUSES)
def test_of_a_step_those_in_slots_end(cause: Cause) -> None:
    async def model(slots: Any) -> AsyncIterator[Any]:
        while True:
            for slot, x in slots.joined:
                if x == BAD:
                    await cause()
                slots.finish(slot)
            yield np.arange(slots.size)

    async def main() -> None:
        async with StreamBatcher(model, slots=1, name="model") as batcher:
            bad, good = batcher(BAD), batcher(1.0)
            with pytest.raises(CancelledWithinError):
                await anext(bad)
            assert [int(item) async for item in good] == [0]

    on_asyncio(main)


def test_of_the_end_of_a_generator() -> None:
    async def model(slots: Any) -> AsyncIterator[Any]:
        try:
            while True:
                if any(x == BAD for _, x in slots.joined):
                    raise ValueError("bad")
                for slot, _ in slots.joined:
                    slots.finish(slot)
                yield np.arange(slots.size)
        finally:
            await raise_it()

    async def main() -> None:
        batcher = StreamBatcher(model, slots=1, name="model")
        async with batcher:
            bad, good = batcher(BAD), batcher(1.0)
            with pytest.raises(CancelledWithinError):
                await anext(bad)
            assert [int(item) async for item in good] == [0]

    on_asyncio(main)


@pytest.mark.parametrize("cause", CAUSES)
def test_of_making_a_model(cause: Cause) -> None:
    async def make() -> Any:
        await cause()

    async def main() -> None:
        async with Registry({"model": make}) as registry:
            await registry.settled.wait()
            assert list(registry.failures) == ["model"]
            with pytest.raises(CancelledWithinError):
                await registry.load("model")

    on_asyncio(main)


@pytest.mark.parametrize("cause", CAUSES)
def test_of_an_endpoint_it_is_not_taken_for_a_client_that_has_gone(cause: Cause) -> None:
    class Connected:
        async def receive(self) -> dict[str, Any]:
            await anyio.sleep_forever()
            return {}

    async def main() -> None:
        request: Any = Connected()
        with pytest.raises(CancelledWithinError):
            await cancel_on_disconnect(request, cause)

    on_asyncio(main)


def test_a_task_that_is_cancelled_itself_stays_cancelled() -> None:
    async def main() -> None:
        model = Gated()

        async def serve() -> None:
            async with Batcher(model) as batcher:
                await batcher(np.float32(1))

        task = asyncio.ensure_future(serve())
        await model.begun(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    on_asyncio(main)


def crashing(x: aio.Array) -> Any:
    raise CrashError


async def crashing_steps(slots: Any) -> AsyncIterator[Any]:
    raise CrashError
    yield


def test_a_crash_ends_every_request_at_once_also_where_the_body_goes_on(run: Runner) -> None:
    async def main() -> None:
        ended = anyio.Event()
        entered = anyio.Event()
        batcher = Batcher(crashing, max_batch_size=1)

        async def serve() -> None:
            async with batcher:
                entered.set()
                with anyio.CancelScope(shield=True):
                    await ended.wait()

        async def crash() -> None:
            with pytest.raises(BaseExceptionGroup) as caught:
                await serve()
            assert caught.value.split(CrashError)[1] is None

        async with anyio.create_task_group() as group:
            group.start_soon(crash)
            await entered.wait()
            asking = Asking(batcher, group)
            for i in range(3):
                asking.ask(i, np.float32(i))
            await asking.have_ended(3)
            assert all(isinstance(error, errors.NotServingError) for error in asking.ended.values())
            assert not batcher.ready
            with pytest.raises(errors.NotServingError, match="takes no more requests"):
                await batcher(np.float32(1))
            await batcher.drain()
            ended.set()

    run(main)


def test_a_crash_of_a_step_ends_every_stream(run: Runner) -> None:
    async def main() -> None:
        batcher = StreamBatcher(crashing_steps, slots=1)

        async def read(stream: Any) -> None:
            with anyio.CancelScope(shield=True), pytest.raises(errors.NotServingError):
                await anext(stream)

        async def serve() -> None:
            async with batcher, anyio.create_task_group() as group:
                for stream in [batcher(i) for i in range(3)]:
                    group.start_soon(read, stream)
                await anyio.sleep_forever()

        with pytest.raises(BaseExceptionGroup) as caught:
            await serve()
        assert caught.value.split(CrashError)[1] is None
        assert batcher.stats().queued == batcher.stats().running == 0

    run(main)


@pytest.mark.parametrize("kind", ["error", "cancelled"])
def test_who_waits_for_draining_is_told_when_the_batcher_is_given_up(run: Runner, kind: str) -> None:
    async def main() -> None:
        model = Gated()
        batcher = Batcher(model, max_batch_size=1)
        drained = anyio.Event()

        async def drain() -> None:
            await batcher.drain()
            drained.set()

        async def serve(scope: anyio.CancelScope) -> None:
            with scope:
                async with batcher:
                    asking = Asking(batcher, group)
                    for i in range(3):
                        asking.ask(i, np.float32(i))
                    await model.begun(1)
                    group.start_soon(drain)
                    await settle()
                    assert not drained.is_set()
                    if kind == "error":
                        raise KeyError
                    scope.cancel()

        async with anyio.create_task_group() as group:
            if kind == "error":
                with pytest.raises(KeyError):
                    await serve(anyio.CancelScope())
            else:
                await serve(anyio.CancelScope())
            await drained.wait()

    run(main)
