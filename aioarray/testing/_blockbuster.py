"""Having blockbuster, a detector of blocking calls in event loops, know the calls that wait for an Array."""

from __future__ import annotations

import gc
import sys
from typing import Any, Final

from .._array import Array
from .._engine import engine

__all__ = ["active_blockbuster", "register_with_blockbuster"]

# method of Array -> what blockbuster's error calls it
_BLOCKING: Final = {
    "block_until_ready": "aioarray.Array.block_until_ready",
    "_host_value": "a host read of an aioarray.Array (float(), bool(), .item(), numpy.asarray() and the like)",
}


def register_with_blockbuster(blockbuster: Any) -> None:
    """Add ``block_until_ready`` and host reads to what a ``blockbuster.BlockBuster`` detects in event loops.

    Those of values that were awaited, or made of host values, wait for nothing and stay allowed. If it is active, so
    are they at once. The pytest plugin does this for one that is active when a test begins.

    >>> class BlockBuster:
    ...     functions = {}
    >>> aio.testing.register_with_blockbuster(BlockBuster())
    Traceback (most recent call last):
    TypeError: register_with_blockbuster: ... is no blockbuster.BlockBuster
    """
    functions = getattr(blockbuster, "functions", None)
    if not functions or type(blockbuster).__module__.partition(".")[0] != "blockbuster":
        raise TypeError(f"register_with_blockbuster: {blockbuster!r} is no blockbuster.BlockBuster")
    engine.device()  # made at first use, which would hold a loop once, and is nothing that a test could help
    sample = next(iter(functions.values()))
    for name, text in _BLOCKING.items():
        if text in functions:
            continue
        function = type(sample)(Array, name, can_block_predicate=_waits_for_nothing)
        function.full_name = text
        # The modules that it was told to watch.
        function._scanned_modules, function._excluded_modules = sample._scanned_modules, sample._excluded_modules
        functions[text] = function
        if sample.activated:
            function.activate()


def _waits_for_nothing(array: Array, *_: object) -> bool:
    return array._awaited


def active_blockbuster() -> Any:
    """The ``BlockBuster`` that is active, if any."""
    module = sys.modules.get("blockbuster")
    if module is None or not hasattr(sys.modules["time"].sleep, "__closure__"):
        return None  # it is not used, or not active: `time.sleep` is a function of C
    for thing in gc.get_objects():
        if type(thing) is module.BlockBuster and any(function.activated for function in thing.functions.values()):
            return thing
    return None
