"""Budgets for new programs: a service finds out here that it compiles more than it means to."""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

from .._base.callers import stack_level
from .._base.errors import CompileBudgetError, CompileBudgetWarning

if TYPE_CHECKING:
    from collections.abc import Callable

Action = Literal["raise", "warn"]


class Budget:
    """So many new programs, for the code under one ``with``. ``used`` is written by any thread that runs under it."""

    __slots__ = ("action", "limit", "used")

    def __init__(self, limit: int, action: Action) -> None:
        self.limit = limit
        self.action = action
        self.used = 0


class _State:
    """Whether new programs are refused altogether; the only writers are ``freeze`` and ``thaw``, any thread."""

    __slots__ = ("frozen",)

    def __init__(self) -> None:
        self.frozen = False


_state = _State()
# The budgets that hold here, outermost first.
budgets: ContextVar[tuple[Budget, ...]] = ContextVar("aioarray_compile_budgets", default=())


def freeze() -> None:
    """From now on refuse new programs."""
    _state.frozen = True


def thaw() -> None:
    """Accept new programs again."""
    _state.frozen = False


def is_frozen() -> bool:
    """Whether new programs are refused."""
    return _state.frozen


def admit(name: str, explain: Callable[[], str] | None) -> None:
    """Count a new program of ``name``. ``CompileBudgetError`` where there is no budget left for it."""
    if _state.frozen:
        raise CompileBudgetError(
            f"{name} needs a new program, but the compile cache is frozen{_why(explain)}; compile it before "
            "aio.compile_cache.freeze(), for example with aio.warmup"
        )
    for budget in budgets.get():
        budget.used += 1
        if budget.used > budget.limit:
            exceeded(
                budget.action,
                f"{name} needs a new program, number {budget.used} under compile_budget({budget.limit}){_why(explain)}",
            )


def exceeded(action: Action, message: str) -> None:
    """Raise or warn, at the line that called into aioarray."""
    if action == "raise":
        raise CompileBudgetError(message)
    warnings.warn(message, CompileBudgetWarning, stacklevel=stack_level())


def _why(explain: Callable[[], str] | None) -> str:
    reason = explain() if explain is not None else ""
    return f": {reason}" if reason else ""
