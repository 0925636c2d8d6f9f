"""However the interpreter ends, it ends soon, without a crash and without noise."""

from __future__ import annotations

import concurrent.futures
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.promise.work import start_python

RUNS = 10
# The work that is inside PJRT at the end may take this long, in seconds, on a busy machine; the rest is never launched,
# and would take 20 s and more on one that has nothing else to do.
WORK = 6.0
GRACE = 2.0

PREAMBLE = """
import asyncio, atexit, sys, threading, time
import numpy as np
import aioarray as aio
from aioarray._array import from_host

matrix = from_host(np.eye(640, dtype=np.float32))
(matrix @ matrix).block_until_ready()

def work(count=16):
    result = matrix
    for _ in range(count):
        result = result @ matrix
    return result

def leaving():
    print("leaving", time.monotonic(), flush=True)
"""

ENDS = {
    "pending and not awaited": """
        async def main():
            results = [work(200) for _ in range(20)]
            leaving()
        asyncio.run(main())
    """,
    "awaited by a task while main returns": """
        async def wait(x):
            await x
        async def main():
            main.tasks = [asyncio.ensure_future(wait(work(200))) for _ in range(20)]
            await asyncio.sleep(0.05)
            leaving()
        asyncio.run(main())
    """,
    "exception": """
        async def main():
            main.results = [work(200) for _ in range(20)]
            leaving()
            raise LookupError("expected")
        asyncio.run(main())
    """,
    "without a loop": """
        results = [work(200) for _ in range(20)]
        leaving()
    """,
    "sys.exit in a task": """
        async def main():
            main.results = [work(200) for _ in range(20)]
            leaving()
            sys.exit(3)
        asyncio.run(main())
    """,
    "daemon threads that block": """
        def block(x):
            x.block_until_ready()
        for _ in range(4):
            threading.Thread(target=block, args=(work(1000),), daemon=True).start()
        time.sleep(0.05)
        leaving()
    """,
    "daemon threads that enqueue": """
        def enqueue():
            while True:
                try:
                    work(4)
                except RuntimeError:
                    return
        for _ in range(2):
            threading.Thread(target=enqueue, daemon=True).start()
        time.sleep(0.05)
        leaving()
    """,
    "a loop in a daemon thread": """
        async def forever():
            while True:
                try:
                    await work(4)
                except RuntimeError:
                    await asyncio.sleep(60)
        threading.Thread(target=lambda: asyncio.run(forever()), daemon=True).start()
        time.sleep(0.1)
        leaving()
    """,
    "daemon threads that move values": """
        host, small = np.ones((300, 300), np.float32), from_host(np.ones((4, 4), np.float32))
        def forever(use):
            while True:
                try:
                    use()
                except RuntimeError:
                    pass
        for use in (
            lambda: aio.asarray(host, copy=True),
            lambda: np.asarray(matrix + 1.0),
            lambda: (np.from_dlpack(matrix), aio.from_dlpack(host)),
            lambda: float((small * 2)[0, 0]),
        ):
            threading.Thread(target=forever, args=(use,), daemon=True).start()
        time.sleep(0.1)
        leaving()
    """,
    "daemon threads that hold a lock which the end takes": """
        import logging, os
        logging.basicConfig(stream=open(os.devnull, "w"), level=logging.INFO)
        logging.raiseExceptions = False
        def log(x):
            while True:
                logging.info("value %s", x)
        for x in (matrix[0, :3].block_until_ready(), work(1000)):
            threading.Thread(target=log, args=(x,), daemon=True).start()
        time.sleep(0.1)
        leaving()
    """,
    "a daemon thread that an older atexit hook joins": """
        import queue
        todo = queue.SimpleQueue()
        def use():
            while (function := todo.get()) is not None:
                try:
                    function()
                except RuntimeError:
                    pass
        worker = threading.Thread(target=use, daemon=True)
        worker.start()
        def late():
            for function in (lambda: float(matrix[0, 0]), lambda: last.block_until_ready(), None):
                todo.put(function)
            worker.join()
        last = work(1000)
        leaving()
    """,
    "a long compile": """
        @aio.jit
        def many(x):
            for i in range(30):
                x = (x + float(i)) * 0.5 @ x
            return x
        result = many(from_host(np.eye(4, dtype=np.float32)))
        time.sleep(0.05)
        leaving()
    """,
    "an older atexit hook that uses arrays": """
        # Python runs atexit hooks latest first, so this one runs after the engine's, which was registered at first use.
        def late():
            for use in (
                lambda: matrix + 1.0,
                lambda: last.block_until_ready(),
                lambda: asyncio.run(wait(last)),
                lambda: asyncio.run(aio.drain(1)),
            ):
                try:
                    use()
                except RuntimeError as error:
                    assert "shutting down" in str(error), error
                else:
                    raise AssertionError("an end of the interpreter was not noticed")
            assert np.asarray(matrix)[0, 0] == 1
        async def wait(x):
            await x
        last = work(1000)
        leaving()
    """,
    "objects that use arrays when they are destroyed": """
        class Holder:
            def __init__(self):
                self.array = work(200)
            def __del__(self):
                try:
                    self.array + self.array
                except RuntimeError:
                    pass
                self.array.is_ready(), self.array.shape
        holder = Holder()
        leaving()
    """,
    "trio": """
        import trio
        async def main():
            async with trio.open_nursery() as nursery:
                async def wait():
                    await work(200)
                nursery.start_soon(wait)
                await trio.sleep(0.05)
                leaving()
                nursery.cancel_scope.cancel()
        trio.run(main)
    """,
    "uvloop": """
        import uvloop
        async def wait(x):
            await x
        async def main():
            main.tasks = [asyncio.ensure_future(wait(work(200))) for _ in range(20)]
            await asyncio.sleep(0.05)
            leaving()
        asyncio.run(main(), loop_factory=uvloop.new_event_loop) if sys.version_info >= (3, 12) else uvloop.run(main())
    """,
}
# What Python itself prints, and the code it ends with.
NOISE = {"exception": "LookupError: expected"}
CODES = {"exception": 1, "sys.exit in a task": 3}
EARLY_HOOK = "import atexit\natexit.register(lambda: late())\n"


