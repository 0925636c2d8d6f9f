"""In a coroutine, reading a value that was not awaited follows the policy, and the outcome is the same every run."""

from __future__ import annotations

import asyncio
import operator
import pickle
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio
from tests.promise.work import products

if TYPE_CHECKING:
    from collections.abc import Callable

READS: dict[str, Callable[[aio.Array], object]] = {
    "bool": lambda x: bool(x),
    "int": lambda x: int(x),
    "float": lambda x: float(x),
    "complex": lambda x: complex(x),
    "index": operator.index,
    "asarray": np.asarray,
    "equal in if": lambda x: 1 if x == 1 else 0,
    "in": lambda x: 1 in x.reshape(1),
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "pickle": pickle.dumps,
    "format": lambda x: f"{x:3d}",
}


def fresh() -> aio.Array:
    """A result of 0 dimensions that nobody has awaited."""
    return aio.asarray(3) - aio.asarray(2)


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
def test_raises(read: Callable[[aio.Array], object]) -> None:
    async def main() -> None:
        with aio.sync_reads("raise"):
            for _ in range(20):
                x = fresh()
                with pytest.raises(aio.errors.SyncReadError, match="await"):
                    read(x)

    asyncio.run(main())


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
def test_warns_at_the_line_of_the_caller(read: Callable[[aio.Array], object]) -> None:
    async def main() -> None:
        with aio.sync_reads("warn"):
            for _ in range(20):
                x = fresh()
                with pytest.warns(aio.errors.SyncReadWarning, match="await") as caught:
                    read(x)
                assert len(caught) == 1
                assert caught[0].filename in (__file__, operator.__file__, pickle.__file__)

    asyncio.run(main())


@pytest.mark.parametrize("read", READS.values(), ids=list(READS))
def test_is_silent_when_allowed_awaited_or_off_the_loop(read: Callable[[aio.Array], object]) -> None:
    async def main() -> None:
        with aio.sync_reads("allow"):
            read(fresh())
        with aio.sync_reads("raise"):
            if read is not READS["equal in if"] and read is not READS["in"]:  # those make a result of their own
                read(await fresh())
                read(fresh().block_until_ready())
            await aio.run_sync(read, fresh())

    asyncio.run(main())
    with aio.sync_reads("raise"):
        read(fresh())


def test_being_ready_by_luck_changes_nothing() -> None:
    async def main() -> None:
        x = fresh()
        await aio.run_sync(aio.block_until_ready, x + 0)
        assert x.is_ready()
        with aio.sync_reads("raise"), pytest.raises(aio.errors.SyncReadError):
            bool(x)

    asyncio.run(main())


def test_what_was_made_of_host_values_may_be_read() -> None:
    async def main() -> None:
        with aio.sync_reads("raise"):
            assert float(aio.asarray(2.5)) == 2.5
            assert (await aio.device_put(np.arange(3))).tolist() == [0, 1, 2]

    asyncio.run(main())


def test_ready_and_to_host_count_as_awaiting() -> None:
    async def main() -> None:
        with aio.sync_reads("raise"):
            x, y, z = fresh(), fresh(), fresh()
            await aio.ready([x])
            await aio.to_host({"y": y})
            async for done in aio.as_completed([z]):
                assert int(done) == 1
            assert int(x) == int(y) == 1

    asyncio.run(main())


@pytest.mark.aioarray(sync_reads=None)  # what the suite's configuration says is not the default
def test_the_default_is_to_warn() -> None:
    async def main() -> None:
        with pytest.warns(aio.errors.SyncReadWarning):
            int(fresh())

    asyncio.run(main())


def test_a_call_sets_the_default_and_with_scopes_it_to_a_task() -> None:
    seen: list[str] = []

    async def strict(entered: asyncio.Event) -> None:
        with aio.sync_reads("raise"):
            entered.set()
            await asyncio.sleep(0)
            with pytest.raises(aio.errors.SyncReadError):
                int(fresh())
            seen.append("strict")

    async def lax(entered: asyncio.Event) -> None:
        await entered.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            int(fresh())
        seen.append("lax")

    async def main() -> None:
        entered = asyncio.Event()
        await asyncio.gather(strict(entered), lax(entered))

    aio.sync_reads("allow")
    try:
        asyncio.run(main())
    finally:
        aio.sync_reads("warn")
    assert sorted(seen) == ["lax", "strict"]


def test_another_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="allow, warn, raise"):
        aio.sync_reads("never")  # type: ignore[arg-type]


def test_metadata_and_repr_do_not_wait_in_a_loop() -> None:
    async def main() -> None:
        with aio.sync_reads("raise"):
            x = products(50)
            start = time.perf_counter()
            text = repr(x)
            assert x.shape == (1024, 1024)
            assert x.dtype == aio.float32
            assert str(x) == text
            # Generous: waiting for the products would take a hundred times as long.
            assert time.perf_counter() - start < 0.05
            assert "pending" in text
            assert "(1024, 1024)" in text
            assert "float32" in text
            assert not x.is_ready()
            x.delete()
            y = await fresh()
            assert repr(y) == "Array(1, dtype=int32)"

    asyncio.run(main())


def test_repr_waits_outside_a_loop() -> None:
    assert repr(aio.asarray([1.0, 2.0]) + 1) == "Array([2., 3.], dtype=float32)"
    assert str(aio.asarray([1.0, 2.0]) + 1) == "[2. 3.]"
