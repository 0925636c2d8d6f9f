"""Models as ONNX files, run as pending, awaitable, compiled programs: without onnxruntime, PyTorch or JAX.

A model is one program, and a call of it one launch, where its shapes follow from those of its inputs: what exporters
compute shapes with (``Shape``, ``Gather``, ``Concat``, ``Reshape``) vanishes. Where a shape depends on values
(``NonZero``, ``Unique``, ``NonMaxSuppression``, a ``Range`` up to a computed number), ``await model.run(...)`` splits
the model there: it runs as several programs, and values are waited for on another thread.

Needs the extra ``onnx``. Nothing in a file is trusted: see ``load``.
"""

try:
    from ._graph import ValueInfo
    from ._load import load, load_sync
    from ._model import Model
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"aio.onnx needs {error.name}: pip install 'aioarray[onnx]'", name=error.name) from error

__all__ = ["Model", "ValueInfo", "load", "load_sync"]
