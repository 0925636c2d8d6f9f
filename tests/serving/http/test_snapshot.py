"""The numbers of several processes as those of one server: what is added, what is not, and what outlives a process."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import anyio
import numpy as np
import prometheus_client
import pytest

from aioarray.serving.http.siblings import SUFFIX, Siblings, end, siblings
from aioarray.serving.http.snapshot import ended, merged, snapshot, to_json
from aioarray.serving.http.status import Collector
from tests.serving.clients import affine, letters, serving, tensor
from tests.serving.runners import on_asyncio

if TYPE_CHECKING:
    from pathlib import Path

BODY = {"inputs": [tensor([1, 2, 3], (1, 3))]}


async def numbers_of_one() -> dict[str, Any]:
    async with serving([affine(), letters()]) as (app, client):
        for _ in range(3):
            assert (await client.post("/v2/models/affine/infer", json=BODY)).status_code == 200
        assert (await client.post("/v2/models/other/infer", json=BODY)).status_code == 404
        # As it is when it comes from another process.
        found: dict[str, Any] = pickle.loads(pickle.dumps(snapshot(app.state.server)))
        return found


@pytest.fixture(scope="module")
def one() -> dict[str, Any]:
    found: dict[str, Any] = on_asyncio(numbers_of_one)
    return found


def model(numbers: dict[str, Any], name: str = "affine") -> dict[str, Any]:
    (row,) = [row for row in numbers["models"] if row["name"] == name]
    found: dict[str, Any] = row
    return found


def another(numbers: dict[str, Any], **server: Any) -> dict[str, Any]:
    other = copy.deepcopy(numbers)
    other["server"] |= {"worker": "1", "process": 7, **server}
    other["workers"][0] |= {"worker": "1", "process": 7}
    return other


def value(numbers: dict[str, Any], name: str, **labels: str) -> float | None:
    registry = prometheus_client.CollectorRegistry()
    registry.register(Collector(numbers))
    found: float | None = registry.get_sample_value(name, labels)
    return found


AFFINE = {"model": "affine", "version": "1"}


def test_one_process_alone_stays_as_it_is(one: dict[str, Any]) -> None:
    assert merged([one]) == one


def test_counts_are_added(one: dict[str, Any]) -> None:
    both = merged([one, another(one)])
    assert [worker["process"] for worker in both["workers"]] == [one["server"]["process"], 7]
    assert both["server"]["process"] == one["server"]["process"]
    assert both["server"]["answers"] == {status: 2 * count for status, count in one["server"]["answers"].items()}
    assert both["server"]["answers"]["404"] == 2
    assert both["device"] == {name: 2 * count for name, count in one["device"].items()}
    alone, together = model(one)["stats"], model(both)["stats"]
    for name in ("accepted", "completed", "batches", "rows", "queued"):
        assert getattr(together, name) == 2 * getattr(alone, name)
    for name in ("batch_rows", "queue_seconds", "batch_seconds"):
        assert getattr(together, name).counts == [2 * count for count in getattr(alone, name).counts]
        assert getattr(together, name).total == 2 * getattr(alone, name).total
        assert getattr(together, name).bounds == getattr(alone, name).bounds
    assert both["http_seconds"].counts == [2 * count for count in one["http_seconds"].counts]
    bucket = together.buckets["1"]
    assert bucket.batches == 2 * alone.buckets["1"].batches
    # Of parts and means nothing is added.
    assert bucket.padding_waste == pytest.approx(alone.buckets["1"].padding_waste)
    assert bucket.mean_seconds == pytest.approx(alone.buckets["1"].mean_seconds)
    assert len(both["models"]) == 2
    assert value(both, "aioarray_requests_total", outcome="completed", **AFFINE) == 2 * alone.completed
    assert value(both, "aioarray_batch_rows_count", **AFFINE) == 2 * alone.batches
    assert value(both, "aioarray_http_responses_total", status="404") == 2
    assert value(both, "aioarray_http_seconds_count") == 2 * one["http_seconds"].count
    assert value(both, "aioarray_workers") == 2


def test_of_times_the_longest_is_told(one: dict[str, Any]) -> None:
    other = another(one, seconds=one["server"]["seconds"] + 100)
    other["loop_lag"] = {"latest": 2.0, "p50": 0.0, "p99": 3.0, "most": 4.0, "stalls": 5}
    model(other)["stats"].running_seconds = 6.0
    both = merged([one, other])
    assert both["loop_lag"]["p99"] == 3.0
    assert both["loop_lag"]["p50"] == one["loop_lag"]["p50"]
    assert both["loop_lag"]["stalls"] == one["loop_lag"]["stalls"] + 5
    assert both["server"]["seconds"] == other["server"]["seconds"]
    assert model(both)["stats"].running_seconds == 6.0


def test_it_is_ready_when_all_are(one: dict[str, Any]) -> None:
    other = another(one, ready=False)
    row = model(other)
    row |= {"state": "LOADING", "reason": ""}
    del row["stats"]
    both = merged([one, other])
    assert not both["server"]["ready"]
    assert model(both)["state"] == "LOADING"
    assert model(both)["stats"].completed == model(one)["stats"].completed
    assert not model(both)["stats"].ready
    assert merged([one, another(one)])["server"]["ready"]
    assert model(merged([one, another(one)]))["stats"].ready


def test_a_model_that_one_of_them_has(one: dict[str, Any]) -> None:
    other = another(one)
    other["models"] = [{"name": "affine", "version": "", "state": "UNAVAILABLE", "reason": "unloaded"}]
    for parts in ([one, other], [other, one]):
        both = merged(parts)
        assert {(row["name"], row["version"]) for row in both["models"]} == {("affine", "1"), ("letters", "1")}


def test_what_a_process_has_counted_outlives_it(one: dict[str, Any]) -> None:
    other = another(one, running=3)
    other["device"]["pending"] = 4
    stats = model(other)["stats"]
    stats.queued, stats.running, stats.running_seconds = 5, 1, 6.0
    other["loop_lag"] |= {"latest": 7.0, "stalls": 2}
    gone = ended(other)
    both = merged([one, gone])
    assert both["server"]["ready"]
    assert not both["ended"]
    assert both["workers"] == one["workers"]
    assert both["server"]["running"] == one["server"]["running"]
    assert both["device"]["pending"] == one["device"]["pending"]
    assert both["device"]["launched"] == 2 * one["device"]["launched"]
    assert both["loop_lag"] == {**one["loop_lag"], "stalls": one["loop_lag"]["stalls"] + 2}
    stats = model(both)["stats"]
    assert stats.completed == 2 * model(one)["stats"].completed
    assert (stats.queued, stats.running, stats.running_seconds) == (0, 0, 0.0)
    assert stats.ready
    # A model that nobody has any more keeps its counts, too.
    here = copy.deepcopy(one)
    here["models"] = [row for row in here["models"] if row["name"] != "affine"]
    left = model(merged([here, gone]))
    assert left["state"] == "UNAVAILABLE"
    assert left["stats"].completed == model(one)["stats"].completed
    assert not left["stats"].ready
    assert merged([gone])["ended"]
    assert not merged([gone])["server"]["ready"]


@pytest.mark.asyncio
async def test_a_model_that_was_unloaded_is_told_with_what_it_counted() -> None:
    async with serving({"affine": affine}) as (app, client):
        assert (await client.post("/v2/models/affine/infer", json=BODY)).status_code == 200
        await app.state.registry.unload("affine")
        (row,) = snapshot(app.state.server)["models"]
        assert (row["version"], row["state"], row["stats"].completed) == ("1", "UNAVAILABLE", 1)
        await app.state.registry.load("affine")
        (row,) = snapshot(app.state.server)["models"]
        assert (row["version"], row["state"], row["stats"].completed) == ("1", "READY", 1)


def test_as_json_they_have_every_field_and_what_follows_from_them(one: dict[str, Any]) -> None:
    told = model(json.loads(to_json(one)))["stats"]
    stats = model(one)["stats"]
    assert told["completed"] == stats.completed
    assert sum(told["batch_rows"]["counts"]) == stats.batches
    assert told["buckets"]["1"]["mean_seconds"] == stats.buckets["1"].mean_seconds
    assert told["buckets"]["1"]["padding_waste"] == stats.buckets["1"].padding_waste
    assert np.isfinite(stats.queue_seconds.mean)


def test_places(one: dict[str, Any], tmp_path: Path) -> None:
    """Each tells its numbers to the others; what a process had counted stays when it has ended."""
    completed = model(one)["stats"].completed
    places = [tmp_path / f"{n}{SUFFIX}" for n in range(4)]

    async def main() -> None:
        first = Siblings(places[0])
        assert model(await first.merged(one))["stats"].completed == completed  # the others have not said anything
        assert not await first.any_ready()
        for deaths, place in enumerate(places[1:]):
            await told(Siblings(place), another(one))
            both = await first.merged(one)
            assert model(both)["stats"].completed == (2 + deaths) * completed
            assert len(both["workers"]) == 2
            assert await first.any_ready()
            end(place)
            alone = await first.merged(one)
            assert model(alone)["stats"].completed == (2 + deaths) * completed
            assert len(alone["workers"]) == 1
            assert not await first.any_ready()
        end(tmp_path / "9.numbers")  # of one that has died before it published

    on_asyncio(main)


async def told(place: Siblings, numbers: dict[str, Any]) -> None:
    """Return once ``place`` has told its numbers."""
    published = anyio.Event()
    asked = 0

    def ask() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == 2:
            published.set()  # those of the first time
        return numbers

    async with place.publishing(ask):
        await published.wait()


def test_a_place_that_cannot_be_written_to_is_told_and_nobody_is_kept_from_serving(
    one: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        place = Siblings(tmp_path / "gone" / "0.numbers")
        again = anyio.Event()

        def ask() -> dict[str, Any]:
            if caplog.messages:
                again.set()
            return one

        async with place.publishing(ask):
            await again.wait()
        assert await place.merged(one) == one

    on_asyncio(main)
    assert "cannot be told to the others" in caplog.messages[0]


def test_a_process_alone_has_no_siblings() -> None:
    assert siblings() is None
