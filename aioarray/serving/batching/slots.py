"""``Slots``: the places of a stream model's state, as the model sees them, and ``SlotTable``: who is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .requests import Batch
    from .streams import Channel


class SlotTable:
    """Who is in which slot, for the batcher that fills and empties them. Loop thread only."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.occupants: dict[int, tuple[Batch, Channel]] = {}  # by slot
        self.joined: list[tuple[int, Any]] = []  # (slot, input), since the last step
        self.left: list[int] = []  # slots, since the last step
        self.ends: list[tuple[int, Exception | None]] = []  # which requests end with this step; None: with its item
        self._free = list(range(size))[::-1]

    def join(self, batch: Batch, channel: Channel) -> None:
        """Put a request into a free slot."""
        slot = self._free.pop()
        self.occupants[slot] = batch, channel
        self.joined.append((slot, channel.x))
        channel.x = None

    def leave(self, slot: int) -> Batch:
        """Empty a slot."""
        self._free.append(slot)
        self.left.append(slot)
        return self.occupants.pop(slot)[0]

    def begin_step(self) -> None:
        """Forget what the step that has just ended has seen."""
        self.joined, self.left = [], []

    def take_ends(self) -> list[tuple[int, Exception | None]]:
        """What ``Slots.finish`` and ``Slots.fail`` were told in this step."""
        ends, self.ends = self.ends, []
        return ends


class Slots:
    """What a step of a stream model works on: ``size`` places, each empty or with one request.

    The model reads ``joined``, ``left`` and ``active``, and calls ``finish`` and ``fail``. They hold for one step, from
    one ``yield`` to the next; the loop's thread only.

    >>> aio.serving.Slots(4).active
    array([False, False, False, False])
    """

    def __init__(self, size: int, table: SlotTable | None = None) -> None:
        self.size = size
        self._table = table or SlotTable(size)

    @property
    def joined(self) -> list[tuple[int, Any]]:
        """(slot, input) of the requests that joined since the last step; their state has to be made."""
        return self._table.joined

    @property
    def left(self) -> list[int]:
        """The slots emptied since the last step, because their request ended or its caller went away."""
        return self._table.left

    @property
    def active(self) -> np.ndarray[Any, Any]:
        """For each slot, whether there is a request in it."""
        active = np.zeros(self.size, bool)
        active[list(self._table.occupants)] = True
        return active

    def finish(self, slot: int) -> None:
        """The request in ``slot`` ends with what the step yields next. ``ValueError`` if there is none."""
        self._end("finish", slot, None)

    def fail(self, slot: int, error: Exception) -> None:
        """The request in ``slot`` ends with ``error``, and with no item of this step. ``ValueError`` if there is none.

        The way to refuse one request, where raising ends them all. ``TypeError`` for what is no exception.
        """
        given: Any = error
        if not isinstance(given, Exception):
            raise TypeError(
                f"Slots.fail: error is {error!r}; it has to be an exception, such as ValueError('too long')"
            )
        self._end("fail", slot, error)

    def _end(self, what: str, slot: int, error: Exception | None) -> None:
        occupied = self._table.occupants
        if slot not in occupied:
            raise ValueError(f"Slots.{what}: there is no request in slot {slot}; there are in {sorted(occupied)}")
        self._table.ends.append((slot, error))
