"""The fast path of calls, and who is on it."""

from __future__ import annotations

import pytest

from tests._xla.programs import run_python

# In a fresh process, since one in which the default dtypes were changed once has no fast path any more.
HEAD = """
import itertools
import numpy as np
import aioarray as aio
from aioarray._dispatch import launch
from aioarray._engine.cost import DEAR, LIMIT_SECONDS, QUICK, TINY
from aioarray._ops import arithmetic

FAST = arithmetic.negative.fast

def on_the_fast_path(size, kind):
    # It comes there soon, and again where the machine took the core away during a launch.
    x = aio.asarray(np.ones(size, np.float32))
    for _ in range(1000):
        assert np.asarray(-x).tolist() == [-1.0] * size
        if x._spec in FAST and FAST[x._spec].program.compiled.launch_class.current == kind:
            return x
    raise AssertionError("it never came there")
"""


@pytest.mark.parametrize(("size", "kind"), [(65, "TINY"), (70_001, "QUICK")])
def test_programs_that_are_not_dear_come_to_the_fast_path(size: int, kind: str) -> None:
    run_python(
        f"""{HEAD}
on_the_fast_path({size}, {kind})
"""
    )


def test_a_program_that_once_takes_long_leaves_it() -> None:
    run_python(
        f"""{HEAD}
x = on_the_fast_path(70_003, QUICK)
program = FAST[x._spec].program
ticks = itertools.count(0.0, 2.0 * LIMIT_SECONDS)
launch.perf_counter = lambda: next(ticks)
y = -x
assert x._spec not in FAST
assert program.compiled.launch_class.current == DEAR
assert np.asarray(y).tolist() == np.asarray(-x).tolist() == [-1.0] * 70_003
"""
    )


def test_a_program_that_became_dear_elsewhere_leaves_it() -> None:
    run_python(
        f"""{HEAD}
x = on_the_fast_path(70_007, QUICK)
FAST[x._spec].program.compiled.launch_class.current = DEAR
y = -x
assert x._spec not in FAST
assert np.asarray(y).tolist() == [-1.0] * 70_007
"""
    )


def test_numbers_host_arrays_and_what_is_left_out_do_not_keep_a_call_off_it() -> None:
    run_python(
        """
import numpy as np
import aioarray as aio
from aioarray._array import array

h = np.arange(6, dtype=np.float32).reshape(2, 3)
x = aio.asarray(h)
calls = {
    "clip": (lambda: aio.clip(x, 1.5, 4), np.clip(h, 1.5, 4)),
    "clip, one bound": (lambda: aio.clip(x, 1.5), np.clip(h, 1.5, None)),
    "where": (lambda: aio.where(x > 2, x, 0.0), np.where(h > 2, h, 0)),
    "nan_to_num": (lambda: aio.nan_to_num(x), h),
    "diff": (lambda: aio.diff(x), np.diff(h)),
    "array and host array": (lambda: x + h, h + h),
    "host array and array": (lambda: h - x, h - h),
    "NumPy's number": (lambda: x * np.float32(3), h * 3),
    "trapezoid": (lambda: aio.trapezoid(x), np.trapezoid(h)),
    "quantile": (lambda: aio.median(x), np.median(h)),
    "rot90": (lambda: aio.rot90(x), np.rot90(h)),
    "average": (lambda: aio.average(x), np.average(h)),
}
general = array._general
calls_off = []
for name, (call, expected) in calls.items():
    # Programs come to the fast path soon, and again where the machine took the core away during a launch.
    for _ in range(1000):
        calls_off.clear()
        array._general = lambda *args: calls_off.append(args) or general(*args)
        result = call()
        array._general = general
        assert np.allclose(np.asarray(result), expected), name
        if not calls_off:
            break
    else:
        raise AssertionError(f"{name} never came there")
"""
    )
