"""The PJRT client and its devices: made once a process, at first use.

No global state of jaxlib is touched: `jax` may be imported before or after, and configured as it likes.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._base.errors import ForkedProcessError
from . import bindings
from .bindings import Sharding, _jax, xla_client

if TYPE_CHECKING:
    from collections.abc import Callable

# XLA's pools have a thread for each core. As many long programs hold them all, and a short one would wait for a thread
# until the first of those is over.
MORE_THREADS = 2
_POOL_SIZES = ("PJRT_NPROC", "NPROC")
# Added to the niceness of the threads of XLA's pools, so that the thread of an event loop is scheduled
# before them when all cores are busy. More than a little would keep them from computing where other processes compete,
# and the end of the process waiting, since the client's end waits for them.
NICENESS = 5
_NICEST = 19
# How long, in seconds, threads that must not go on wait for the interpreter to stop them: from the beginning of its
# end, which comes to what PJRT is doing, and from the end of that.
_PATIENCE = 10.0
_BARRED_PATIENCE = 1.0


class Device:
    """A device that holds and computes Arrays; one instance for each, so ``is`` and ``==`` agree.

    >>> device = aio.zeros(3).device
    >>> str(device), device.platform, device.id
    ('cpu:0', 'cpu', 0)
    """

    __slots__ = (
        "_assignment",
        "_device",
        "_device_list",
        "_devices",
        "_name",
        "_sharding",
        "id",
        "kind",
        "platform",
    )

    platform: str
    id: int
    kind: str
    # For this package alone: jaxlib's device; the same as a DeviceAssignment of one replica, as a DeviceList
    # and as a list; and its sharding.
    _assignment: Any
    _device: Any
    _device_list: Any
    _devices: list[Any]
    _sharding: Sharding
    _name: str

    def __init__(self, device: Any) -> None:
        assign = object.__setattr__
        assign(self, "platform", str(device.platform))
        assign(self, "id", int(device.id))
        assign(self, "kind", str(device.device_kind))
        assign(self, "_device", device)
        assign(self, "_assignment", xla_client.DeviceAssignment.create(np.array([[device.id]], np.int32)))
        assign(self, "_device_list", _jax.DeviceList((device,)))
        assign(self, "_devices", [device])
        assign(self, "_sharding", bindings.make_sharding(device))
        assign(self, "_name", f"{self.platform}:{self.id}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Device is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Device is immutable: cannot delete {name!r}")

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"Device({self._name!r})"

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    def __reduce__(self) -> tuple[Callable[[str], Device], tuple[str]]:
        return _restored_device, (self._name,)


class _Process:
    """The client of this process. Written under ``lock``; read anywhere: ``client`` is assigned last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.client: Any = None
        self.devices: tuple[Device, ...] = ()
        self.forked = False
        self.barred = False  # forked, or ending: not everybody may use the client
        self.patience_until = 0.0  # by `monotonic`

    def after_fork(self) -> None:
        # XLA's threads are not in the child: its first computation would wait for ever.
        self.forked = self.barred = True
        self.lock = threading.Lock()


_process = _Process()


def client_exists() -> bool:
    """Whether the client has been created in this process."""
    return _process.client is not None


def is_forked() -> bool:
    """Whether this process was forked from one whose client had been created, so that it cannot compute."""
    return _process.forked


def get_client() -> Any:
    """The client, created at the first call; any thread, but only the main one once `bar_daemon_threads` was called.

    Raises IncompatibleVersionError, ForkedProcessError.
    """
    process = _process
    if process.client is None:
        bindings.require()
        with process.lock:
            if process.client is None:
                client = _create_in_nice_thread()
                process.devices = tuple(Device(device) for device in client.local_devices())
                os.register_at_fork(after_in_child=process.after_fork)
                process.client = client
    if process.barred:
        _check_allowed()
    return process.client


def _check_allowed() -> None:
    if _process.forked:
        raise ForkedProcessError(
            "this process was forked after aioarray's first use, and XLA's threads don't survive that. Start "
            'worker processes with multiprocessing.set_start_method("spawn") or "forkserver", or fork '
            "before the first use of aioarray"
        )
    stop_daemon_thread()


def stop_daemon_thread() -> None:
    """At the interpreter's end: do not come back, unless on the main thread.

    Python is about to stop the others wherever they are, and an exception would only make noise. But where the end
    itself waits for this thread, or for a lock that it holds, waiting for ever would be worse: after a while it raises
    RuntimeError.
    """
    if threading.current_thread() is not threading.main_thread():
        while (left := _process.patience_until - time.monotonic()) > 0.0:
            threading.Event().wait(min(left, 0.1))  # it may become sooner
        raise RuntimeError("aioarray cannot be used by this thread any more: the interpreter is shutting down")


def begin_end() -> None:
    """The interpreter is ending: from now on `stop_daemon_thread` may be called."""
    _process.patience_until = time.monotonic() + _PATIENCE


def bar_daemon_threads() -> None:
    """Only the main thread gets the client any more; the others are stopped."""
    _process.patience_until = time.monotonic() + _BARRED_PATIENCE
    _process.barred = True


def devices() -> tuple[Device, ...]:
    """The devices of this process, in order of their ids.

    >>> aio.zeros(1).device == aio.devices()[0]
    True
    """
    get_client()
    return _process.devices


def default_device() -> Device:
    """The device on which Arrays are created when none is named: the first."""
    return devices()[0]


def find_device(name: str) -> Device:
    """The device called ``name``: "cpu:0", or "cpu" for the first of its platform. Raises ValueError."""
    known = devices()
    for device in known:
        if name in (device._name, device.platform):
            return device
    raise ValueError(f"no device {name!r}: this process has {', '.join(map(str, known))}")


def inherited_device() -> Device:
    """In a forked child, which must not use it: the default device of the parent."""
    return _process.devices[0]


def _restored_device(name: str) -> Device:
    """What an unpickled Device is; in a forked child too, where whoever uses it is told."""
    return inherited_device() if _process.forked else find_device(name)


def _create_with_more_threads() -> Any:
    """A client whose pools have some threads more than there are cores, unless the environment says how many."""
    if any(name in os.environ for name in _POOL_SIZES):
        return xla_client.make_cpu_client()
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    size = str(cores + MORE_THREADS)
    try:
        os.environ[_POOL_SIZES[0]] = size  # read once, now
        return xla_client.make_cpu_client()
    finally:
        if os.environ.get(_POOL_SIZES[0]) == size:  # else somebody has set it meanwhile, or taken it out
            del os.environ[_POOL_SIZES[0]]


def _create_in_nice_thread() -> Any:
    # Threads inherit the niceness of the one that starts them, and a thread cannot lower its own again:
    # hence a thread for this alone.
    results: list[Any] = []
    errors: list[BaseException] = []

    def create() -> None:
        try:
            if sys.platform == "linux":
                thread = threading.get_native_id()
                niceness = os.getpriority(os.PRIO_PROCESS, thread)
                os.setpriority(os.PRIO_PROCESS, thread, min(_NICEST, niceness + NICENESS))
            results.append(_create_with_more_threads())
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=create, name="aioarray-create-client")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
