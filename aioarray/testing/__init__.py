"""For test suites: control of the device's time and faults, and counting."""

from ._control import Delay, Gate, Injector, delay, hold, inject
from ._counting import Counter, Event, assert_no_sync_reads, count, max_loop_lag

__all__ = [
    "Counter",
    "Delay",
    "Event",
    "Gate",
    "Injector",
    "assert_no_sync_reads",
    "count",
    "delay",
    "hold",
    "inject",
    "max_loop_lag",
]
