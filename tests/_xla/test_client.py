"""Devices: how they are described, found by name, and kept one instance each."""

from __future__ import annotations

import copy
import os
import pickle
import sys

import pytest

from aioarray import _xla
from aioarray._xla.client import MORE_THREADS, NICENESS
from tests._xla.programs import run_python


def test_a_device_describes_itself() -> None:
    device = _xla.default_device()
    assert device is _xla.devices()[0]
    assert (device.platform, device.id, device.kind) == ("cpu", 0, "cpu")
    assert str(device) == "cpu:0"
    assert repr(device) == "Device('cpu:0')"


def test_there_is_one_instance_of_each_device() -> None:
    device = _xla.default_device()
    assert copy.copy(device) is device
    assert copy.deepcopy(device) is device
    assert pickle.loads(pickle.dumps(device)) is device
    assert _xla.default_device() is device
    assert {device: 1}[_xla.devices()[0]] == 1


@pytest.mark.parametrize("name", ["platform", "id", "_device", "other"])
def test_a_device_is_immutable(name) -> None:
    device = _xla.default_device()
    with pytest.raises(AttributeError, match=f"immutable: cannot set '{name}'"):
        setattr(device, name, 1)
    with pytest.raises(AttributeError, match="immutable: cannot delete"):
        delattr(device, name)
    assert str(device) == "cpu:0"


def test_devices_are_found_by_name() -> None:
    assert _xla.find_device("cpu:0") is _xla.default_device()
    assert _xla.find_device("cpu") is _xla.default_device()
    with pytest.raises(ValueError, match="no device 'gpu': this process has cpu:0"):
        _xla.find_device("gpu")


def test_xla_flags_give_more_devices_and_buffers_move_between_them() -> None:
    run_python(
        "import numpy as np\n"
        "from aioarray import _xla\n"
        "from tests._xla.programs import Spec, program, run\n"
        "devices = _xla.devices()\n"
        "assert [str(d) for d in devices] == ['cpu:0', 'cpu:1', 'cpu:2']\n"
        "spec = Spec((3,))\n"
        "first = _xla.put(np.arange(3, dtype='f4'), spec, devices[0])\n"
        "there = _xla.copy_to_device(first, spec, devices[2])\n"
        "first.delete()\n"
        "executable = _xla.compile(program('stablehlo.negate', 1, (3,)), devices[2])\n"
        "[result] = run(executable, [there], spec)\n"
        "assert _xla.to_numpy(result, spec).tolist() == [0, -1, -2]\n"
        "assert _xla.find_device('cpu:2') is devices[2]\n"
        "assert _xla.find_device('cpu') is devices[0]\n"
        "loaded = _xla.deserialize(executable.serialize(), devices[1])\n"
        "here = _xla.copy_to_device(there, spec, devices[1])\n"
        "[result] = run(loaded, [here], spec)\n"
        "assert _xla.to_numpy(result, spec).tolist() == [0, -1, -2]\n",
        XLA_FLAGS="--xla_force_host_platform_device_count=3",
    )


def test_threads_that_race_for_the_client_get_the_same() -> None:
    run_python(
        "import threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from aioarray import _xla\n"
        "barrier = threading.Barrier(16)\n"
        "def get(_):\n"
        "    barrier.wait()\n"
        "    return _xla.get_client()\n"
        "with ThreadPoolExecutor(16) as pool:\n"
        "    clients = list(pool.map(get, range(16)))\n"
        "assert len({id(client) for client in clients}) == 1\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives each thread a niceness")
def test_the_pool_threads_are_nicer_than_the_caller() -> None:
    run_python(
        "import os, threading\n"
        "from aioarray import _xla\n"
        "def niceness():\n"
        "    return {int(t): os.getpriority(os.PRIO_PROCESS, int(t)) for t in os.listdir('/proc/self/task')}\n"
        "before = niceness()\n"
        "_xla.get_client()\n"
        "after = niceness()\n"
        "own = before[threading.get_native_id()]\n"
        "assert all(after[thread] == value for thread, value in before.items())\n"
        "assert threading.active_count() == 1\n"
        "pool = [value for thread, value in after.items() if thread not in before]\n"
        f"assert pool and all(value == min(19, own + {NICENESS}) for value in pool), pool\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize("wanted", [None, 3])
def test_xla_has_more_threads_than_cores_unless_the_environment_says_how_many(wanted: int | None) -> None:
    run_python(
        "import glob, os\n"
        f"wanted = {wanted}\n"
        "os.environ.pop('NPROC', None)\n"
        "os.environ.pop('PJRT_NPROC', None)\n"
        "if wanted is not None:\n"
        "    os.environ['PJRT_NPROC'] = str(wanted)\n"
        "from aioarray import _xla\n"
        "_xla.get_client()\n"
        "names = [open(path).read() for path in glob.glob('/proc/self/task/*/comm')]\n"
        "count = sum(name.startswith('tf_XLAEigen') for name in names)\n"
        f"assert count == (wanted or len(os.sched_getaffinity(0)) + {MORE_THREADS}), names\n"
        "assert os.environ.get('PJRT_NPROC') == (wanted and str(wanted))\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
def test_a_forked_child_is_told_so_instead_of_hanging() -> None:
    run_python(
        "import os, warnings\n"
        "from aioarray import _xla, errors\n"
        "_xla.get_client()\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        _xla.get_client()\n"
        "    except errors.ForkedProcessError as error:\n"
        "        os._exit(7 if 'spawn' in str(error) and _xla.is_forked() else 8)\n"
        "    os._exit(9)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert not _xla.is_forked()\n"
        "_xla.get_client()\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")
def test_a_child_forked_before_the_first_use_has_a_client_of_its_own() -> None:
    run_python(
        "import os\n"
        "from aioarray import _xla\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    _xla.get_client()\n"
        "    os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert not _xla.client_exists()\n"
    )


TOGETHER = """
import numpy as np
from tests._xla.programs import put, program, run
from aioarray import _xla
x, spec = put([3.0, -4.0], np.float64)
[y] = run(_xla.compile(program("stablehlo.negate", 1, (2,), "f64"), _xla.default_device()), [x], spec)
assert _xla.to_numpy(y, spec).tolist() == [-3.0, 4.0]
"""
JAX = """
import jax, jax.numpy as jnp
assert jnp.asarray([1.0, 2.0]).dtype == jnp.float32
assert jnp.arange(3).dtype == jnp.int32
assert float(jnp.linalg.det(jnp.eye(3))) == 1.0
assert jax.jit(lambda x: x + 1)(1) == 2
with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
    assert jnp.asarray(1.0).dtype == jnp.float64
"""


@pytest.mark.parametrize("order", ["jax first", "jax last", "jax in between"])
def test_jax_works_in_the_same_process(order) -> None:
    pytest.importorskip("jax", reason="compares with jax where it is installed")
    lapack = "from aioarray import _xla\n_xla.register_lapack()\n"
    run_python(
        {
            "jax first": JAX + TOGETHER + lapack + JAX,
            "jax last": TOGETHER + lapack + JAX,
            "jax in between": "from aioarray import _xla\n" + JAX + lapack + TOGETHER + JAX,
        }[order]
    )
