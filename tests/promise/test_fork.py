"""A forked child of a process that has computed is told so; forking before, and spawning, just work."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.promise.work import ROOT

PREPARE = """
import asyncio, os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, about forking with threads
import numpy as np
import aioarray as aio

def child(use):
    "Fork; run `use` in the child; give its exit status."
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)
    try:
        use()
    except aio.errors.ForkedProcessError as error:
        assert "spawn" in str(error)
        sys.exit(17)  # with the interpreter's whole end
    sys.exit(0)
"""

AFTER_USE = (
    PREPARE
    + """
x = (aio.ones((64, 64)) + 1).block_until_ready()
m = aio.ones((512, 512))

def product():
    y = m
    for _ in range(100):
        y = y @ m
    return y

async def wait(y): await y
async def gone(): await aio.drain(1)

uses = dict(
    add=lambda: x + 1,
    create=lambda: aio.ones(3),
    large=lambda: aio.ones((2000, 2000)),
    read=lambda: np.asarray(x),
    read_pending=lambda: np.asarray(pending),
    block=lambda: pending.block_until_ready(),
    wait=lambda: asyncio.run(wait(pending)),
    show=lambda: repr(pending),
    jit=lambda: aio.jit(lambda y: y * 2)(x),
    random=lambda: aio.random.uniform(aio.random.key(1), (3,)),
    put=lambda: asyncio.run(aio.device_put(np.ones(3))),
    drain=lambda: asyncio.run(gone()),
)
for name, use in uses.items():
    pending = product()
    assert not pending.is_ready()
    status = child(use)
    assert status == 17, (name, status)
assert child(lambda: None) == 0
assert float((x + 1)[0, 0]) == 3
print("parent goes on")
"""
)

BEFORE_USE = (
    PREPARE
    + """
def compute():
    assert float((aio.ones((300, 300)) @ aio.ones((300, 300)))[0, 0]) == 300

assert child(compute) == 0
compute()
"""
)

MULTIPROCESSING = """
import multiprocessing, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)

def compute(n):
    import aioarray as aio
    try:
        return float((aio.ones((n, n)) @ aio.ones((n, n)))[0, 0])
    except aio.errors.ForkedProcessError:
        return "forked"

if __name__ == "__main__":
    assert compute(10) == 10
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(compute, [10, 300], chunksize=1))
"""


# An Array among the arguments, and one among what it closes over: the caller sees the error, whoever runs the workers.
PICKLED = """
import concurrent.futures, multiprocessing, pickle, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import numpy as np
import aioarray as aio

def use(how, x):
    uses = dict(
        add=lambda: x + 1,
        read=lambda: np.asarray(x),
        wait=lambda: x.block_until_ready(),
        item=lambda: float(x[0]),
        jit=lambda: aio.jit(lambda y: y * 2)(x),
        again=lambda: pickle.dumps(x),
    )
    uses[how]()

def show(x, device):
    return x.shape, str(x.dtype), repr(x), str(device), x.is_ready()

if __name__ == "__main__":
    x = aio.asarray([1.0, 2.0])
    x.block_until_ready()
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:
        for how in "add read wait item jit again".split():
            try:
                pool.apply(use, (how, x))
            except aio.errors.ForkedProcessError as error:
                assert "spawn" in str(error), error
            else:
                raise AssertionError(how)
        print(*pool.apply(show, (x, x.device)))
    with concurrent.futures.ProcessPoolExecutor(1, fork) as pool:
        try:
            pool.submit(use, "add", {"x": [x]}["x"][0]).result()
        except aio.errors.ForkedProcessError as error:
            print("told", pool.submit(len, "abc").result())
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=100, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_after_use_the_child_is_told() -> None:
    assert run(AFTER_USE) == "parent goes on\n"


def test_before_first_use_it_just_works() -> None:
    run(BEFORE_USE)


@pytest.mark.parametrize(("method", "expected"), [("spawn", [10.0, 300.0]), ("fork", ["forked", "forked"])])
def test_multiprocessing(method: str, expected: list[object], tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("fork") / "script.py"
    script.write_text(MULTIPROCESSING)
    done = subprocess.run(
        [sys.executable, str(script), method],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{expected}\n"


def test_pickled_arrays_raise_in_a_forked_pool_where_they_are_used(tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("fork") / "script.py"
    script.write_text(PICKLED)
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True, text=True, timeout=100, cwd=ROOT, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "(2,) float32 Array(shape=(2,), dtype=float32, device=cpu:0, failed) cpu:0 True",
        "told 3",
    ]
