"""``d[0][1] = 5``: an assignment into an Array that nobody else holds, and that is therefore lost. It is warned about.

NumPy's ``d[0]`` is a view, so there the same line changes ``d``. Here ``d[0]`` is an Array of its own.
"""

from __future__ import annotations

import ast
import dis
import linecache
import sys
import warnings
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Final

from .._base.errors import LostAssignmentWarning

if TYPE_CHECKING:
    from types import FrameType

_STORES: Final = {dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap}


class _Probe:
    """Tells how many references an object has, seen from its ``__setitem__``."""

    __slots__ = ("count",)

    def __setitem__(self, index: object, value: object) -> None:
        seen[0] = getrefcount(self)


seen = [0]


def _references_of_a_temporary() -> int:
    """The count that an object has whose only reference is the statement's own; 0 if Python's counts do not tell."""
    named = _Probe()
    named[0] = 0
    held = seen[0]
    _Probe()[0] = 0
    return seen[0] if seen[0] < held else 0


TEMPORARY: Final = _references_of_a_temporary()


def warn_if_lost(index: Any) -> None:
    """Warn, unless the caller of ``__setitem__`` is other than a statement ``x[index] = value``.

    To be called by ``__setitem__`` of an object that has as many references as ``TEMPORARY``.
    """
    frame: FrameType = sys._getframe(2)
    # Code written in C may hold an object by a reference that it has borrowed or kept for itself.
    if frame.f_code.co_code[frame.f_lasti] not in _STORES:
        return
    outer, value = _subscripts(frame)
    better = "index once: x[i, j] = value, or x = x.at[i, j].set(value)"
    if outer is not None:
        better = f"write {outer} = {value}" if value is not None else f"index once: {outer}"
        if value is not None:
            name, _, inside = outer.partition("[")
            better += f", or {name} = {name}.at[{inside}.set({value})"
    warnings.warn(
        f"assignment to [{index!r}] of an Array that nothing else holds, such as x[i] in x[i][j] = value, has no "
        f"effect: x[i] is an Array of its own, not a view; {better}",
        LostAssignmentWarning,
        stacklevel=3,
    )


def _subscripts(frame: FrameType) -> tuple[str | None, str | None]:
    """For a line ``x[i][j] = value``: ``"x[i, j]"`` and ``"value"``; None for what cannot be put so."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None, None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
        value = ast.unparse(statement.value)
    else:
        return None, None
    indices: list[str] = []
    while isinstance(target, ast.Subscript):
        # The second index counts within what the first one gives: the same only where that takes whole axes away.
        entries = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if indices and not all(map(_is_integer, entries)):
            return None, None
        indices[:0] = [ast.unparse(entry) for entry in entries]
        target = target.value
    if len(indices) < 2 or not isinstance(target, ast.Name):
        return None, None
    return f"{target.id}[{', '.join(indices)}]", value


def _is_integer(entry: ast.expr) -> bool:
    if isinstance(entry, ast.UnaryOp):
        entry = entry.operand
    return isinstance(entry, ast.Name) or (isinstance(entry, ast.Constant) and type(entry.value) is int)
