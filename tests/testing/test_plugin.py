"""The plugin itself: silent unless asked, its settings, fixtures and report, and that it gets along with others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import aioarray as aio
import pytest_aioarray
from aioarray.testing import _settings

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., pytest.RunResult]

ROOT = Path(__file__).resolve().parents[2]

# As in `test_mistakes`.
pytestmark = pytest.mark.aioarray(leaks="allow", sync_reads="warn")

HEAD = """
import asyncio
import pytest
import aioarray as aio
from aioarray import testing
"""
LEAK = f"""{HEAD}
@pytest.mark.asyncio
async def test_it():
    aio.ones(3) + 1
"""


# Nothing unless asked


def test_without_being_asked_it_imports_nothing_and_checks_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeconftest(
        """
        import sys

        def pytest_sessionfinish(session):
            loaded = sorted({name.partition(".")[0] for name in sys.modules} & {"aioarray", "jaxlib", "numpy"})
            print(f"loaded: {loaded}, plugin: {session.config.pluginmanager.has_plugin('pytest_aioarray')}")
        """
    )
    pytester.makepyfile("def test_it(): pass")
    options = ["-s", "-p", "pytest_aioarray", "-p", "no:hypothesispytest", "-p", "no:randomly"]
    result = pytester.run(sys.executable, "-m", "pytest", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*loaded: [[]], plugin: True*"])


def test_without_being_asked_it_leaves_tests_alone(run: Run) -> None:
    run(LEAK).assert_outcomes(passed=1)


def test_importing_the_plugins_door_takes_no_time() -> None:
    code = "import sys, pytest; was = set(sys.modules); import pytest_aioarray; print(sorted(set(sys.modules) - was))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['pytest_aioarray']"


# Being asked


@pytest.mark.parametrize(
    "options", [["--aioarray"], ["--aioarray-unawaited=error"], ["-o", "aioarray_unawaited=error"]], ids=" ".join
)
def test_asked_by_the_command_line_or_the_configuration(run: Run, options: list[str]) -> None:
    result = run(LEAK, *options)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["aioarray: 1 result was never awaited*"])


def test_the_closest_wins(run: Run) -> None:
    source = LEAK.replace("@pytest.mark.asyncio", "@pytest.mark.asyncio\n@pytest.mark.aioarray(unawaited='allow')")
    run(source, "-o", "aioarray_unawaited=error").assert_outcomes(passed=1)
    source = LEAK.replace("@pytest.mark.asyncio", "@pytest.mark.asyncio\n@pytest.mark.aioarray(unawaited='error')")
    run(source, "--aioarray-unawaited=allow").assert_outcomes(passed=1, errors=1)
    run(LEAK, "-o", "aioarray_unawaited=error", "--aioarray-unawaited=allow").assert_outcomes(passed=1)


def test_a_marker_of_the_class_and_one_of_the_function_add_up(run: Run) -> None:
    source = f"""{HEAD}
@pytest.mark.aioarray(sync_reads="raise", unawaited="error")
class TestBoth:
    @pytest.mark.aioarray(unawaited="allow")
    @pytest.mark.asyncio
    async def test_it(self):
        aio.ones(3) + 1
        with pytest.raises(aio.errors.SyncReadError):
            float(aio.sum(aio.ones(3)))
