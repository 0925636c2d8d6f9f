"""Loading, replacing and unloading models while others serve."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aioarray as aio
from aioarray.serving import Model, NotReadyError, Registry
from tests.serving.clients import Held, affine

if TYPE_CHECKING:
    from aioarray.serving.batching.statistics import BatcherStats


@pytest.mark.asyncio
async def test_two_loads_of_one_model_leave_one() -> None:
    async with Registry({"affine": affine}) as registry:
        await registry.settled.wait()
        await asyncio.gather(*(registry.load("affine") for _ in range(3)))
        assert len(registry.models()) == 1
        assert registry.ready
        with pytest.raises(LookupError):
            await registry.load("other")
        await registry.unload("affine")
        with pytest.raises(LookupError):
            registry.get("affine")
    with pytest.raises(NotReadyError):
        await Registry([]).load(affine())


@pytest.mark.asyncio
async def test_counts_outlive_replacing_unloading_and_the_end() -> None:
    held = Held("held")
    x = {"x": np.ones((1, 1), "float32")}
    async with Registry({"held": held.model}) as registry:
        await registry.settled.wait()

        def stats() -> BatcherStats:
            return registry.stats()["held", "1"]

        await registry.get("held").infer(x)
        held.close()
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(registry.get("held").infer(x))
            await held.arrived.wait()
            await registry.load(affine())  # beside it
            unloading = group.create_task(registry.unload("held"))
            await asyncio.sleep(0)
            with pytest.raises(LookupError):
                registry.get("held")
            assert (stats().completed, stats().running) == (1, 1)  # nobody finds it, and it answers what it accepted
            held.opened.set()
            await answer
            await unloading
        assert (stats().completed, stats().running, stats().ready) == (2, 0, False)
        await registry.load("held")
        assert (stats().completed, stats().ready) == (2, True)
        await registry.get("held").infer(x)
        await registry.load("held")
        assert (stats().completed, stats().ready) == (3, True)
        await registry.get("held").infer(x)
    assert (stats().completed, stats().ready) == (4, False)
    assert not registry._serving


@pytest.mark.asyncio
async def test_a_version_that_fails_leaves_the_others_alone() -> None:
    def broken(x: aio.Array) -> aio.Array:
        raise RuntimeError("no weights")

    async with Registry([affine()]) as registry:
        await registry.settled.wait()
        with pytest.raises(NotReadyError, match="no weights"):
            await registry.load(Model("affine", broken, {"x": aio.ShapeDtype((3,), "float32")}, version="2"))
        assert registry.ready
        assert registry.versions("affine") == ["1"]


@pytest.mark.asyncio
async def test_a_version_that_is_loaded_beside_others_takes_nothing_away() -> None:
    held = Held("affine", version="2")
    async with Registry([affine()]) as registry, asyncio.TaskGroup() as group:
        await registry.settled.wait()
        held.close()
        loading = group.create_task(registry.load(held.model))
        await held.arrived.wait()
        assert registry.versions("affine") == ["1", "2"]
        assert registry.ready
        await registry.unload("affine", "1")
        assert not registry.ready  # nothing is there
        held.opened.set()
        await loading
        assert registry.ready


@pytest.mark.asyncio
async def test_a_model_that_could_not_be_started_is_missed_until_it_is_there_or_unloaded() -> None:
    broken = True

    def make() -> Model:
        if broken:
            raise RuntimeError("no weights")
        return affine("other")

    for mend in (True, False):
        broken = True
        async with Registry({"affine": affine, "other": make}) as registry:
            await registry.settled.wait()
            assert registry.failures == {"other": "no weights"}
            assert [row["reason"] for row in registry.index() if row["name"] == "other"] == ["no weights"]
            assert not registry.ready
            if mend:
                broken = False
                await registry.load("other")
                assert len(registry.models()) == 2
            else:
                await registry.unload("other")
                with pytest.raises(LookupError):
                    await registry.unload("other")
            assert registry.ready
            assert registry.failures == {}


@pytest.mark.asyncio
async def test_a_model_that_is_unloaded_while_it_starts_is_not_missed() -> None:
    held = Held("held")
    held.close()
    async with Registry([held.model, affine()]) as registry:
        await held.arrived.wait()
        await registry.unload("held")
        await registry.settled.wait()
        assert registry.failures == {}
        assert registry.ready


@pytest.mark.asyncio
async def test_a_model_has_one_name() -> None:
    async with Registry({"one": affine("two"), "three": lambda: affine("four")}) as registry:
        await registry.settled.wait()
        assert registry.failures == {
            "one": "the model 'two' is called 'one' in the mapping of models; give it one name",
            "three": "the model 'four' is called 'three' in the mapping of models; give it one name",
        }


@pytest.mark.asyncio
async def test_nothing_is_loaded_when_the_server_has_gone_down() -> None:
    async with Registry({"affine": affine}) as registry:
        await registry.settled.wait()
    with pytest.raises(NotReadyError, match="going down"):
        await registry.load("affine")
