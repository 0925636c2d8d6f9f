"""``explain``: every reason there is for an Array not to be ready, in words."""

from __future__ import annotations

import os
import re
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import testing
from aioarray._array import enqueue
from aioarray._engine import CompiledProgram, Program, engine
from aioarray._engine.cost import DEAR, LaunchClass
from aioarray._engine.launch import FINISHED, LAUNCHED, QUEUED
from aioarray._engine.workers import WORKERS
from aioarray._graph import array_spec
from aioarray._xla import Cost
from aioarray.errors import DeviceError
from aioarray.profiling import _explain
from tests.promise.work import LOST, idle, products


class Slow:
    """Stands in for an executable: its launch takes until the test says so."""

    def __init__(self, count: int = 1) -> None:
        self.go = threading.Event()
        self.begun = threading.Semaphore(0)
        self._results = [engine.device() for _ in range(count)]

    def execute(self, arguments: object) -> Slow:
        self.begun.release()
        assert self.go.wait(LOST)
        return self

    def consume_with_handlers(self, handlers: object) -> list[Any]:
        return [aio.zeros(4).block_until_ready()._buffer]

    def __call__(self, name: str) -> aio.Array:
        device = engine.device()
        spec = array_spec((4,), np.dtype(np.float32), device)
        program = Program(name, None, device, (), (spec,), bounded=False, may_fail=True)
        launch_class = LaunchClass(Cost(0.0, 0.0, 0.0), bounded=False)
        launch_class.current = DEAR
        program.compiled = CompiledProgram(self.execute, [], launch_class)
        program.requested = True
        (array,) = enqueue(program, [])
        return array


@pytest.fixture(autouse=True)
def _idle() -> None:
    idle()


def test_what_is_over() -> None:
    x = aio.ones(3).block_until_ready()
    assert aio.explain(x) == "ready"
    with testing.inject("INTERNAL: broken"):
        y = x + 1
    with pytest.raises(DeviceError):
        y.block_until_ready()
    text = aio.explain(y)
    assert text.startswith("failed: add, enqueued at ")
    assert "test_explain.py" in text
    assert text.endswith("INTERNAL: broken")
    x.delete()
    assert aio.explain(x) == "deleted: its value is gone"
    with pytest.raises(TypeError, match="needs an Array, this is a int"):
        aio.explain(3)  # type: ignore[arg-type]


def test_what_is_held_and_what_waits_for_it() -> None:
    x = aio.ones(3).block_until_ready()
    with testing.hold("add"):
        y = x + 1
        z = y * 2
        assert re.fullmatch(
            r"`add` \(enqueued at .*test_explain.py:\d+ in .*\) is held by testing.hold\(\)", aio.explain(y)
        )
        assert aio.explain(z).endswith("waits for its input `add`, which is held by testing.hold()")
        chain = z
        for _ in range(10):
            chain = chain * 2
        assert aio.explain(chain).count("waits for its input") == 5  # and no more of it
        both = y * z
        assert "waits for its input `add` and 1 more" in aio.explain(both)
        same = y * y
        assert "more" not in aio.explain(same)


def test_what_is_delayed() -> None:
    x = aio.ones(3).block_until_ready()
    (x + 1).block_until_ready()  # compiled
    with testing.delay(0.2):
        y = x + 1
    assert aio.explain(y).endswith("is delayed by testing.delay()")
    y.block_until_ready()


def test_what_waits_for_a_compile() -> None:
    started, go = threading.Event(), threading.Event()
    compiler = engine.compiler

    class Stuck:
        """Occupies the compile workers."""

        def wake(self) -> None:
            started.set()
            assert go.wait(LOST)

    workers = os.cpu_count() or 1
    stuck = []
    for number in range(workers):
        started.clear()
        lowered = aio.jit(lambda x, n=number: x * 2.5 + n, name=f"stuck{number}").lower(aio.ShapeDtype(3, "float32"))
        program = lowered._program
        assert program is not None
        assert compiler.add_waiter(program, Stuck())
        compiler.submit(program)
        assert started.wait(LOST)
        stuck.append(lowered)
    try:
        x = aio.asarray(np.ones(3, np.float32))
        functions = [aio.jit(lambda x, n=n: x * 3.5 + n, name=f"queued{n}") for n in range(6)]
        results = [function(x) for function in functions]
        assert aio.explain(results[0]).endswith("waits for the compile of `queued0`, which is about to begin")
        assert aio.explain(results[2]).endswith(
            "waits for the compile of `queued2`, 3rd in the queue behind `queued0`, `queued1`"
        )
        assert aio.explain(results[5]).endswith(
            "waits for the compile of `queued5`, 6th in the queue behind `queued0`, `queued1`, `queued2` and 2 more"
        )
    finally:
        go.set()
    aio.block_until_ready(results)
    assert len(stuck) == workers


