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

import importlib
import importlib.util
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING

from . import _functions
from . import compile_cache as compile_cache
from . import errors as errors
from . import lax as lax
from ._array import Array as Array
from ._array.sync_reads import sync_reads as sync_reads
from ._base import other_names, scalar_types
from ._base.config import default_dtypes as default_dtypes
from ._base.scalar_types import *
from ._engine.priority import priority as priority
from ._functions import *
from ._functions.inspection import __array_namespace_info__ as __array_namespace_info__
from ._jit import ShapeDtype as ShapeDtype
from ._jit import compile_budget as compile_budget
from ._jit import eval_shape as eval_shape
from ._jit import jit as jit
from ._jit import warmup as warmup
from ._xla import Device as Device
from ._xla import devices as devices
from ._xla.trees import register_tree_node as register_tree_node

newaxis = None
__array_api_version__ = "2025.12"
__version__ = "0.1.0"

# For type checkers a name is public by standing above as ``x as x``, or by a ``*`` that brings it. They do not follow
# a list that is computed, nor names that are looked up.
if TYPE_CHECKING:
    from . import export as export
    from . import fft as fft
    from . import io as io
    from . import linalg as linalg
    from . import nn as nn
    from . import onnx as onnx
    from . import profiling as profiling
    from . import random as random
    from . import serving as serving
    from . import testing as testing
    from .io import load as load
    from .io import save as save
    from .io import savez as savez
    from .io import savez_compressed as savez_compressed
    from .profiling import explain as explain
    from .profiling import profile as profile
else:
    # Namespaces that are loaded when they are first used, which makes `import aioarray` a fifth faster.
    _LAZY = ("export", "fft", "io", "linalg", "nn", "onnx", "profiling", "random", "serving", "testing")
    # Functions of theirs that are here too.
    _LAZY_FUNCTIONS = {
        **dict.fromkeys(["explain", "profile"], "profiling"),
        **dict.fromkeys(["load", "save", "savez", "savez_compressed"], "io"),
    }

    __all__ = [
        *scalar_types.__all__,
        *_functions.__all__,
        # `import *` takes all that is listed; a namespace without its package is not.
        *(name for name in _LAZY if name != "onnx" or importlib.util.find_spec("onnx") is not None),
        *_LAZY_FUNCTIONS,
        "Array",
        "Device",
        "ShapeDtype",
        "compile_budget",
        "compile_cache",
        "default_dtypes",
        "devices",
        "e",
        "errors",
        "eval_shape",
        "inf",
        "jit",
        "lax",
        "nan",
        "newaxis",
        "pi",
        "priority",
        "register_tree_node",
        "sync_reads",
        "warmup",
    ]

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            return importlib.import_module(f"{__name__}.{name}")
        if name in _LAZY_FUNCTIONS:
            return getattr(importlib.import_module(f"{__name__}.{_LAZY_FUNCTIONS[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{other_names.advice(name)}")

    def __dir__() -> list[str]:
        return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
