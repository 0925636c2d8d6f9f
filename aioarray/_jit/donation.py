"""Donated arguments: their memory goes to the results, and the Arrays are deleted.

PJRT itself copies instead where NumPy or DLPack look into a buffer. It knows nothing of our own objects, so a buffer
that another Array or a launch that is still queued holds, too, is copied here first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._array import Array, call
from .._graph import Definition, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._engine import Pending
    from .._xla import Buffer


def _copied(x: Node) -> tuple[Node]:
    return (x,)


# In a tuple, since a single result that is an argument would need no launch, and so be no copy.
_copy = Definition("copy of a donated argument", _copied)


def references(operands: list[Buffer | Pending], index: int) -> int:
    """How many references Python has to one operand, counting the caller's."""
    return sys.getrefcount(operands[index])


def _unshared() -> int:
    """What ``references`` gives for the operand of an Array, when the Array and a list are all that hold it."""

    class Holder:
        def __init__(self) -> None:
            self.held: Any = object()

    holder = Holder()
    return references([holder.held], 0)


UNSHARED = _unshared()


def give_up(
    arrays: Sequence[Array], operands: list[Buffer | Pending], donated: Sequence[int], describe: Callable[[int], str]
) -> None:
    """Make ``operands``, those of ``arrays``, such that the ``donated`` ones may be overwritten.

    Raises ``ValueError`` where a donated argument is passed twice; nothing has been changed then.
    """
    for index in donated:
        others = [i for i, operand in enumerate(operands) if operand is operands[index] and i != index]
        if others:
            other = others[0]
            raise ValueError(
                f"{describe(index)} is donated, but {describe(other)} is the same Array, which would be overwritten "
                "while it is read; pass a copy (aio.asarray(x, copy=True)), or do not donate it"
            )
    for index in donated:
        if references(operands, index) > UNSHARED:
            (copy,) = call(_copy, (arrays[index],))
            operands[index] = copy._operand("copy")
