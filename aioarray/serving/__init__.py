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

from ._batcher import Batcher
from ._disconnect import ClientGoneError, cancel_on_disconnect
from ._inputs import TensorSpec
from ._model import Model
from ._registry import NotReadyError, Registry, UnknownModelError
from ._slots import Slots
from ._statistics import BatcherStats, BucketStats, Histogram
from ._streams import Stream, StreamBatcher
from ._text import Embedded, TextEmbedder
from ._watchdog import LoopLag, Watchdog

if TYPE_CHECKING:
    from ._app import create_app as create_app
    from ._dependencies import ArrayResponse as ArrayResponse
    from ._dependencies import BatchCall as BatchCall
    from ._dependencies import calling as calling
    from ._dependencies import lifespan as lifespan

_OF_FASTAPI = {
    "ArrayResponse": "_dependencies",
    "BatchCall": "_dependencies",
    "calling": "_dependencies",
    "create_app": "_app",
    "lifespan": "_dependencies",
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
]
if importlib.util.find_spec("fastapi") is not None and importlib.util.find_spec("orjson") is not None:
    # Listed only where it can be had, for `import *`.
    __all__ += ["ArrayResponse", "BatchCall", "calling", "create_app", "lifespan"]


def __getattr__(name: str) -> Any:
    if name not in _OF_FASTAPI:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_OF_FASTAPI[name]}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"aio.serving.{name} needs {error.name}: pip install 'aioarray[serving]'", name=error.name
        ) from error
    return getattr(module, name)
