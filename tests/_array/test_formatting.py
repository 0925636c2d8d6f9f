"""The text of an Array: it waits for nothing that a gate holds; and where an exception is formatted, for nothing."""

from __future__ import annotations

import copy
import pprint
import reprlib
import subprocess
import sys
import threading
import traceback
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import aioarray as aio
from aioarray import testing

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
# Far longer than any test: what waits for a delayed launch never comes back.
LONG = 3600.0


def shown_by(module: str, function: str, show: Callable[[object], str] = repr) -> Callable[[object], str]:
    """A function of that name in a module of that name, which calls ``show``."""
    namespace: dict[str, Any] = {"__name__": module, "show": show}
    exec(f"def {function}(x):\n    return show(x)", namespace)
    found: Callable[[object], str] = namespace[function]
    return found


# What a gate holds


@pytest.mark.parametrize("show", [repr, str, format, pprint.pformat, reprlib.repr, lambda x: f"{x} {x!r}"])
def test_no_text_waits_for_what_a_gate_holds(show: Callable[[object], str]) -> None:
    x = aio.ones(3)
    with testing.hold("add"):
        held = x + 1
        assert "pending" in show(held)
        assert "pending" in show(aio.sin(held) @ x)
        assert "pending" in show(copy.copy(held))
        assert "pending" in show(copy.deepcopy(held))
        assert "pending" in show({"a": [held]})
    held.block_until_ready()
    assert "2." in show(held)


def test_what_is_let_go_is_shown() -> None:
    with testing.hold("add") as gate:
        held = aio.ones(3) + 1
        later = held * 2
        assert "pending" in repr(later)
        gate.release()
        assert repr(later) == "Array([4., 4., 4.], dtype=float32)"


def test_what_no_gate_holds_is_waited_for() -> None:
    with testing.hold("sin"):
        assert repr(aio.ones(3) + 1) == "Array([2., 2., 2.], dtype=float32)"


def test_a_long_chain_is_looked_through() -> None:
    with testing.hold("sin"):
        x = aio.sin(aio.ones(()))
        for _ in range(5000):
            x = x + x
        assert "pending" in repr(x)


# Who formats an exception


FORMATTERS = [
    ("traceback", "format_exception_only"),
    ("unittest.util", "safe_repr"),
    ("reprlib", "repr_instance"),
    ("bdb", "format_stack_entry"),
    ("pdb", "do_args"),
    ("_pytest._code.code", "repr_args"),
    ("_pytest._io.saferepr", "repr"),
    ("_pytest._io.pprint", "pformat"),
    ("_pytest.assertion.util", "assertrepr_compare"),
    ("_pydevd_bundle.pydevd_safe_repr", "_repr"),
    ("IPython.core.ultratb", "format_record"),
    ("rich.traceback", "extract"),
    ("sentry_sdk.serializer", "_serialize_node"),
    ("sentry_sdk.utils", "safe_repr"),
    ("django.views.debug", "get_traceback_frame_variables"),
    ("werkzeug.debug.repr", "debug_repr"),
]


@pytest.mark.parametrize(("module", "function"), FORMATTERS)
def test_no_text_in_a_report_waits_at_all(module: str, function: str) -> None:
    with testing.delay(LONG, match="add"):
        late = aio.ones(3) + 1
        assert "pending" in shown_by(module, function)(late)
        assert "pending" in shown_by(module, function, str)(late)
        assert "pending" in shown_by(module, function, lambda x: f"Model(w={x!r})")(late)
        del late
    ready = (aio.ones(3) + 1).block_until_ready()
    assert "2." in shown_by(module, function)(ready)


@pytest.mark.parametrize(
    ("module", "function"),
    [("sentry_sdk.utils", "runner"), ("pdb", "do_p"), ("reprlib", "wrapper"), ("logging", "emit")],
)
def test_others_on_the_stack_change_nothing(module: str, function: str) -> None:
    with testing.delay(0.05, match="add"):
        assert "2." in shown_by(module, function)(aio.ones(3) + 1)


def test_tracebacks_with_locals_and_messages() -> None:
    with testing.delay(LONG, match="add"):
        late = aio.ones(3) + 1
        try:
            raise LookupError(late)
        except LookupError as error:
            text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert text.count("pending)") >= 2
        del late


def test_unittest() -> None:
    with testing.delay(LONG, match="add"):
        late = aio.ones(3) + 1
        with pytest.raises(AssertionError, match="pending"):
            unittest.TestCase().assertIs(late, None)  # noqa: PT009
        del late


def test_a_read_in_a_report_is_refused_where_it_would_never_end() -> None:
    with testing.hold("add"):
        held = aio.ones(()) + 1
        with pytest.raises(aio.errors.SyncReadError, match="gate holds"):
            shown_by("_pytest.assertion.util", "_compare_eq_dict", lambda x: str(bool(x)))(held)


def test_an_uncaught_exception_ends_the_program() -> None:
    code = f"""
        import aioarray as aio
        from aioarray import testing
        with testing.delay({LONG}):
            late = aio.ones(3) + 1
        class Known:
            def __repr__(self): return f"known {{late}}"
        raise LookupError(late, Known())
    """
    done = subprocess.run(
        [sys.executable, "-c", "if True:" + code],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("LookupError: (Array(shape=(3,), dtype=float32, device=cpu:0, pending)")


def test_a_thread_that_only_prints_waits() -> None:
    texts: list[str] = []
    with testing.delay(0.05, match="add"):
        late = aio.ones(3) + 1
        thread = threading.Thread(target=lambda: texts.append(repr(late)))
        thread.start()
        thread.join()
    assert texts == ["Array([2., 2., 2.], dtype=float32)"]


# pytest itself


SOURCE = """
import aioarray as aio

def helper(x):
    y = x * 2
    raise ValueError("no")

def test_traceback(device_gate):
    helper(aio.ones(3) + 1)

def test_dictionaries(device_gate):
    assert {"a": aio.ones(()) + 1} == {"a": aio.ones(()), "b": 1}

def test_lists(device_gate):
    assert [aio.ones(()) + 1] == [aio.ones(()), 1]

def test_length(device_gate):
    x = aio.ones(3) + 1
    assert len(x) == 4

def test_identity(device_gate):
    x = aio.ones(3) + 1
    assert x is None

def test_exception(device_gate):
    class Model:
        def __init__(self, w):
            self.w = w
        def __repr__(self):
            return f"Model({self.w!r}, {self.w})"
    raise RuntimeError(Model(aio.ones(3) + 1), aio.ones(3) + 1)
"""


@pytest.mark.parametrize(
    "options", [(), ("-l",), ("-l", "-vv"), ("--tb=long", "--assert=plain", "-l"), ("--tb=native",)]
)
def test_failing_tests_end_while_a_gate_holds(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(SOURCE)
    result = pytester.runpytest_inprocess(
        "-p", "pytest_aioarray", "-p", "no:randomly", "-p", "no:cacheprovider", *options
    )
    result.assert_outcomes(failed=6)
    if "-l" in options:
        result.stdout.fnmatch_lines(["*y *= Array(shape=(3,), dtype=float32, device=cpu:0, pending)"])
