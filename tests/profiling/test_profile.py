"""What a profile records of real work: the order of events, causes of waiting, and the files it writes."""

from __future__ import annotations

import asyncio
import contextvars
import json
import sys
import threading
import time
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray import testing
from aioarray._base import config
from aioarray._engine import engine, instruments
from aioarray.errors import DeviceError
from tests.promise.work import LOST, idle, products

if TYPE_CHECKING:
    from pathlib import Path

    from aioarray.profiling import Launch, Profile


def consistent(launches: tuple[Launch, ...]) -> None:
    """Whether everything is in order of time."""
    for launch in launches:
        times = [launch.enqueued, launch.runnable, launch.begun, launch.launched, launch.ready]
        known = [when for when in times if when is not None]
        assert known == sorted(known), launch
        if launch.awaited is not None and launch.ready is not None:
            assert launch.awaited >= launch.enqueued
        for earlier, later in pairwise(launch.phases):
            assert earlier.ended == later.begun
        for phase in launch.phases:
            assert phase.kind in {"compile", "inputs", "window", "worker", "hold", "run"}
            assert phase.seconds > 0
        assert all(parent < launch.index for parent in launch.parents)


async def mixed() -> Profile:
    """A chain, independent work, a jitted function, a failure, copies, a synchronous read, a held loop."""
    model = aio.jit(lambda x, w: aio.tanh(x @ w), name="model")
    with aio.profile() as p:
        w = aio.asarray(np.full((64, 64), 0.1, np.float32))
        x = await aio.device_put(np.ones((8, 64), np.float32))
        hidden = model(x, w)
        y = aio.sum(model(hidden, w), axis=0)
        z = products(3, 256)
        await aio.ready([y, z])
        await y.to_host()
        with testing.inject("INTERNAL: broken", match="exp"), pytest.raises(DeviceError):
            await aio.exp(y)
        with aio.sync_reads("allow"):
            float(aio.max(y))
        time.sleep(0.3)  # noqa: ASYNC251 (holds the loop, for the profile to see, also where its thread comes late)
        await asyncio.sleep(0.01)
    return p


@pytest.fixture(scope="module")
def profile() -> Profile:
    return asyncio.run(mixed())


def test_every_launch_is_there_in_order(profile: Profile) -> None:
    timeline = profile.timeline()
    consistent(timeline.launches)
    names = [launch.name for launch in timeline.launches]
    assert names == ["model", "model", "sum", "matmul", "matmul", "matmul", "exp", "max"]
    assert [launch.index for launch in timeline.launches] == list(range(8))
    assert all("work.py" in str(x.location) for x in timeline.launches if x.name == "matmul")
    states = {launch.name: launch.state for launch in timeline.launches}
    assert states == {"model": "finished", "sum": "finished", "matmul": "finished", "exp": "failed", "max": "finished"}
    assert timeline.launches[6].error == "INTERNAL: broken"
    assert timeline.seconds >= max(launch.ready or 0.0 for launch in timeline.launches)


def test_parents_are_the_launches_whose_results_were_read(profile: Profile) -> None:
    first, second, total, *chain = profile.timeline().launches[:6]
    assert second.parents in ((first.index,), ())  # unless the first was over by then
    assert total.parents in ((second.index,), ())
    assert [launch.parents for launch in chain[1:]] in ([(3,), (4,)], [(), (4,)], [(3,), ()], [(), ()])


def test_compiles_copies_reads_and_lag_are_there(profile: Profile) -> None:
    timeline = profile.timeline()
    compiled = {compile.name: compile for compile in timeline.compiles}
    assert compiled["model"].outcome in {"compiled", "loaded", "shared"}
    assert all(x.submitted <= x.begun <= x.ended for x in timeline.compiles)
    assert [copy.name for copy in timeline.copies if copy.nbytes == 256] == ["to_host"]
    assert "float32[8, 64]" in [copy.value for copy in timeline.copies]
    assert [(what, "test_profile.py" in str(where)) for _, what, where in timeline.sync_reads] == [
        ("float(array)", True)
    ]
    (lags,) = timeline.loops.values()
    assert max(lags) >= 0.04
    held = max(timeline.lags, key=lambda lag: lag.seconds if "in mixed" in str(lag.location) else 0.0)
    assert held.seconds >= 0.04


