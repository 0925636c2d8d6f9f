"""The pytest plugin proper; `pytest_aioarray` loads it when a marker, an option or the configuration asks for it."""

from __future__ import annotations

import functools
import inspect
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from .._array.sync_reads import sync_reads
from .._base.callers import PACKAGE
from .._base.errors import AioArrayError
from .._engine import instruments
from .._observe import LoopWatch
from . import _leaks
from ._asserts import Assertion
from ._blockbuster import active_blockbuster, register_with_blockbuster
from ._control import hold, inject
from ._counting import count
from ._durations import Durations
from ._settings import COUNT, SECONDS, Settings, configured, number, of_item
from ._watch import Watch, program_text
from ._words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from .._observe import Counter, Gate, Injector

__all__ = ["LeakWarning", "Plugin"]

S = TypeVar("S", bound=instruments.Instrument)

_LOOKED_AT: Final = ("warn", "error", "raise")


class LeakWarning(UserWarning):
    """A test left something behind, or did something else that its settings warn about."""


class Check:
    """What is looked at in one test."""

    def __init__(self, plugin: Plugin, item: pytest.Item, settings: Settings) -> None:
        self.passed = False
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self._plugin = plugin
        self._item = item
        self._settings = settings
        self._stack = ExitStack()
        self._before: _leaks.Before | None = None
        self._forgotten: list[str] = []
        self._unseen = _leaks.UnseenErrors()
        self._compiles = self._launches = 0
        watched = plugin.durations or settings.max_compiles is not None
        watched = watched or settings.unawaited in _LOOKED_AT or settings.held_locks in _LOOKED_AT
        self._watch = Watch(settings.held_locks) if watched else None
        self._lags: list[str] = []

    def begin(self) -> None:
        """Before the fixtures are set up."""
        settings, stack = self._settings, self._stack
        if settings.sync_reads is not None:
            # For the whole process, since what a fixture has started, a server or a thread, has a context of its own.
            previous = sync_reads(settings.sync_reads).before
            stack.callback(sync_reads, previous)
        stack.callback(setattr, Assertion, "forgotten", Assertion.forgotten)
        Assertion.forgotten = self._forgotten.append
        if settings.leaks in _LOOKED_AT:
            stack.enter_context(self._unseen)
        if self._watch is not None:
            stack.callback(instruments.uninstall, self._watch)
            instruments.install(self._watch, everywhere=True)

    def set_up(self) -> None:
        """After the fixtures have been set up: what they made is theirs."""
        if self._settings.leaks in _LOOKED_AT:
            self._before = _leaks.before()
        if self._watch is not None:
            self._compiles = len(self._watch.compilations)
            self._launches = len(self._watch.launches)

    def watch_loop(self) -> None:
        """Have an ``async`` test function watch the loop that it will be run on, whoever runs it."""
        item, limit = self._item, self._settings.max_loop_lag
        if limit is None or not isinstance(item, pytest.Function):
            return
        # Where pytest-asyncio and anyio look for it.
        holder, name = (item.obj.hypothesis, "inner_test") if hasattr(item.obj, "hypothesis") else (item, "obj")
        function = getattr(holder, name)
        if not inspect.iscoroutinefunction(function):
            return

        @functools.wraps(function)
        async def watched(*args: Any, **kwargs: Any) -> Any:
            watch = LoopWatch(noticed=limit / 1e3, interval=min(limit / 4e3, 0.01))
            try:
                with watch:
                    return await function(*args, **kwargs)
            finally:
                self._lags += map(str, watch.blocked)

        self._stack.callback(setattr, holder, name, function)
        setattr(holder, name, watched)

    def called(self) -> None:
        """After the test function."""
        self.errors += self._forgotten
        self._forgotten.clear()
        self._check_compiles()
        if self._lags:
            limit = self._settings.max_loop_lag
            self._found(
                "error", [f"the event loop was held for longer than max_loop_lag={limit:g} ms:", *listed(self._lags)]
            )

    def end(self) -> None:
        """After the fixtures have been torn down."""
        try:
            # What the fixtures gave is held by the item otherwise, until after this.
            getattr(self._item, "funcargs", {}).clear()
            if self.passed:
                self.errors += self._forgotten
                self._check_locks()
                self._check_leaks()
                self._check_unawaited()
            if self._watch is not None and self._plugin.durations is not None:
                self._plugin.durations.add(self._item.nodeid, self._watch.durations())
        finally:
            self._stack.close()

    def _found(self, severity: str | None, lines: list[str]) -> None:
        if lines:
            (self.warnings if severity == "warn" else self.errors).append("\n".join(lines))

    def _check_compiles(self) -> None:
        limit = self._settings.max_compiles
        if limit is None or self._watch is None:
            return
        built = [one for one in self._watch.compilations[self._compiles :] if one.outcome in ("compiled", "loaded")]
        if len(built) > limit:
            were = counted(len(built), "program was", "programs were")
            self._found(
                "error",
                [
                    f"{were} compiled in the test, max_compiles={limit}: keep shapes, dtypes and static arguments the "
                    "same from call to call (jit's buckets), and compile in a fixture, which is not counted",
                    *listed(map(program_text, built)),
                ],
            )

    def _check_locks(self) -> None:
        if self._watch is not None and self._watch.locks:
            self._found(self._settings.held_locks, self._watch.locks)

    def _check_leaks(self) -> None:
        earlier = self._before
        if earlier is not None:
            _leaks.settle(earlier, self._plugin.grace)
            severity = self._settings.leaks
            self._found(severity, _leaks.unfinished_work(earlier))
            self._found(severity, _leaks.threads(earlier))
            self._found(severity, _leaks.unseen_errors(self._unseen, self._watch))
            self._found(severity, _leaks.memory(earlier, self._plugin.leak_bytes))

    def _check_unawaited(self) -> None:
        if self._settings.unawaited in _LOOKED_AT and self._watch is not None:
            launches = self._watch.launches[self._launches :]
            self._found(self._settings.unawaited, self._watch.unawaited(launches))


