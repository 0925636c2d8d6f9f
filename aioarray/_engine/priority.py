"""``priority``: which launches are made first when not all can be."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Literal, get_args

from .._base.scoped import Scoped

Priority = Literal["high", "normal", "background"]

# The order in which launches are made, whatever else counts.
HIGH: Final = 0
NORMAL: Final = 1
BACKGROUND: Final = 2
NAMES: Final[tuple[Priority, ...]] = ("high", "normal", "background")

# Of the code that runs in this context.
current: ContextVar[int] = ContextVar("aioarray_priority", default=NORMAL)


class priority(Scoped[int]):
    """Set the priority of what is launched in the ``with``: "high", "normal" (the default) or "background".

    It holds for the body, for the tasks that it starts, and for functions that it runs by ``run_sync``. Of launches
    that could be made, those of high priority go first. Those of "background" are made one at a time, only while
    nothing else waits to be launched and a core is free. Work that is over at once is done at once, whatever its
    priority. A launch that needs the result of one with a lower priority lifts that, and what that waits for, to its
    own. A server runs each batch under the priority of its most urgent row. Raises ``ValueError`` for another name.

    >>> with aio.priority("background"):
    ...     index = aio.ones((256, 256)) @ aio.ones((256, 256))
    >>> index.shape
    (256, 256)
    """

    def __init__(self, level: Priority) -> None:
        if level not in NAMES:
            raise ValueError(f"priority: {level!r} is not one of {', '.join(get_args(Priority))}")
        super().__init__(current, NAMES.index(level))
