"""``compile_budget``: how many programs a part of the program may make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._engine.budget import Action, Budget, budgets

if TYPE_CHECKING:
    from contextvars import Token
    from types import TracebackType


class compile_budget:
    """In its body, and in tasks started there, no more than ``limit`` new programs; of operations and of ``jit`` alike.

    The call that needs one more raises ``CompileBudgetError``, or warns with ``CompileBudgetWarning`` if ``action`` is
    "warn", and says what differs from the nearest program there is. ``used`` counts the new programs.

    >>> f = aio.jit(lambda x: x + 1)
    >>> with aio.compile_budget(2) as budget:
    ...     first, second = f(1), f(2)  # the same program
    >>> budget.used
    1
    """

    def __init__(self, limit: int, *, action: Action = "raise") -> None:
        if limit < 0:
            raise ValueError(f"compile_budget: limit is {limit}; it must be 0 or more")
        if action not in ("raise", "warn"):
            raise ValueError(f"compile_budget: action {action!r} is not one of raise, warn")
        self._budget = Budget(limit, action)
        self._token: Token[tuple[Budget, ...]] | None = None

    @property
    def used(self) -> int:
        """New programs so far."""
        return self._budget.used

    def __enter__(self) -> compile_budget:
        self._token = budgets.set((*budgets.get(), self._budget))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._token is not None
        budgets.reset(self._token)
