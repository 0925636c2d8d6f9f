"""An async service: scores of documents against a model, with retries, a time limit and a bound on what is under way.

Its tests are in `test_service.py`, `test_flaky_device.py` and `test_cancellation.py`; run them with `pytest` in this
folder. `app.py` puts it behind HTTP, `trio_program.py` runs it on trio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import numpy as np

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Sequence

FEATURES = 4


class Overloaded(Exception):
    """More requests are under way than the service takes on."""


@aio.jit(buckets={"documents": (1, 8, 64)}, bucket_axes={"x": ("documents", None)})
def scores_of(weights: aio.Array, x: aio.Array) -> aio.Array:
    """One score for each row of ``x``: one program for up to 8 documents, one for up to 64."""
    return aio.tanh(x @ weights)


class Scorer:
    """Scores documents. Retries what failed for want of memory, since other requests give theirs back."""

    def __init__(self, weights: Sequence[float], *, retries: int = 2, timeout: float = 60.0, limit: int = 100) -> None:
        self._weights = aio.asarray(np.asarray(weights, np.float32))
        self._retries = retries
        self._timeout = timeout
        self._limit = limit
        self.under_way = 0

    async def score(self, documents: Sequence[Sequence[float]]) -> list[float]:
        """The scores; raises ``Overloaded``, ``TimeoutError`` or ``aioarray.errors.DeviceError``."""
        if self.under_way >= self._limit:
            raise Overloaded
        self.under_way += 1
        try:
            with anyio.fail_after(self._timeout):
                return await self._score(np.asarray(documents, np.float32).reshape(-1, FEATURES))
        finally:
            self.under_way -= 1

    async def _score(self, rows: np.ndarray) -> list[float]:
        attempts = 0
        while True:
            x = await aio.device_put(rows)
            try:
                return (await scores_of(self._weights, x).to_host()).tolist()
            except aio.errors.DeviceError as error:
                attempts += 1
                if error.status != "RESOURCE_EXHAUSTED" or attempts > self._retries:
                    raise