KEY: Final = pytest.StashKey[Check]()


class Plugin:
    """The hooks; one for each pytest session, which may run inside another one's test."""

    def __init__(self, config: pytest.Config) -> None:
        self.base: Settings = configured(config)
        file = "the configuration file"
        self.leak_bytes: int = number(file, "aioarray_leak_bytes", config.getini("aioarray_leak_bytes"), COUNT)
        self.grace: float = number(file, "aioarray_leak_grace", config.getini("aioarray_leak_grace"), SECONDS)
        limit = config.getoption("aioarray_durations")
        self.durations: Durations | None = None
        if limit is not None:
            limit = number("the command line", "--aioarray-durations", limit, COUNT)
            self.durations = Durations(limit or sys.maxsize)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Refuse wrong settings before any test runs."""
        for item in session.items:
            of_item(item, self.base)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        """Begin with what the markers of ``item`` say."""
        settings = of_item(item, self.base)
        if not settings and not self.durations:
            return (yield)
        check = item.stash[KEY] = Check(self, item, settings)
        check.begin()
        result = yield
        check.set_up()
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Look at what the test function did."""
        check = item.stash.get(KEY, None)
        if check is None:
            return (yield)
        check.watch_loop()
        blockbuster = active_blockbuster()
        if blockbuster is not None:
            register_with_blockbuster(blockbuster)
        try:
            result = yield
        except Exception as error:
            if not item.config.option.fulltrace:
                _end_traceback_at_the_caller(error)
            check.called()
            if check.errors:
                item.add_report_section("call", "aioarray", "\n".join(check.errors))
            raise
        check.called()
        _fail(check.errors)
        check.passed = True
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Look at what is left, when fixtures too have had their chance to clean up."""
        check = item.stash.get(KEY, None)
        if check is None:
            return (yield)
        check.errors = []
        try:
            result = yield
        finally:
            check.end()
            del item.stash[KEY]
        for text in check.warnings:
            item.warn(LeakWarning(text))
        _fail(check.errors)
        return result

    # The report on durations; with pytest-xdist the workers send theirs to the process that prints.

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send this worker's part."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None and self.durations is not None:
            output["aioarray_durations"] = self.durations.as_plain()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in a worker's part."""
        plain = getattr(node, "workeroutput", {}).get("aioarray_durations")
        if plain is not None and self.durations is not None:
            self.durations.take_in(plain)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the report."""
        if self.durations is not None:
            terminalreporter.section("aioarray durations")
            for line in self.durations.lines():
                terminalreporter.write_line(line)


def _end_traceback_at_the_caller(error: Exception) -> None:
    """Have what aioarray raises shown at the line that called it, not at some line of aioarray."""
    if not isinstance(error, (AioArrayError, AssertionError)):
        return
    last, traceback = None, error.__traceback__
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None


@contextmanager
def _everywhere(scope: S) -> Iterator[S]:
    """``scope`` for the whole process: a test does not always run in the context of its fixtures."""
    instruments.install(scope, everywhere=True)
    try:
        yield scope
    finally:
        instruments.uninstall(scope)


def device_gate() -> Iterator[Gate]:
    """The fixture of that name."""
    with _everywhere(hold()) as gate:
        yield gate
        gate.open()


def fault_injector() -> Iterator[Callable[..., Injector]]:
    """The fixture of that name."""
    with ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(_everywhere(inject(*args, **kwargs)))


def compile_counter() -> Iterator[Counter]:
    """The fixture of that name."""
    with _everywhere(count()) as counter:
        yield counter


def _fail(problems: list[str]) -> None:
    if problems:
        pytest.fail("aioarray: " + "\n".join(problems), pytrace=False)
