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

from math import e, inf, nan, pi

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
from ._functions.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from ._functions.data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from ._functions.indexing import take, take_along_axis
from ._functions.linear_algebra_basics import dot, einsum, matmul, matrix_transpose, tensordot, vecdot
from ._functions.manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    pad,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from ._functions.searching import argmax, argmin, argwhere, bincount, count_nonzero, nonzero, searchsorted
from ._functions.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from ._functions.sorting import argsort, sort, top_k
from ._functions.statistical import cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var
from ._functions.utility import all, any, diff
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

newaxis = None
__array_api_version__ = "2025.12"
__version__ = "0.1.0"

__all__ = [
    "Array",
    "Device",
    "ShapeDtype",
    "Stats",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_completed",
    "asarray",
    "astype",
    "bfloat16",
    "bincount",
    "block_until_ready",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "complex64",
    "complex128",
    "concat",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "default_dtypes",
    "device_put",
    "devices",
    "diff",
    "dot",
    "drain",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "errors",
    "expand_dims",
    "eye",
    "finfo",
    "flip",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "full",
    "full_like",
    "iinfo",
    "inf",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "isdtype",
    "isin",
    "jit",
    "linspace",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "meshgrid",
    "min",
    "moveaxis",
    "nan",
    "newaxis",
    "nonzero",
    "ones",
    "ones_like",
    "pad",
    "permute_dims",
    "pi",
    "prod",
    "ready",
    "register_tree_node",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "run_sync",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "stats",
    "std",
    "sum",
    "sync_reads",
    "take",
    "take_along_axis",
    "tensordot",
    "tile",
    "to_host",
    "top_k",
    "tril",
    "triu",
    "uint4",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "zeros",
    "zeros_like",
]
