"""One call of a batcher's function: host rows in, host rows out."""

from __future__ import annotations

import inspect
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import numpy as np

import aioarray as aio

from ..._xla import trees
from .cancellation import an_error_of
from .inputs import sources_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from .inputs import Argument, Inputs, Layout
    from .requests import Part

# Copying less than this takes less time than asking another thread to.
COPY_HERE_BYTES: Final = 1 << 18


class WrongResultError(RuntimeError):
    """The function gave something that has no row for each row of the batch: no input's fault."""


class BatchFunction:
    """A function of batches, with how its batches are put together. Loop thread only."""

    def __init__(
        self, name: str, function: Callable[..., Any], inputs: Inputs, arguments: Mapping[str, Argument]
    ) -> None:
        self.name = name
        self.frozen = False  # whether it may make no new programs
        self._started: dict[object, float] = {}  # when each call under way began
        self._function = function
        self._inputs = inputs
        self._arguments = arguments

    @property
    def running_seconds(self) -> float:
        """How long the oldest call under way has been running; 0 if there is none."""
        return time.monotonic() - min(self._started.values()) if self._started else 0.0

    async def call(
        self, key: Hashable, layout: Layout, parts: Sequence[Part], size: int
    ) -> tuple[list[np.ndarray[Any, Any]], Any]:
        """The leaves of the result for a batch of the rows of ``parts``, padded to ``size``; and its structure.

        Raises what the function raises; ``WrongResultError`` for a result without a row for each row;
        ``CancelledWithinError`` for a cancellation that came out of the function and is not that of this task.
        """
        call = object()
        self._started[call] = time.monotonic()
        try:
            return await self._call(key, layout, parts, size)
        finally:
            del self._started[call]

    async def _call(
        self, key: Hashable, layout: Layout, parts: Sequence[Part], size: int
    ) -> tuple[list[np.ndarray[Any, Any]], Any]:
        sources = sources_of(parts)
        if self._inputs.nbytes(layout, size) > COPY_HERE_BYTES:
            stacked = await anyio.to_thread.run_sync(self._inputs.stack, layout, sources, size)
        else:
            stacked = self._inputs.stack(layout, sources, size)
        x = layout.structure.unflatten(map(_on_device, stacked))
        arguments = {name: make(key, layout, parts, size) for name, make in self._arguments.items()}
        with an_error_of(self.name):
            with aio.compile_budget(0) if self.frozen else nullcontext():
                result = self._function(x, **arguments)
                if not isinstance(result, aio.Array) and inspect.isawaitable(result):
                    result = await result
            leaves, structure = trees.flatten(result)
            values = [await leaf.to_host() if isinstance(leaf, aio.Array) else leaf for leaf in leaves]
        self._check(values, size, sum(part.rows for part in parts))
        return values, structure

    def _check(self, leaves: Sequence[Any], size: int, rows: int) -> None:
        if not leaves:
            raise WrongResultError(f"{self.name}: the function returned no arrays")
        for leaf in leaves:
            if not isinstance(leaf, np.ndarray):
                raise WrongResultError(
                    f"{self.name}: the function returned a {type(leaf).__name__}; it has to return arrays with one "
                    "row for each row of the batch"
                )
            if leaf.ndim == 0 or leaf.shape[0] not in (size, rows):
                raise WrongResultError(
                    f"{self.name}: the function returned an array of shape {leaf.shape} for a batch of {size} rows; "
                    f"the first dimension of every result has to be {size}"
                )


def _on_device(leaf: np.ndarray[Any, Any]) -> aio.Array:
    # The memory was made for this batch, so it can be the device's: nobody writes to it again. That of an array
    # without elements cannot be.
    return aio.asarray(leaf, copy=False if leaf.size else None)


async def finite_rows(leaves: Sequence[np.ndarray[Any, Any]], rows: int) -> np.ndarray[Any, Any]:
    """For each row, whether it is free of NaNs and infinities in every leaf."""
    if sum(leaf.nbytes for leaf in leaves) > COPY_HERE_BYTES:
        return await anyio.to_thread.run_sync(_finite_rows, leaves, rows)
    return _finite_rows(leaves, rows)


def _finite_rows(leaves: Sequence[np.ndarray[Any, Any]], rows: int) -> np.ndarray[Any, Any]:
    finite = np.ones(rows, bool)
    for leaf in leaves:
        if leaf.dtype.kind not in "iubOSU":
            finite &= np.isfinite(leaf[:rows]).all(axis=tuple(range(1, leaf.ndim)))
    return finite