"""
    run(source).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (
            "max_compile=0",
            "there is no setting 'max_compile'; there are sync_reads, max_compiles, leaks, unawaited, held_locks, "
            "max_loop_lag",
        ),
        ("leaks='raise'", "leaks='raise' is not one of allow, warn, error"),
        ("max_compiles=-1", "max_compiles=-1 is not a whole number of 0 or more"),
        ("max_compiles=1.5", "max_compiles=1.5 is not a whole number of 0 or more"),
        ("max_compiles=True", "max_compiles=True is not a whole number of 0 or more"),
        ("max_compiles=float('inf')", "max_compiles=inf is not a whole number of 0 or more"),
        ("max_compiles=float('nan')", "max_compiles=nan is not a whole number of 0 or more"),
        ("max_loop_lag='fast'", "max_loop_lag='fast' is not a number above 0"),
        ("max_loop_lag=0", "max_loop_lag=0 is not a number above 0"),
        ("max_loop_lag=float('nan')", "max_loop_lag=nan is not a number above 0"),
        ("max_loop_lag=float('inf')", "max_loop_lag=inf is not a number above 0"),
        ("sync_reads=('raise',)", "sync_reads=('raise',) is not one of allow, warn, raise"),
        ("'error'", "give settings by name, such as leaks='error'; got ('error',)"),
    ],
)
def test_a_wrong_marker_is_refused_before_any_test_runs(run: Run, marker: str, message: str) -> None:
    result = run(f"import pytest\n@pytest.mark.aioarray({marker})\ndef test_it(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: @pytest.mark.aioarray of *.py::test_it: {message}"])


def test_a_wrong_option_is_refused(run: Run) -> None:
    result = run("def test_it(): pass", "--aioarray-leaks=never")
    result.stderr.fnmatch_lines(["ERROR: the command line: leaks='never' is not one of allow, warn, error"])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("aioarray_sync_reads=never", "sync_reads='never' is not one of allow, warn, raise"),
        ("aioarray_leaks=raise", "leaks='raise' is not one of allow, warn, error"),
        ("aioarray_unawaited=1", "unawaited='1' is not one of allow, warn, error"),
        ("aioarray_held_locks=error", "held_locks='error' is not one of allow, warn, raise"),
        ("aioarray_max_compiles=few", "max_compiles='few' is not a whole number of 0 or more"),
        ("aioarray_max_compiles=nan", "max_compiles='nan' is not a whole number of 0 or more"),
        ("aioarray_max_compiles=1.5", "max_compiles='1.5' is not a whole number of 0 or more"),
        ("aioarray_max_loop_lag=nan", "max_loop_lag='nan' is not a number above 0"),
        ("aioarray_max_loop_lag=-1", "max_loop_lag='-1' is not a number above 0"),
        ("aioarray_leak_bytes=1 MiB", "aioarray_leak_bytes='1 MiB' is not a whole number of 0 or more"),
        ("aioarray_leak_bytes=-1", "aioarray_leak_bytes='-1' is not a whole number of 0 or more"),
        ("aioarray_leak_bytes=", "aioarray_leak_bytes='' is not a whole number of 0 or more"),
        ("aioarray_leak_grace=soon", "aioarray_leak_grace='soon' is not a number of 0 or more"),
        ("aioarray_leak_grace=nan", "aioarray_leak_grace='nan' is not a number of 0 or more"),
        ("aioarray_leak_grace=inf", "aioarray_leak_grace='inf' is not a number of 0 or more"),
    ],
)
def test_a_wrong_line_of_the_configuration_is_refused(run: Run, setting: str, message: str) -> None:
    result = run("def test_it(): pass", "-o", setting, "--aioarray")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: the configuration file: {message}"])


@pytest.mark.parametrize("kind", ["marker", "option"])
def test_a_wrong_line_of_the_configuration_is_refused_whoever_asks(run: Run, kind: str) -> None:
    mark = "import pytest\npytestmark = pytest.mark.aioarray\n" if kind == "marker" else ""
    options = ["--aioarray-durations=3"] if kind == "option" else []
    result = run(f"{mark}def test_it(): pass", "-o", "aioarray_leak_bytes=many", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the configuration file: aioarray_leak_bytes='many' is not a whole number*"])


def test_a_wrong_number_of_durations_is_refused(run: Run) -> None:
    result = run("def test_it(): pass", "--aioarray-durations=-1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the command line: --aioarray-durations=-1 is not a whole number of 0 or more"])


def test_every_setting_is_an_option_and_documented() -> None:
    assert list(pytest_aioarray.SETTINGS) == list(_settings.ALLOWED)
    assert set(_settings.ALLOWED) == set(_settings.Settings.__dataclass_fields__)


# What a test does to others


def test_warnings_do_not_fail_tests(run: Run) -> None:
    result = run(LEAK, "-W", "default", "--aioarray-unawaited=warn")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["*LeakWarning: 1 result was never awaited, read or passed on*", "*`add` enqueued at *"]
    )


def test_a_test_that_fails_anyway_is_not_blamed_for_what_it_leaves(run: Run) -> None:
    source = LEAK + "    assert 1 == 2\n"
    result = run(source, "--aioarray")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*never awaited*")


def test_policies_and_handlers_are_as_before_after_each_test(run: Run) -> None:
    source = f"""{HEAD}
from aioarray._array.sync_reads import _policy
from aioarray._engine import instruments
from aioarray.testing import Assertion
import logging

def state():
    handlers = list(logging.getLogger("aioarray").handlers)
    return _policy.base, Assertion.forgotten, handlers, instruments.state.active

BEFORE = []

def test_first():
    BEFORE.append(state())

