"""``Slots``: the places of a stream model's state, and who is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._requests import Batch
    from ._streams import Channel


class Slots:
    """What a step of a stream model works on: ``size`` places, each empty or with one request.

    The model reads ``joined``, ``left`` and ``active``, and calls ``finish`` and ``fail``. They hold for one step, from
    one ``yield`` to the next; the loop's thread only.

    >>> aio.serving.Slots(4).active
    array([False, False, False, False])
    """

    def __init__(self, size: int) -> None:
        self.size = size
        # (slot, input) of the requests that joined since the last step; their state has to be made.
        self.joined: list[tuple[int, Any]] = []
        # The slots that were emptied since the last step, because their request ended or its caller went away.
        self.left: list[int] = []
        self._channels: dict[int, tuple[Batch, Channel]] = {}  # by slot
        self._free = list(range(size))[::-1]
        self._finished: list[int] = []
        self._failed: list[tuple[int, Exception]] = []

    @property
    def active(self) -> np.ndarray[Any, Any]:
        """For each slot, whether there is a request in it."""
        active = np.zeros(self.size, bool)
        active[list(self._channels)] = True
        return active

    def finish(self, slot: int) -> None:
        """The request in ``slot`` ends with what the step yields next. ``ValueError`` if there is none."""
        self._check("finish", slot)
        self._finished.append(slot)

    def fail(self, slot: int, error: Exception) -> None:
        """The request in ``slot`` ends with ``error``, and with no item of this step. ``ValueError`` if there is none.

        The way to refuse one request, where raising ends them all. ``TypeError`` for what is no exception.
        """
        self._check("fail", slot)
        given: Any = error
        if not isinstance(given, Exception):
            raise TypeError(
                f"Slots.fail: error is {error!r}; it has to be an exception, such as ValueError('too long')"
            )
        self._failed.append((slot, error))

    def _check(self, what: str, slot: int) -> None:
        if slot not in self._channels:
            raise ValueError(f"Slots.{what}: there is no request in slot {slot}; there are in {sorted(self._channels)}")

    # For the batcher

    def _join(self, batch: Batch, channel: Channel) -> None:
        slot = self._free.pop()
        self._channels[slot] = batch, channel
        self.joined.append((slot, channel.x))
        channel.x = None

    def _leave(self, slot: int) -> Batch:
        self._free.append(slot)
        self.left.append(slot)
        return self._channels.pop(slot)[0]

    def _begin_changes(self) -> None:
        """What happened before was seen by the step that has just ended."""
        self.joined, self.left = [], []

    def _take_ends(self) -> tuple[list[int], list[tuple[int, Exception]]]:
        finished, self._finished = self._finished, []
        failed, self._failed = self._failed, []
        return finished, failed
