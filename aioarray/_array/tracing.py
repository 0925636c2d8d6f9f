"""Which function is being traced on this thread, as far as Arrays need to know; ``traced`` does the tracing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from .._base.dtypes import Scalar
    from .._graph import Definition
    from .._xla import Device
    from .array import Array, ArrayLike


class Trace(Protocol):
    """The recording of a function for ``jit``: what Arrays inside it belong to."""

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> Device: ...

    @property
    def parent(self) -> Trace | None: ...

    def call(
        self, definition: Definition[Any], arrays: tuple[ArrayLike | None, ...], static: tuple[Any, ...]
    ) -> Any: ...

    def number(self, value: Scalar) -> Array: ...

    def constant(self, value: np.ndarray, weak: bool = False) -> Array: ...

    def traced(self, function: str, x: ArrayLike) -> Array: ...


class _Tracing(threading.local):
    """This thread's innermost function that is being traced; set by ``traced`` alone.

    While there is one, nothing is launched: operations become a part of it, on whatever Arrays.
    """

    recording: Trace | None = None


tracing = _Tracing()