@pytest.mark.aioarray(sync_reads="raise")
@pytest.mark.parametrize("fails", [False, True])
def test_second(fails):
    assert _policy.base == "raise"
    aio.sync_reads("allow")
    assert not fails

def test_third():
    assert BEFORE == [state()]
"""
    run(source).assert_outcomes(passed=3, failed=1)


def test_what_module_fixtures_keep_and_do_is_theirs(run: Run) -> None:
    source = f"""{HEAD}
@pytest.fixture(scope="module")
def weights():
    aio.ones((512, 512)) * 2
    return [aio.ones((1024, 1024)) + i for i in range(2)]

@pytest.mark.aioarray
@pytest.mark.asyncio
async def test_first(weights):
    await weights[0]

@pytest.mark.aioarray
@pytest.mark.asyncio
async def test_second(weights):
    await weights[1]
"""
    run(source).assert_outcomes(passed=2)


def test_what_function_fixtures_keep_is_let_go(run: Run) -> None:
    source = f"""{HEAD}
class Service:
    pass

@pytest.fixture
def service():
    return Service()

@pytest.mark.aioarray
@pytest.mark.asyncio
async def test_it(service):
    service.cache = await (aio.ones((1024, 1024)) + 1)
"""
    run(source).assert_outcomes(passed=1)


def test_work_in_flight_has_some_time_to_end(run: Run) -> None:
    source = f"""{HEAD}
@pytest.mark.aioarray(leaks="error")
@pytest.mark.asyncio
async def test_it():
    with testing.delay(0.1):
        pytest.kept = aio.ones(3) + 1
"""
    run(source, "-o", "aioarray_leak_grace=30").assert_outcomes(passed=1)


def test_skips_and_expected_failures_stay_what_they_are(run: Run) -> None:
    source = f"""{HEAD}
pytestmark = pytest.mark.aioarray

def test_skipped():
    aio.ones(3) + 1
    pytest.skip("no reason")

@pytest.mark.xfail(strict=True)
def test_expected():
    aio.ones(3) + 1
    assert False
"""
    run(source).assert_outcomes(skipped=1, xfailed=1)


def test_looking_starts_no_threads(run: Run) -> None:
    source = f"""{HEAD}
import threading
THREADS = []

@pytest.mark.aioarray(leaks="error")
@pytest.mark.parametrize("number", range(5))
def test_it(number):
    (aio.ones(3) + 1).block_until_ready()
    THREADS.append([thread.name for thread in threading.enumerate()])

def test_number():
    # Workers are started whenever they are needed, which is no matter of looking.
    started = set(THREADS[-1]) - set(THREADS[0])
    assert not [name for name in started if not name.startswith(("aioarray-launch", "aioarray-watch"))]
"""
    run(source).assert_outcomes(passed=6)


# Fixtures


def test_fixtures(run: Run) -> None:
    source = f"""{HEAD}
pytestmark = [pytest.mark.asyncio, pytest.mark.aioarray]

async def test_gate(device_gate):
    x = aio.ones(3) + 1
    assert not x.is_ready()
    assert [held.name for held in device_gate.pending] == ["add"]
    device_gate.release()
    await testing.assert_allclose(x, 2)

async def test_faults(fault_injector):
    fault_injector(MemoryError("full"), match="add", nth=1)
    fault_injector("INTERNAL: broken", match="multiply")
    for failing, message in [(aio.ones(3) + 1, "full"), (aio.ones(3) * 2, "broken")]:
        with pytest.raises(aio.errors.DeviceError, match=message):
            await failing
    await (aio.ones(3) + 1)

async def test_counter(compile_counter):
    @aio.jit
    def f(x):
        return x * 3 + 1
    for _ in range(3):
        await f(aio.asarray([1.0] * 13))
    assert compile_counter.compiles <= 1

async def test_nothing_of_them_stays():
    x = aio.ones(3) + 1
    await x
"""
    run(source).assert_outcomes(passed=4)


# The report


def test_durations(run: Run) -> None:
    source = f"""{HEAD}
@pytest.mark.asyncio
async def test_slow():
    with testing.delay(0.05), aio.sync_reads("allow"):
        float(aio.sum(aio.ones((3, 17))))

def test_quick():
    (aio.ones((2, 19)) * 3).block_until_ready()
