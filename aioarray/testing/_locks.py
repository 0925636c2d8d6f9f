"""Which lock of ``threading`` a coroutine holds where it awaits."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import threading
import types
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from types import CodeType, FrameType

_LOCKS: Final = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)
_COROUTINES: Final = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR


class HeldLockError(AssertionError):
    """A coroutine awaited an Array while it held a lock of ``threading`` (setting ``held_locks="raise"``)."""


class _Block(NamedTuple):
    """A ``with`` statement: the lines of its body, and what it enters."""

    first: int
    last: int
    line: int
    contexts: tuple[ast.expr, ...]


@functools.lru_cache(maxsize=256)
def _blocks_of_file(filename: str) -> tuple[_Block, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ()  # no Python file, or one that has changed since
    return tuple(
        _Block(
            node.body[0].lineno, node.end_lineno or node.lineno, node.lineno, tuple(i.context_expr for i in node.items)
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
    )


@functools.lru_cache(maxsize=1024)
def _blocks(code: CodeType) -> tuple[_Block, ...]:
    """The ``with`` statements of a function; none for most, which then cost nothing."""
    if not code.co_flags & _COROUTINES:
        return ()
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first, last = min(lines, default=0), max(lines, default=0)
    return tuple(block for block in _blocks_of_file(code.co_filename) if first <= block.line <= last)


def _value(expression: ast.expr, frame: FrameType) -> Any:
    """What a name or an attribute of one is in ``frame``; None for anything that would have to be run."""
    if isinstance(expression, ast.Name):
        return frame.f_locals.get(expression.id, frame.f_globals.get(expression.id))
    if isinstance(expression, ast.Attribute):
        # Without properties and the like, which would have to be run too, and could raise.
        owner = _value(expression.value, frame)
        found = inspect.getattr_static(owner, expression.attr, None)
        return getattr(owner, expression.attr, None) if isinstance(found, types.MemberDescriptorType) else found
    return None


def held_lock(frame: FrameType | None) -> str | None:
    """What to say about a lock that is held by ``with`` in the coroutines that run in ``frame``, or None."""
    while frame is not None:
        for block in _blocks(frame.f_code):
            if not block.first <= frame.f_lineno <= block.last:
                continue
            for expression in block.contexts:
                lock = _value(expression, frame)
                if isinstance(lock, _LOCKS):
                    code = frame.f_code
                    return (
                        f"an Array is awaited at {code.co_filename}:{frame.f_lineno} in {code.co_name} while "
                        f"`{ast.unparse(expression)}`, a {_name(lock)}, is held since line {block.line}: another task "
                        "that wants it stops the event loop, and this task with it, for good. Release the lock before "
                        "the await, or use asyncio.Lock or anyio.Lock with `async with`"
                    )
        frame = frame.f_back
    return None


def _name(lock: object) -> str:
    kind = type(lock)
    return {_LOCKS[0]: "threading.Lock", _LOCKS[1]: "threading.RLock"}.get(
        kind, f"{kind.__module__}.{kind.__qualname__}"
    )
