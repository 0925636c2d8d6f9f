"""The compile service: equal programs once, in parallel, off the caller's thread, and failures to whoever waits."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import _xla
from aioarray._engine import Compiler, Program, ProgramCache, Threads, budget
from aioarray._engine.compiler import content_key
from aioarray._graph import Graph, Op, array_spec, input_node
from aioarray._ops._primitives import add, multiply

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST = 60.0


class Service:
    """A compile service beside the process's own."""

    def __init__(self) -> None:
        self.threads = Threads()
        self.programs = ProgramCache()
        self.compiler = Compiler(self.threads, self.programs)
        self.compiler.set_directory(None)
        self.compiler.report_to(self._through)
        self.through: list[Program] = []
        self.on_threads: set[str] = set()
        self._changed = threading.Condition()
        self.threads.open([])

    def _through(self, program: Program) -> None:
        with self._changed:
            self.through.append(program)
            self.on_threads.add(threading.current_thread().name)
            self._changed.notify_all()

    def wait_for(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.through) >= count, LOST)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.compiler.close()
    made.threads.join()


def program(number: float, *, name: str = "program", length: int = 3, steps: int = 1, **options: Any) -> Program:
    """``x * number + x``, some times."""
    device = _xla.default_device()
    x = input_node(array_spec((length,), np.dtype(np.float32)))
    result = x
    for _ in range(steps):
        result = add(multiply(result, number), x)
    specs = (result.spec.on(device),)
    return Program(name, Graph(name, (x,), (result,)), device, specs, specs, bounded=True, may_fail=False, **options)


def test_compiles_off_the_callers_thread(service: Service) -> None:
    one = program(1.25)
    service.compiler.submit(one)
    service.wait_for(1)
    assert service.through == [one]
    assert one.compiled is not None
    assert one.graph is None  # not needed any more
    assert all("compile" in name for name in service.on_threads)
    assert (service.compiler.compiles, service.compiler.hits) == (1, 0)


def test_the_same_program_is_compiled_once(service: Service) -> None:
    one = program(2.25)
    for _ in range(5):
        service.compiler.submit(one)
    service.compiler.submit(program(3.25))
    service.wait_for(2)
    assert len(service.through) == 2


def test_equal_programs_in_flight_compile_once(service: Service) -> None:
    programs = [program(4.25, name=f"program {i}", steps=30) for i in range(20)]
    for each in programs:
        service.compiler.submit(each)
    service.wait_for(20)
    assert (service.compiler.compiles, service.compiler.hits) == (1, 19)
    assert len({id(each.compiled.executable) for each in programs}) == 1
    assert len({each.name for each in programs}) == 20


def test_dropped_executables_are_compiled_again(service: Service) -> None:
    service.compiler.submit(program(5.25))
    service.wait_for(1)
    service.through.clear()
    service.compiler.forget_recent()
    service.compiler.submit(program(5.25))
    service.wait_for(1)
    assert service.compiler.compiles == 2


def test_three_hundred_programs_at_once(service: Service) -> None:
    programs = [program(float(n), name=f"program {n}", length=n + 1) for n in range(300)]
    for each in programs:
        service.compiler.submit(each)
    service.wait_for(300)
    assert service.compiler.compiles == 300
    assert len(set(map(id, service.through))) == 300
    # No more workers than cores, and more than one of them had work.
    cores = os.cpu_count() or 1
    assert min(2, cores) <= len(service.on_threads) <= cores


def test_content_tells_programs_apart() -> None:
    def key(made: Program, text: bytes = b"module @a {\nbody\n}") -> str:
        return content_key(text, made)

    base = key(program(1.0))
    assert key(program(2.0), b"module @b {\nbody\n}") == base  # the name is not a part of it
    assert key(program(1.0), b"module @a {\nother\n}") != base
    assert key(program(1.0, options=(("xla_cpu_enable_fast_math", True),))) != base
    assert key(program(1.0, options=(("xla_cpu_enable_fast_math", False),))) == base  # the default


def test_flags_of_the_environment_are_a_part_of_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    one = program(1.0)
    before = content_key(b"module\nbody", one)
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_xprof_traceme=true")
    assert content_key(b"module\nbody", one) != before


def test_what_xla_refuses_fails_the_program(service: Service) -> None:
    one, good = program(6.25, options=(("no_such_option", True),)), program(7.25)
    service.compiler.submit(one)
    service.compiler.submit(good)
    service.wait_for(2)
    assert one.compiled is None
    assert one.failure is not None
    error = one.failure.exception()
    assert isinstance(error, aio.errors.CompileError)
    assert "no_such_option" in str(error)
    assert good.compiled is not None
    assert service.compiler.failures == 1


def test_broken_lowering_rule_fails_the_program(service: Service) -> None:
    def lower(*_: Any) -> str:
        raise KeyError("forgotten")

    broken = Op("broken", lambda x: x, lower)
    x = input_node(array_spec((3,), np.dtype(np.float32)))
    device = _xla.default_device()
    graph = Graph("broken", (x,), (broken(x),))
    one = Program("broken", graph, device, (), (x.spec.on(device),), bounded=True, may_fail=False)
    service.compiler.submit(one)
    service.wait_for(1)
    assert one.failure is not None
    assert "forgotten" in str(one.failure.exception())
    # The worker lives on.
    service.compiler.submit(program(8.25))
    service.wait_for(2)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have their own niceness on Linux only")
def test_workers_are_nice(service: Service) -> None:
    seen: list[int] = []
    service.compiler.report_to(lambda _: seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
    waiter = threading.Event()

    class Waiter:
        def wake(self) -> None:
            waiter.set()

    one = program(9.25)
    assert service.compiler.add_waiter(one, Waiter())
    service.compiler.submit(one)
    assert waiter.wait(LOST)
    assert seen[0] > os.getpriority(os.PRIO_PROCESS, 0)
    assert not service.compiler.add_waiter(one, Waiter())


def test_removed_waiter_is_not_woken(service: Service) -> None:
    woken: list[str] = []

    class Waiter:
        def __init__(self, name: str) -> None:
            self.name = name

        def wake(self) -> None:
            woken.append(self.name)

    first, second = Waiter("first"), Waiter("second")
    one = program(10.25)
    service.compiler.add_waiter(one, first)
    service.compiler.add_waiter(one, second)
    service.compiler.remove_waiter(one, first)
    service.compiler.remove_waiter(one, first)
    service.compiler.submit(one)
    service.wait_for(1)
    service.compiler.submit(program(11.25))
    service.wait_for(2)
    assert "first" not in woken


def test_frozen_service_compiles_nothing_new(service: Service) -> None:
    known = program(12.25)
    service.compiler.submit(known)
    service.wait_for(1)
    budget.freeze()
    try:
        equal, new = program(12.25), program(13.25)
        service.compiler.submit(equal)
        service.compiler.submit(new)
        service.wait_for(3)
    finally:
        budget.thaw()
    assert equal.compiled.executable is known.compiled.executable
    assert new.failure is not None
    assert "frozen" in str(new.failure.exception())


def test_closed_service_begins_nothing(service: Service) -> None:
    service.compiler.close()
    service.compiler.submit(program(14.25))
    service.threads.join()
    assert service.through == []
