"""``explain``: why an Array is not ready."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .. import _xla
from .._array import Array
from .._engine import engine, location
from .._engine.launch import LAUNCHED, LAUNCHING, QUEUED

if TYPE_CHECKING:
    from .._engine import Launch, Pending, Program
    from .._engine.failure import Origin

# So many steps back from what waits to what it waits for.
DEPTH = 4
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
# So many are named of what is before it in a queue.
_NAMED = 3


def explain(array: Array) -> str:
    """Why ``array`` is not ready, in a short text; or that it is, or with what it has failed. Never waits.

    ``TypeError`` for what is no Array.

    >>> x = aio.ones(3)
    >>> aio.explain(x.block_until_ready())
    'ready'
    >>> from aioarray import testing
    >>> with testing.hold("add"):
    ...     y = x + 1
    ...     print(aio.explain(y * 2))
    `multiply` (enqueued at ...) waits for its input `add`, which is held by testing.hold()
    """
    if not isinstance(array, Array):
        raise TypeError(f"explain: needs an Array, this is a {type(array).__name__}")
    if array.is_deleted():
        return "deleted: its value is gone"
    pending = array._settle("is_ready")
    if pending is None:
        return "ready"
    if pending.failure is not None:
        return f"failed: {pending.failure}"
    if array.is_ready():
        return "ready"
    launch = pending.launch
    if launch is None:
        return "ready"
    return f"`{launch.program.name}`{_enqueued(launch.origin)} {_state(launch, DEPTH)}"


def _enqueued(where: Origin | None) -> str:
    return "" if where is None else f" (enqueued at {location(where)})"


def _state(launch: Launch, depth: int) -> str:
    """What ``launch`` is doing, beginning with a verb."""
    state = launch.state
    if state == QUEUED:
        return _queued(launch, depth)
    if state == LAUNCHING:
        return "is just being launched by a worker thread, inside which it may run"
    if state == LAUNCHED:
        unfinished = [source for source in launch.sources if not _is_over(source)]
        if unfinished:
            return f"is launched and waits for {_inputs(unfinished, depth)}"
        begun = launch.begun
        return "is running" if begun is None else f"has been running for {_duration(time.perf_counter() - begun)}"
    return "is finished"


def _queued(launch: Launch, depth: int) -> str:
    if launch.observer.holds > 0:
        return "is held by testing.hold()"
    missing = [source for source in launch.sources if not _is_there(source, launch)]
    if missing:
        return f"waits for {_inputs(missing, depth)}"
    if launch.program.compiled is None and launch.observer.fault is None:
        return _compiling(launch.program)
    return _in_queue(launch, depth)


def _is_over(source: Pending) -> bool:
    return source.launch is None or (source.buffer is not None and _xla.is_ready(source.buffer))


def _is_there(source: Pending, launch: Launch) -> bool:
    """Whether ``launch`` could be made, as far as this input is concerned."""
    return source.launch is None or (source.buffer is not None and not launch.program.donated)


def _inputs(missing: list[Pending], depth: int) -> str:
    first = missing[0].launch
    number = len({source.launch for source in missing})
    others = f" and {number - 1} more" if number > 1 else ""
    if first is None:
        return "its input"
    text = f"its input `{first.program.name}`{others}"
    return text if depth == 0 else f"{text}, which {_state(first, depth - 1)}"


def _compiling(program: Program) -> str:
    before, since = engine.compiler.progress(program)
    if since is not None:
        return f"waits for the compile of `{program.name}`, which has been going on for {_duration(since)}"
    if before:
        return f"waits for the compile of `{program.name}`, {_place(before)}"
    return f"waits for the compile of `{program.name}`, which is about to begin"


def _in_queue(launch: Launch, depth: int) -> str:
    before = engine.scheduler.before(launch)
    if before is None:
        unfinished = [source for source in launch.sources if not _is_over(source)]
        if unfinished:
            return f"waits for {_inputs(unfinished, depth)}"
        return "is delayed by testing.delay()" if launch.observer.held else "is about to be launched"
    names, reason = before
    return (
        f"waits to be launched, {_place(names)}: {reason}" if reason else f"waits for a launch worker, {_place(names)}"
    )


def _place(before: list[str]) -> str:
    """Its place in a queue behind those."""
    number = len(before) + 1
    teens = number // 10 % 10 == 1
    ordinal = f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"
    if not before:
        return f"{ordinal} in the queue"
    named = ", ".join(f"`{name}`" for name in before[:_NAMED])
    more = f" and {len(before) - _NAMED} more" if len(before) > _NAMED else ""
    return f"{ordinal} in the queue behind {named}{more}"


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 10 else f"{seconds:.0f} s"
