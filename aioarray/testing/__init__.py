"""For test suites: assertions about Arrays, control of the device's time and faults, and counting.

The pytest plugin that comes with aioarray (``@pytest.mark.aioarray``) is made of the same parts; hypothesis strategies
are in ``aioarray.testing.strategies``.
"""

from ._asserts import Assertion, assert_allclose, assert_array_equal, assert_spec
from ._blockbuster import register_with_blockbuster
from ._control import Delay, Gate, Injector, delay, hold, inject
from ._counting import Counter, Event, assert_no_sync_reads, count, max_loop_lag
from ._locks import HeldLockError

__all__ = [
    "Assertion",
    "Counter",
    "Delay",
    "Event",
    "Gate",
    "HeldLockError",
    "Injector",
    "assert_allclose",
    "assert_array_equal",
    "assert_no_sync_reads",
    "assert_spec",
    "count",
    "delay",
    "hold",
    "inject",
    "max_loop_lag",
    "register_with_blockbuster",
]
