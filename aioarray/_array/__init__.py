"""``Array`` and its parts, and how public functions run on it."""

from .array import Array, ArrayLike, as_array, enqueue, failed_directly, from_host, run
from .compositions import binary, call, fused, unary
from .methods import bound_of
from .traced import Recording, TracedArray
from .tracing import Trace, tracing

__all__ = [
    "Array",
    "ArrayLike",
    "Recording",
    "Trace",
    "TracedArray",
    "as_array",
    "binary",
    "bound_of",
    "call",
    "enqueue",
    "failed_directly",
    "from_host",
    "fused",
    "run",
    "tracing",
    "unary",
]
