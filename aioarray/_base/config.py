"""Process defaults that a caller may scope with ``with``: default dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .scoped import ScopedSetting, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

RealName = Literal["float32", "float64"]
IntegralName = Literal["int32", "int64"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """The dtypes given to values that come without one.

    Compared and hashed by value: it is part of the key of every program built while it holds.
    """

    real: np.dtype
    integral: np.dtype

    @property
    def complex(self) -> np.dtype:
        return np.dtype("complex64" if self.real == np.float32 else "complex128")


STANDARD = Defaults(np.dtype("float32"), np.dtype("int32"))


class _State:
    """What ``default_dtypes`` has set; the only writer is that class (any thread)."""

    __slots__ = ("overridden", "when_overridden")

    def __init__(self) -> None:
        # Called at each override: how the engine learns that its fast path's keys no longer suffice.
        self.when_overridden: Callable[[], None] | None = None
        # Stays True from the first override on: callers that see False may skip the ContextVar.
        self.overridden = False


_state = _State()
_setting: Setting[Defaults] = Setting("aioarray_default_dtypes", STANDARD)


def current() -> Defaults:
    """The defaults that hold here: the innermost ``with``, else the process-wide ones."""
    return _setting.get() if _state.overridden else STANDARD


def call_when_overridden(function: Callable[[], None]) -> None:
    """Have ``function()`` called whenever the defaults are changed from now on."""
    _state.when_overridden = function


def overridden() -> bool:
    """Whether anybody has ever changed the defaults in this process."""
    return _state.overridden


class default_dtypes(ScopedSetting[Defaults]):
    """Set the default real and integral dtypes; as a context manager, for its body only.

    ``real`` is ``"float32"`` or ``"float64"``, ``integral`` ``"int32"`` or ``"int64"``; what is left out stays.
    Raises ``ValueError`` for other dtypes.

    >>> with aio.default_dtypes(real="float64"):
    ...     print(aio.zeros(3).dtype)
    float64
    >>> print(aio.zeros(3).dtype)
    float32
    """

    def __init__(
        self,
        *,
        real: RealName | np.dtype | None = None,
        integral: IntegralName | np.dtype | None = None,
    ) -> None:
        before = current()
        defaults = Defaults(
            _choose("real", real, before.real, ("float32", "float64")),
            _choose("integral", integral, before.integral, ("int32", "int64")),
        )
        _state.overridden = True
        super().__init__(_setting, defaults)
        if _state.when_overridden is not None:
            _state.when_overridden()


def _choose(argument: str, given: str | np.dtype | None, before: np.dtype, allowed: tuple[str, str]) -> np.dtype:
    if given is None:
        return before
    dtype = np.dtype(given)
    if dtype.name not in allowed:
        raise ValueError(
            f"default_dtypes: {argument}={dtype.name!r} is not allowed; use {allowed[0]!r} or {allowed[1]!r}"
        )
    return dtype