def test_awaits_end_with_their_launch_and_have_a_path(profile: Profile) -> None:
    timeline = profile.timeline()
    waits = [wait for wait in timeline.awaits if wait.kind == "await"]
    assert waits
    for wait in timeline.awaits:
        launch = timeline.launches[wait.launch]
        assert not wait.cancelled
        assert wait.ended >= wait.begun
        # Its last step is that of an input if both were seen to be over at the same moment.
        assert launch.ready is not None
        assert wait.path[-1].ended == pytest.approx(launch.ready, abs=1e-3)
        assert all(earlier.ended <= later.begun + 1e-9 for earlier, later in pairwise(wait.path))
        assert launch.awaited is not None
        assert "mixed" in str(wait.location) or "test_profile" in str(wait.location)


def test_the_trace_is_valid_and_complete(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    profile.save(path)
    trace = json.loads(path.read_text(encoding="utf-8"))
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} <= {"M", "X", "i", "b", "e", "s", "f"}
    for event in events:
        assert isinstance(event["pid"], int)
        if event["ph"] != "M":
            assert event["ts"] >= 0
            assert isinstance(event["tid"], int)
        if event["ph"] == "X":
            assert event["dur"] >= 0
    named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    assert {event["tid"] for event in events if event["ph"] in "Xisf"} <= named
    runs = [event for event in events if event.get("cat") == "run"]
    assert sorted(event["args"]["launch"] for event in runs) == [
        x.index for x in profile.timeline().launches if x.running is not None
    ]
    # Bars in one row do not overlap.
    for row in named:
        spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in runs if e["tid"] == row)
        assert all(a[1] <= b[0] + 0.01 for a, b in pairwise(spans))
    begins = [(e["id"], e["name"]) for e in events if e["ph"] == "b"]
    assert sorted(begins) == sorted((e["id"], e["name"]) for e in events if e["ph"] == "e")
    flows = [e["id"] for e in events if e["ph"] == "s"]
    assert sorted(flows) == sorted(e["id"] for e in events if e["ph"] == "f")


