"""``compile_budget``: how many programs a part of the program may make."""

from __future__ import annotations

from typing import Self

from .._base.scoped import Scoped
from .._engine.budget import Action, Budget, budgets


class compile_budget(Scoped[tuple[Budget, ...]]):
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
        super().__init__(budgets, (self._budget,))

    @property
    def used(self) -> int:
        """New programs so far."""
        return self._budget.used

    def __enter__(self) -> Self:
        self._value = (*budgets.get(), self._budget)
        return super().__enter__()
