"""What a test leaves behind: unfinished work, errors that nobody saw, device memory, threads that wait."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import ref

from .. import _xla
from .._array import Array
from .._engine import engine
from .._engine.launch import LAUNCHING, QUEUED
from ._origins import enqueued_at
from ._words import counted, in_bytes, launch_text, listed

if TYPE_CHECKING:
    from weakref import ReferenceType

    from .._engine import Launch
    from ._watch import Watch

# How long to wait for the thread that logs, which has nothing else to do.
_LOG_SECONDS: Final = 10.0
# ... and for other threads to let go of buffers.
_RELEASE_SECONDS: Final = 1.0


class UnseenErrors(logging.Handler):
    """Keeps what is logged about errors that nobody ever saw, instead of having it printed."""

    PREFIX: Final = "an error that nobody awaited: "

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []  # appended to by the thread that logs

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith(self.PREFIX):
            self.messages.append(message.removeprefix(self.PREFIX))

    def __enter__(self) -> UnseenErrors:
        logging.getLogger("aioarray").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("aioarray").removeHandler(self)


class _Gone:
    """Says when little enough is unfinished; a ``Waiter``."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def wake(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)


class Before(NamedTuple):
    """What there was before the test did anything that it would have to clean up."""

    launches: frozenset[ReferenceType[Launch]]
    buffers: frozenset[int]
    buffer_bytes: int
    waiting: frozenset[int]
    failed: int


def before() -> Before:
    """A note of what there is now."""
    unfinished = _unfinished()
    buffers = _live_buffers()
    return Before(
        frozenset(map(ref, unfinished)),
        frozenset(map(id, buffers)),
        sum(map(_xla.nbytes, buffers)) + sum(map(_bytes_to_come, unfinished)),
        frozenset(thread.ident or 0 for thread, _ in _waiting_threads()),
        engine.scheduler.counts.failed,
    )


def _bytes_to_come(launch: Launch) -> int:
    """The device memory that the results of ``launch`` will take."""
    if launch.state not in (QUEUED, LAUNCHING):
        return 0  # they have it
    results = zip(launch.outputs, launch.program.out_specs, strict=True)
    return sum(spec.nbytes for reference, spec in results if reference() is not None)


def _live_buffers() -> list[Any]:
    return list(_xla.get_client().live_arrays()) if _xla.client_exists() else []


def _unfinished() -> list[Launch]:
    return engine.scheduler.unfinished_launches()


def settle(earlier: Before, grace: float) -> None:
    """Let go of what nobody holds, if anything looks wrong, and give running work some time to end."""
    scheduler = engine.scheduler
    if scheduler.unfinished() or scheduler.counts.failed != earlier.failed:
        gc.collect()
    if scheduler.unfinished():
        gone = _Gone()
        if scheduler.add_drainer(gone, 1):
            gone.wait(grace)
            scheduler.remove_drainer(gone)


# The four kinds


def unfinished_work(earlier: Before) -> list[str]:
    """Launches that are still not over and that nobody waits for."""
    left = [x for x in _unfinished() if ref(x) not in earlier.launches and not x.waiters]
    waited = {id(source.launch) for x in _unfinished() if x.waiters for source in x.sources}
    left = [x for x in left if id(x) not in waited]
    if not left:
        return []
    return [
        f"{counted(len(left), 'launch is', 'launches are')} still pending, and nobody waits for the results: await "
        "them, or end what computes them before the test ends",
        *listed(_launch_text(x) for x in left),
    ]


def _launch_text(launch: Launch) -> str:
    return f"{launch_text(launch.program.name, launch.origin)} ({'running' if launch.state else 'queued'})"


def unseen_errors(seen: UnseenErrors, watch: Watch | None) -> list[str]:
    """Errors of results that are gone without anybody having awaited or read them."""
    done = threading.Event()
    if engine.threads.count():
        engine.threads.set_when_logged(done)
        done.wait(_LOG_SECONDS)
    messages = [*seen.messages, *(watch.unseen_errors() if watch is not None else [])]
    if not messages:
        return []
    return [
        f"{counted(len(messages), 'error', 'errors')} that nobody saw: await every result, or handle what its "
        "await raises",
        *listed(messages),
    ]


def memory(earlier: Before, limit: int) -> list[str]:
    """Device memory that has grown by more than ``limit`` bytes."""
    grown = sum(map(_xla.nbytes, _live_buffers())) - earlier.buffer_bytes
    if grown <= limit:
        return []
    gc.collect()
    end = perf_counter() + _RELEASE_SECONDS
    while True:
        _xla.collect_garbage()
        buffers = _live_buffers()
        grown = sum(map(_xla.nbytes, buffers)) - earlier.buffer_bytes
        if grown <= limit:
            return []
        if perf_counter() > end:
            break
        # The end of many launches is told by the first thread that notices; the others, one for each, hold their
        # buffers until they run. There is nothing to wait for but that they do.
        del buffers  # which this list holds too
        sleep(0.005)
    new = {id(buffer) for buffer in buffers} - earlier.buffers
    arrays = [
        thing
        for thing in gc.get_objects()
        if type(thing) is Array and (id(thing._buffer) in new or (thing._pending and id(thing._pending.buffer) in new))
    ]
    arrays.sort(key=lambda array: -array.nbytes)
    return [
        f"device memory has grown by {in_bytes(grown)}: delete() what is kept, or let go of it ({in_bytes(limit)} is "
        "allowed: aioarray_leak_bytes)",
        *listed(_array_text(array, arrays) for array in arrays),
    ]


def _array_text(array: Array, arrays: list[Array]) -> str:
    where = enqueued_at(array) or "made of host values"
    holder = _holder(array, arrays)
    return f"{array.dtype.name}{list(array.shape)}, {in_bytes(array.nbytes)}, {where}{holder}"


def _holder(array: Array, arrays: list[Array]) -> str:
    """Who keeps ``array``, if that can be said in a few words: a global name, or what one stands for."""
    for referrer in gc.get_referrers(array):
        if referrer is arrays or not isinstance(referrer, (dict, list, tuple, set)):
            continue
        for name, module in list(sys.modules.items()):
            namespace: dict[str, object] = getattr(module, "__dict__", {})
            inside = namespace is referrer
            for key, value in list(namespace.items()):
                if value is (array if inside else referrer):
                    return f", kept {'by' if inside else 'in'} the global {name}.{key}"
    return ""


def _waiting_threads() -> list[tuple[threading.Thread, str]]:
    """Threads of the program that hold still until an Array is ready, and where."""
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if thread.name.startswith("aioarray-") or thread is threading.current_thread():
            continue
        waits = False
        while frame is not None:
            module = frame.f_globals.get("__name__", "")
            if module.startswith("aioarray."):
                waits = waits or frame.f_code.co_name in ("block", "_await_buffer")
            elif waits:
                found.append((thread, f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"))
                break
            frame = frame.f_back
    return found


def threads(earlier: Before) -> list[str]:
    """Threads that still wait for an Array."""
    if not _unfinished():
        return []  # what anybody waited for is over
    left = [(thread, where) for thread, where in _waiting_threads() if thread.ident not in earlier.waiting]
    if not left:
        return []
    return [
        f"{counted(len(left), 'thread is', 'threads are')} still waiting for an Array: end that before the test ends",
        *listed(f"{thread.name}, at {where}" for thread, where in left),
    ]
