"""Settings that hold in the body of a ``with``: in the code there, and in the tasks that it starts."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from contextvars import Token

T = TypeVar("T")


class Scoped(Generic[T]):
    """A context manager that gives ``variable`` a value. It may be entered again, also while it is entered."""

    def __init__(self, variable: ContextVar[T], value: T) -> None:
        self._variable = variable
        self._value = value
        self._tokens: list[Token[T]] = []

    def __enter__(self) -> Self:
        self._tokens.append(self._variable.set(self._value))
        return self

    def __exit__(self, *exception: object) -> None:
        self._variable.reset(self._tokens.pop())


class Setting(Generic[T]):
    """A setting of the process that can be scoped. Any thread; ``base`` is written by ``ScopedSetting`` alone."""

    __slots__ = ("base", "scoped")

    def __init__(self, name: str, base: T) -> None:
        self.base = base
        self.scoped: ContextVar[T | None] = ContextVar(name, default=None)

    def get(self) -> T:
        """The value that holds here: of the innermost ``with``, else that of the process."""
        value = self.scoped.get()
        return self.base if value is None else value


class ScopedSetting(Scoped[T | None]):
    """Sets ``setting`` for the process when it is made; when it is entered, for its body alone."""

    def __init__(self, setting: Setting[T], value: T) -> None:
        super().__init__(setting.scoped, value)
        self._setting = setting
        self.before = setting.base  # of the process
        setting.base = value

    def __enter__(self) -> Self:
        self._setting.base = self.before
        return super().__enter__()