def test_what_waits_for_a_launch_worker_and_what_is_being_launched() -> None:
    slow = Slow(WORKERS)
    first, *others = [slow("first") for _ in range(WORKERS)]
    for _ in range(WORKERS):
        assert slow.begun.acquire(timeout=LOST)
    third, fourth = slow("third"), slow("fourth")
    try:
        assert "`first`" in aio.explain(first)
        assert aio.explain(first).endswith("is just being launched by a worker thread, inside which it may run")
        assert aio.explain(third).endswith("waits for a launch worker, 1st in the queue")
        assert aio.explain(fourth).endswith("waits for a launch worker, 2nd in the queue behind `third`")
    finally:
        slow.go.set()
    aio.block_until_ready([first, *others, third, fourth])


class Stands:
    """Stands in for a launch."""

    origin = None

    def __init__(self, state: int, *inputs: Stands, begun: float | None = None, name: str = "f") -> None:
        self.state = state
        self.sources = [SimpleNamespace(launch=x, buffer=None) for x in inputs]
        self.begun = begun
        self.program = SimpleNamespace(name=name, compiled=len, donated=())
        self.observer: Any = SimpleNamespace(held=False, holds=0, fault=None)


def launch(state: int, *inputs: Any, **fields: Any) -> Any:
    return Stands(state, *inputs, **fields)


def test_what_is_with_the_device() -> None:
    text = _explain._state(launch(LAUNCHED, begun=time.perf_counter() - 0.012), 4)
    found = re.fullmatch(r"has been running for (\d+) ms", text)
    assert found is not None, text
    assert int(found[1]) >= 12
    assert re.fullmatch(r"has been running for \d+ s", _explain._state(launch(LAUNCHED, begun=-100.0), 4))
    assert _explain._state(launch(LAUNCHED), 4) == "is running"
    waiting = launch(LAUNCHED, launch(LAUNCHED, name="g"))
    assert _explain._state(waiting, 4) == "is launched and waits for its input `g`, which is running"
    assert _explain._state(launch(FINISHED), 4) == "is finished"


def test_what_waits_for_a_place_in_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    before: tuple[list[str], str] | None = (["g", "h"], "32 launches run already")
    scheduler = SimpleNamespace(before=lambda launch: before)
    monkeypatch.setattr(_explain, "engine", SimpleNamespace(scheduler=scheduler))
    queued = launch(QUEUED)
    assert _explain._state(queued, 4) == (
        "waits to be launched, 3rd in the queue behind `g`, `h`: 32 launches run already"
    )
    before = None
    assert _explain._state(queued, 4) == "is about to be launched"
    queued.observer.held = True
    assert _explain._state(queued, 4) == "is delayed by testing.delay()"


def test_a_compile_that_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = SimpleNamespace(progress=lambda program: ([], 0.012))
    monkeypatch.setattr(_explain, "engine", SimpleNamespace(compiler=compiler))
    queued = launch(QUEUED)
    queued.program.compiled = None
    assert _explain._state(queued, 4) == "waits for the compile of `f`, which has been going on for 12 ms"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (13, "13th"),
        (21, "21st"),
        (92, "92nd"),
    ],
)
def test_places_in_a_queue(number: int, text: str) -> None:
    assert _explain._place(["x"] * (number - 1)).startswith(f"{text} in the queue")


def test_what_runs_and_what_waits_for_a_place() -> None:
    x = products(1, 64).block_until_ready()
    assert aio.explain(x) == "ready"
    running = products(60, 700)
    text = aio.explain(running)
    assert re.search(r"has been running for \d+ ms|is running|is about to be launched|waits ", text), text
    running.block_until_ready()
    assert aio.explain(running) == "ready"