"""
    result = run(source, "--aioarray-durations=2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*aioarray durations*",
            "slowest launches:",
            "* ms  `*` enqueued at *.py:* in test_*  [[]*.py::test_*]",
            "slowest compiles:",
            "* ms  `*`* needed at *.py:* in test_*  [[]*.py::test_*]",
            "slowest synchronous reads:",
            "* ms  float(array) at *.py:9 in test_slow  [[]*.py::test_slow]",
        ]
    )
    rows = {limit: str(run(source, f"--aioarray-durations={limit}").stdout).count(" enqueued at ") for limit in (1, 0)}
    assert rows[1] == 1
    assert rows[0] > 1  # all of them, as of pytest's own option


# Others


def test_hypothesis_and_the_watch_on_the_loop(run: Run) -> None:
    source = f"""{HEAD}
from hypothesis import given, settings
from aioarray.testing import strategies
import time

@pytest.mark.asyncio
@pytest.mark.aioarray(max_loop_lag=30000, sync_reads="raise", unawaited="error")
@settings(max_examples=5, deadline=None, database=None)
@given(x=strategies.arrays("float32", (3,), min_value=0, max_value=1))
async def test_it(x):
    await testing.assert_allclose(x + 1, x + 1)

@pytest.mark.anyio
@pytest.mark.aioarray(max_loop_lag=150)
@settings(max_examples=2, deadline=None, database=None)
@given(x=strategies.arrays("float32", (3,)))
async def test_slow(x):
    time.sleep(0.5)
"""
    result = run(source)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["aioarray: the event loop was held for longer than max_loop_lag=150 ms:", "*in test_slow*"]
    )


BLOCKBUSTER = f"""{HEAD}
import numpy as np
from blockbuster import BlockBuster, BlockingError, blockbuster_ctx

@pytest.mark.asyncio
async def test_blocking(guard):
    x = aio.ones(3) + 1
    with pytest.raises(BlockingError, match="Blocking call to aioarray.Array.block_until_ready"):
        x.block_until_ready()
    for read in (np.asarray, lambda x: float(x[0]), lambda x: x.tolist(), lambda x: bool(x[0])):
        with pytest.raises(BlockingError, match="a host read of an aioarray.Array"):
            read(aio.ones(3) + 1)
    await x
    assert np.asarray(x).tolist() == [2, 2, 2]
    x.block_until_ready()
    assert float(aio.asarray(2.0)) == 2.0
    await testing.assert_allclose(aio.ones(3) + 1, 2)
    assert await aio.run_sync(lambda: float(aio.sum(aio.ones(3)))) == 3

def test_outside_of_loops():
    assert float(aio.sum(aio.ones(3))) == 3
"""
GUARDS = {
    "a fixture that gives it": """
@pytest.fixture(autouse=True)
def guard():
    with blockbuster_ctx() as blockbuster:
        yield blockbuster
""",
    "a fixture that does not": """
@pytest.fixture(autouse=True)
def guard():
    with blockbuster_ctx():
        yield
""",
    "by hand": """
@pytest.fixture
def guard():
    blockbuster = BlockBuster()
    testing.register_with_blockbuster(blockbuster)
    testing.register_with_blockbuster(blockbuster)
    blockbuster.activate()
    yield
    blockbuster.deactivate()
""",
}


@pytest.mark.parametrize("guard", GUARDS)
def test_blockbuster_knows_the_calls_that_wait(run: Run, guard: str) -> None:
    pytest.importorskip("blockbuster", reason="blockbuster is not installed")
    source = BLOCKBUSTER + GUARDS[guard]
    options = [] if guard == "by hand" else ["--aioarray-leaks=error"]
    run(source, *options).assert_outcomes(passed=2)
    assert aio.Array.block_until_ready.__module__ == "aioarray._array.value", "it is as it was"


def test_the_modules_that_blockbuster_was_told_to_watch(run: Run, pytester: pytest.Pytester) -> None:
    pytest.importorskip("blockbuster", reason="blockbuster is not installed")
    pytester.makepyfile(service="def block(x):\n    return x.block_until_ready()\n")
    pytester.syspathinsert()
    source = f"""{HEAD}
import service
from blockbuster import BlockingError, blockbuster_ctx

@pytest.fixture
def guard():
    with blockbuster_ctx("service") as blockbuster:
        yield blockbuster

@pytest.mark.aioarray(leaks="error")
@pytest.mark.asyncio
async def test_it(guard):
    with pytest.raises(BlockingError):
        service.block(aio.ones(3) + 1)
    (aio.ones(3) + 1).block_until_ready()  # from no module that is watched
"""
    run(source).assert_outcomes(passed=1)
