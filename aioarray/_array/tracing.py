"""Which function is being traced on this thread, as far as Arrays need to know; ``traced`` does the tracing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np

    from .._base.dtypes import Scalar
    from .._graph import Definition
    from .._xla import Device


A_co = TypeVar("A_co", covariant=True)


class Trace(Protocol[A_co]):
    """The recording of a function for ``jit``: what Arrays inside it belong to."""

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> Device: ...

    @property
    def parent(self) -> Trace[A_co] | None: ...

    def call(self, definition: Definition[Any], arrays: tuple[Any, ...], static: tuple[Any, ...]) -> Any: ...

    def number(self, value: Scalar) -> A_co: ...

    def constant(self, value: np.ndarray, weak: bool = False) -> A_co: ...

    def traced(self, function: str, x: Any) -> A_co: ...


class _Tracing(threading.local):
    """This thread's innermost function that is being traced; set by ``traced`` alone.

    While there is one, nothing is launched: operations become a part of it, on whatever Arrays.
    """

    recording: Trace[Any] | None = None


tracing = _Tracing()
