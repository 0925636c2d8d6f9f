"""What ``testing`` and ``profiling`` are made of: instruments of the engine, and a watch on event loops."""

from __future__ import annotations

from .counting import Counter, Event
from .faults import Delay, Fault, Injector
from .gate import Gate, Held
from .loop_lag import Blocked, LoopWatch
from .scope import Scope

__all__ = [
    "Blocked",
    "Counter",
    "Delay",
    "Event",
    "Fault",
    "Gate",
    "Held",
    "Injector",
    "LoopWatch",
    "Scope",
]
