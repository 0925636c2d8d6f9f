"""``Array`` and its parts, and how public functions run on it."""

from .array import Array, ArrayLike, as_array, binary, call, enqueue, from_host, run, unary
from .compositions import fused
from .methods import bound_of, by_columns
from .numbers import weak_number
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
    "by_columns",
    "call",
    "enqueue",
    "from_host",
    "fused",
    "run",
    "tracing",
    "unary",
    "weak_number",
]
