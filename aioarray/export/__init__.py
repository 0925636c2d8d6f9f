"""Programs as files: those of ``jax.export`` run here, those written here run in JAX, and StableHLO runs as it is.

Nothing in a file is trusted: see ``load``.
"""

from ._function import ExportedFunction, ExportedSpec
from ._load import load, load_async
from ._save import save, serialize

__all__ = ["ExportedFunction", "ExportedSpec", "load", "load_async", "save", "serialize"]