class Page(HTMLParser):
    """Collects what a page would load, and its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.scripts: list[str] = []
        self.open: list[str] = []
        self._script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.loads += [str(value) for name, value in attributes if name in {"src", "href", "action", "data"}]
        self._script = tag == "script"
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._script = False

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts.append(data)


def test_the_page_is_self_contained_and_has_the_data(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "trace.html"
    profile.html(path)
    text = path.read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == []
    assert page.open == []
    (script,) = page.scripts
    assert "http" not in text
    assert "import(" not in script
    line = next(line for line in script.splitlines() if line.startswith("const profile = "))
    data = json.loads(line.removeprefix("const profile = ").removesuffix(";"))
    texts = data["texts"]
    assert [texts[launch[0]] for launch in data["launches"]] == [x.name for x in profile.timeline().launches]
    assert len(data["awaits"]) == len(profile.timeline().awaits)
    assert "loop lag" in data["summary"]


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    function = aio.jit(lambda x: x + 1, name="</script><script>alert(1)</script><!--")
    with aio.profile() as p:
        function(aio.ones(2)).block_until_ready()
    p.html(tmp_path / "trace.html")
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 1
    assert len(Page(text).scripts) == 1


def test_the_summary_names_what_there_was(profile: Profile) -> None:
    text = profile.summary()
    for name in ("launches", "matmul", "model", "longest waits", "host copies", "to_host", "loop lag", "compiles"):
        assert name in text
    assert "8 launches (7 finished, 1 failed)" in text
    assert max(map(len, text.splitlines())) < 200


def test_an_empty_profile_can_be_written(tmp_path: Path) -> None:
    with aio.profile() as p:
        pass
    p.html(tmp_path / "trace.html")
    p.save(tmp_path / "trace.json")
    assert "0 launches" in p.summary()
    assert p.timeline().launches == ()


# Causes


def test_what_a_launch_waited_for() -> None:
    async def main() -> Profile:
        x = await aio.ones((3,))
        await ((x + 1) * 2)  # compiles
        fresh = aio.jit(lambda x: aio.cumulative_sum(x * 3.25) - 1, name="fresh")
        with aio.profile() as p:
            with testing.hold("add") as gate:
                held = x + 1
                dependent = held * 2
                await asyncio.sleep(0.02)
                gate.release()
                await dependent
            await fresh(x)
        return p

    launches = {launch.name: launch for launch in asyncio.run(main()).timeline().launches}
    assert launches["add"].seconds("hold") >= 0.02
    assert launches["multiply"].seconds("inputs") >= 0.02
    assert launches["multiply"].parents == (launches["add"].index,)
    assert launches["fresh"].seconds("compile") > 0


def test_a_full_window_is_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    products(1, 700).block_until_ready()
    idle()
    monkeypatch.setattr(engine.scheduler.window, "limit", 1)
    monkeypatch.setattr(engine.scheduler.window, "reserve", 0)
    with aio.profile() as p:
        with testing.hold() as gate:
            results = [products(1, 700) for _ in range(20)]
            gate.open()
        aio.block_until_ready(results)
    launches = p.timeline().launches
    assert len(launches) == 20
    consistent(launches)
    assert sum(launch.seconds("window") > 0 for launch in launches) >= 1
    assert {launch.row for launch in launches} == {0}  # never more than one at a time


def test_the_path_of_an_await_goes_through_its_inputs() -> None:
    async def main() -> Profile:
        x = aio.asarray(np.ones(3, np.float32))
        await aio.sin(x + 1)  # compiles
        with aio.profile() as p, testing.delay(0.02, match="add"):
            y = aio.sin((x + 1) + 1)
            x * 2
            await y
        return p

    timeline = asyncio.run(main()).timeline()
    wait = next(wait for wait in timeline.awaits if wait.name == "sin")
    kinds = [(step.kind, step.name) for step in wait.path]
    assert list(dict.fromkeys(name for _, name in kinds)) == ["add", "sin"]
    assert kinds.count(("hold", "add")) == 2
    assert sum(step.seconds for step in wait.path) >= 0.04
    assert "multiply" not in [name for _, name in kinds]


# Scope


def test_everything_in_the_process_is_recorded() -> None:
    async def other(x: aio.Array, go: asyncio.Event) -> None:
        await go.wait()
        await (x + 1)

    async def main() -> Profile:
        x, go = await aio.ones(3), asyncio.Event()
        before = asyncio.create_task(other(x, go))
        with aio.profile() as p:
            go.set()
            await before
            thread = threading.Thread(target=lambda: (x * 2).block_until_ready())
            thread.start()
            thread.join(LOST)
            contextvars.Context().run(lambda: x - 1)
            await aio.run_sync(lambda: aio.sin(x).block_until_ready())
        x / 2
        return p

    assert [x.name for x in asyncio.run(main()).timeline().launches] == ["add", "multiply", "subtract", "sin"]


def test_profiles_nest_and_end() -> None:
    x = aio.ones(3).block_until_ready()
    with aio.profile() as outer:
        x + 1
        with aio.profile() as inner:
            x * 2
        x - 1
    assert [launch.name for launch in outer.timeline().launches] == ["add", "multiply", "subtract"]
    assert [launch.name for launch in inner.timeline().launches] == ["multiply"]
    assert not instruments.state.active
    assert not [thread for thread in threading.enumerate() if thread.name == "aioarray-loop-watch"]
    with pytest.raises(RuntimeError, match="make another one"), inner:
        pass


def test_a_profile_may_be_read_while_it_runs() -> None:
    x = aio.ones(3).block_until_ready()
    (x * 3).block_until_ready()  # compiled, so that below it waits for the gate and for nothing else
    p = aio.profile()
    assert "not begun" in repr(p)
    with pytest.raises(RuntimeError, match="nothing recorded"):
        p.timeline()
    with p:
        x + 1
        assert len(p.timeline().launches) == 1
        x + 1
        assert len(p.timeline().launches) == 2
        assert "running" in repr(p)
        with testing.hold() as gate:
            y = x * 3
            assert p.timeline().launches[-1].state == "queued"
            assert p.timeline().launches[-1].phases[0].kind == "hold"
            gate.release()
        y.block_until_ready()
    assert p.timeline() is p.timeline()
    assert "done" in repr(p)


def test_loops_that_come_later_are_watched_too_and_those_of_one_thread_together() -> None:
    async def work() -> None:
        x = aio.ones(3)
        with testing.delay(0.01):
            y = x + 1
        await y
        # Until it was looked at; each loop is looked at by a thread of its own.
        while not all(watch.lags for watch in p._recorder.watches.values()):  # type: ignore[union-attr]
            await anyio.lowlevel.checkpoint()

    with aio.profile() as p:
        for looks in range(1, 4):
            asyncio.run(work())
            assert len(p._recorder.watches) == looks  # type: ignore[union-attr]
        trio.run(work)
    assert len(p._recorder.watches) == 4  # type: ignore[union-attr]
    (lags,) = p.timeline().loops.values()
    assert len(lags) == sum(len(watch.lags) for watch in p._recorder.watches.values())  # type: ignore[union-attr]


def test_cancelled_awaits_are_marked() -> None:
    async def main() -> Profile:
        x = await aio.ones(3)
        with aio.profile() as p, testing.hold() as gate:
            y = x + 1
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await y
            gate.release()
            await y
        return p

    waits = asyncio.run(main()).timeline().awaits
    assert [wait.cancelled for wait in waits] == [True, False]


def test_dropped_work_is_recorded_as_dropped() -> None:
    x = aio.ones(3).block_until_ready()
    with testing.hold(), aio.profile() as p:
        y = x + 1
        del y
        (launch,) = p.timeline().launches
        assert launch.state == "dropped"
        z = x + 2
        del z
    launches = p.timeline().launches
    assert [launch.state for launch in launches] == ["dropped", "dropped"]
    assert [launch.running for launch in launches] == [None, None]


# Overhead, in counts


@pytest.fixture
def fast_path() -> None:
    """Skips a test of the fast path where there is none any more."""
    if config.overridden():
        pytest.skip("an earlier test in this process has set other default dtypes, which closes the fast path for good")


@pytest.mark.usefixtures("fast_path")
def test_tiny_operations_stay_on_the_fast_path() -> None:
    idle()
    x = aio.ones(3).block_until_ready()
    for _ in range(40):  # until it is known to be over when it returns
        (x + 1).block_until_ready()
    before = engine.scheduler.inline
    for _ in range(100):
        x + 1
    assert engine.scheduler.inline == before + 100  # all of them took the fast path
    with aio.profile() as p:
        for _ in range(100):
            x + 1
        with testing.count():  # which wants to see more of them than that
            for _ in range(100):
                x + 1
        for _ in range(100):
            x + 1
    assert engine.scheduler.inline == before + 300
    launches = p.timeline().launches
    assert len(launches) == 300
    assert [launch.location is None for launch in launches] == [True] * 100 + [False] * 100 + [True] * 100


@pytest.mark.usefixtures("fast_path")
def test_a_recorded_launch_makes_a_bounded_number_of_python_calls() -> None:
    x = aio.ones(3).block_until_ready()
    for _ in range(40):  # until it is known to be over when it returns
        (x + 1).block_until_ready()

    def calls(function: Any) -> int:
        count = 0

        def trace(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        function()
        sys.setprofile(trace)
        try:
            function()
        finally:
            sys.setprofile(None)
        return count

    off = calls(lambda: x + 1)
    with aio.profile():
        on = calls(lambda: x + 1)
    with aio.profile(), testing.count():
        seen = calls(lambda: x + 1)
    assert off <= 8
    assert on <= off + 1
    assert seen <= 120
