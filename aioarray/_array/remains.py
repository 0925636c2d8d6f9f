"""``Remains``: what hands the memory of a large Array over when that goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _xla
from .._engine import Pending

if TYPE_CHECKING:
    from .._xla import Buffer


class Remains:
    """Held by an Array alone, so that it ends with the Array, or with that value of it. Any thread, anywhere."""

    __slots__ = ("_nbytes", "_value")

    _hand_over = _xla.freeing.hand_over  # the module may be empty when the interpreter ends

    def __init__(self, value: Buffer | Pending, nbytes: int) -> None:
        self._value: Any = value
        self._nbytes = nbytes

    def __del__(self) -> None:
        value = self._value
        self._value = None
        if isinstance(value, Pending):
            # Otherwise the launch holds the memory, and whoever notes its end frees it.
            value = value.buffer if value.launch is None else None
        if value is not None:
            box = [value]
            del value
            self._hand_over(box, self._nbytes)
