"""Files of weights: safetensors, one file or many, whole or tensor by tensor, also off the event loop."""

from ._load import load_safetensors, load_safetensors_async, open_safetensors
from ._reader import SafetensorsReader
from ._save import save_safetensors, save_safetensors_async

__all__ = [
    "SafetensorsReader",
    "load_safetensors",
    "load_safetensors_async",
    "open_safetensors",
    "save_safetensors",
    "save_safetensors_async",
]
