"""aioarray: the asyncio-native array library.

Every operation enqueues work for the device and returns at once with an ``Array`` that can be awaited::

    import asyncio
    import aioarray as aio

    async def main():
        x = aio.ones((1000, 1000))
        y = x @ x + 1  # returns at once
        await y
        print(y[0, 0])

    asyncio.run(main())
"""

from . import errors, io
from ._array import Array
from ._config import default_dtypes
from ._dtypes import (
    bfloat16,
    complex64,
    complex128,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._dtypes import bool_ as bool
from ._functions.waiting import (
    Stats,
    as_completed,
    block_until_ready,
    device_put,
    drain,
    ready,
    run_sync,
    stats,
    to_host,
)
from ._jit import ShapeDtype, jit
from ._sync_reads import sync_reads
from ._trees import register_tree_node
from ._xla import Device, devices

__array_api_version__ = "2025.12"
__version__ = "0.1.0"

__all__ = [
    "Array",
    "Device",
    "ShapeDtype",
    "Stats",
    "as_completed",
    "bfloat16",
    "block_until_ready",
    "bool",
    "complex64",
    "complex128",
    "default_dtypes",
    "device_put",
    "devices",
    "drain",
    "errors",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float16",
    "float32",
    "float64",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "jit",
    "ready",
    "register_tree_node",
    "run_sync",
    "stats",
    "sync_reads",
    "to_host",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
