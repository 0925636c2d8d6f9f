"""Serving models: ``Batcher`` puts the requests of many tasks into few calls of a model, ``create_app`` serves HTTP.

>>> norm = aio.serving.Batcher(aio.jit(lambda x: aio.linalg.vector_norm(x, axis=1)), max_batch_size=8)
>>> async with norm:
...     print(await norm(aio.asarray([3.0, 4.0])))
5.0

What needs FastAPI, which ``pip install 'aioarray[serving]'`` brings, is loaded at first use: ``create_app``,
``lifespan``, ``calling``, ``BatchCall``, ``ArrayResponse``.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from .batching.batcher import Batcher
from .batching.inputs import TensorSpec
from .batching.slots import Slots
from .batching.statistics import BatcherStats, BucketStats, Histogram
from .batching.stream_batcher import StreamBatcher
from .batching.streams import Stream
from .http.disconnect import ClientGoneError, cancel_on_disconnect
from .http.watchdog import LoopLag, Watchdog
from .models.model import Model
from .models.onnx import onnx_model
from .models.registry import NotReadyError, Registry, UnknownModelError
from .models.text import Embedded, TextEmbedder

if TYPE_CHECKING:
    from .http.app import create_app as create_app
    from .http.dependencies import ArrayResponse as ArrayResponse
    from .http.dependencies import BatchCall as BatchCall
    from .http.dependencies import calling as calling
    from .http.dependencies import lifespan as lifespan

_OF_FASTAPI = {
    "ArrayResponse": "dependencies",
    "BatchCall": "dependencies",
    "calling": "dependencies",
    "create_app": "app",
    "lifespan": "dependencies",
}

__all__ = [
    "Batcher",
    "BatcherStats",
    "BucketStats",
    "ClientGoneError",
    "Embedded",
    "Histogram",
    "LoopLag",
    "Model",
    "NotReadyError",
    "Registry",
    "Slots",
    "Stream",
    "StreamBatcher",
    "TensorSpec",
    "TextEmbedder",
    "UnknownModelError",
    "Watchdog",
    "cancel_on_disconnect",
    "onnx_model",
]
if importlib.util.find_spec("fastapi") is not None and importlib.util.find_spec("orjson") is not None:
    # Listed only where it can be had, for `import *`.
    __all__ += ["ArrayResponse", "BatchCall", "calling", "create_app", "lifespan"]


def __getattr__(name: str) -> Any:
    if name not in _OF_FASTAPI:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.http.{_OF_FASTAPI[name]}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"aio.serving.{name} needs {error.name}: pip install 'aioarray[serving]'", name=error.name
        ) from error
    return getattr(module, name)