def _program(name: str) -> str:
    start = EARLY_HOOK if "older atexit hook" in name else ""
    return start + PREAMBLE + textwrap.dedent(ENDS[name])


def _end(name: str) -> str | None:
    """Run it once; what is wrong with its end, if anything."""
    process = start_python(_program(name))
    try:
        output, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs"
    over = time.monotonic()
    if process.returncode != CODES.get(name, 0):
        return f"exit code {process.returncode}: {errors[-2000:]}"
    expected = NOISE.get(name)
    if expected is None and errors:
        return f"noise: {errors[-2000:]}"
    if expected is not None and not (errors.startswith("Traceback") and errors.rstrip().endswith(expected)):
        return f"noise: {errors[-2000:]}"
    seconds = over - float(output.split("leaving ")[1].split()[0])
    if seconds > WORK + GRACE:
        return f"took {seconds:.2f} s to end"
    return None


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ENDS)
def test_end(name: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(_end, [name] * RUNS) if problem is not None]
    assert not problems, f"{len(problems)} of {RUNS} runs: {problems[0]}"


INTERRUPTED = {
    "awaiting": """
        async def main():
            results = [work(200) for _ in range(20)]
            leaving()
            await results[-1]
        asyncio.run(main())
    """,
    "blocking on something launched": """
        result = work(200)
        leaving()
        result.block_until_ready()
    """,
    "blocking on something queued": """
        results = [work(10) for _ in range(200)]
        leaving()
        results[-1].block_until_ready()
    """,
    "blocking, and another thread takes the signal": """
        import signal
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        results = [work(10) for _ in range(200)]
        leaving()
        results[-1].block_until_ready()
    """,
    "enqueueing": """
        leaving()
        while True:
            work(1)
    """,
}


# Where the suite runs in the background, or under nohup, its children would inherit that SIGINT is ignored.
HANDLING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def _interrupted(name: str) -> str | None:
    process = start_python(HANDLING + PREAMBLE + textwrap.dedent(INTERRUPTED[name]))
    assert process.stdout is not None
    assert process.stdout.readline().startswith("leaving")
    time.sleep(0.1)  # not to wait for anything: the moment of an interruption is arbitrary
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs"
    seconds = time.monotonic() - sent
    # Python ends itself with the signal when KeyboardInterrupt was not caught.
    if process.returncode not in (-signal.SIGINT, 128 + signal.SIGINT):
        return f"exit code {process.returncode}: {errors[-2000:]}"
    if not errors.rstrip().endswith("KeyboardInterrupt") or "Exception ignored" in errors:
        return f"noise: {errors[-3000:]}"
    if seconds > WORK + GRACE:
        return f"took {seconds:.2f} s to end"
    return None


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
@pytest.mark.parametrize("name", INTERRUPTED)
def test_interrupt(name: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(_interrupted, [name] * RUNS) if problem is not None]
    assert not problems, f"{len(problems)} of {RUNS} runs: {problems[0]}"


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
def test_interrupt_where_the_suite_itself_ignores_it() -> None:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        problem = _interrupted("blocking on something launched")
    finally:
        signal.signal(signal.SIGINT, previous)
    assert problem is None
