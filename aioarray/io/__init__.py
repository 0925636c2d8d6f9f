"""Files of weights: safetensors, one file or many, whole or tensor by tensor, also off the event loop.

And NumPy's ``.npy`` and ``.npz`` files: ``load``, ``save``, ``savez`` and ``savez_compressed``, to be awaited.
"""

from ._load import load_safetensors, load_safetensors_async, open_safetensors
from ._npy_read import load
from ._npy_write import save, savez, savez_compressed
from ._reader import SafetensorsReader
from ._save import save_safetensors, save_safetensors_async

__all__ = [
    "SafetensorsReader",
    "load",
    "load_safetensors",
    "load_safetensors_async",
    "open_safetensors",
    "save",
    "save_safetensors",
    "save_safetensors_async",
    "savez",
    "savez_compressed",
]
