"""Correlation of vectors: sums of products of one and the other moved along it."""

from __future__ import annotations

from .._base import dtypes
from .._graph import Node, definition
from ._builders import NARROW
from ._primitives import add as _add
from ._primitives import imaginary_part, make_complex, negative, reshape, subtract
from ._rules import REAL_PART, check_dtype, convert, result_dtype
from .convolution import CONVOLUTION
from .manipulation import REVERSE

MODES = ("full", "same", "valid")


@definition
def correlate(x1: Node, x2: Node, mode: str) -> Node:
    """Sums of ``x1[n + k] * conj(x2[n])`` for all k at which they overlap ("full"), or wholly ("valid").

    "same": as many as the longer one has elements, in the middle.
    """
    x1, x2 = _operands("correlate", x1, x2, mode)
    if x2.dtype in dtypes.COMPLEX:
        x2 = make_complex(REAL_PART(x2), negative(imaginary_part(x2)))
    n, m = x1.size, x2.size
    start, length = _part(n, m, mode)
    if n < m and mode != "full":
        # NumPy exchanges the two and turns the result round: the middle is that of the exchanged ones.
        start = n + m - 1 - start - length
    return _correlated(x1, x2, start, length)


@definition
def convolve(x1: Node, x2: Node, mode: str) -> Node:
    """Sums of ``x1[k - n] * x2[n]``, for the same k as ``correlate``."""
    x1, x2 = _operands("convolve", x1, x2, mode)
    if x1.size < x2.size:
        x1, x2 = x2, x1
    return _correlated(x1, REVERSE(x2, axes=(0,)), *_part(x1.size, x2.size, mode))


def _operands(function: str, x1: Node, x2: Node, mode: str) -> tuple[Node, Node]:
    if mode not in MODES:
        raise ValueError(f"{function}: mode={mode!r} is not known; use {', '.join(map(repr, MODES))}")
    for x in (x1, x2):
        if x.ndim > 1 or x.size == 0:
            raise ValueError(f"{function}: an array has shape {x.shape}; it takes vectors of at least one element")
    dtype = result_dtype(function, x1, x2)
    x1, x2 = (reshape(convert(x, dtype), (x.size,)) for x in (x1, x2))
    check_dtype(function, x1, dtypes.NUMERIC)
    return x1, x2


def _part(n: int, m: int, mode: str) -> tuple[int, int]:
    """Which elements of the full result there are, and how many."""
    longer, shorter = max(n, m), min(n, m)
    if mode == "full":
        return 0, n + m - 1
    if mode == "valid":
        return shorter - 1, longer - shorter + 1
    return shorter - 1 - shorter // 2, longer


def _correlated(x: Node, kernel: Node, start: int, length: int) -> Node:
    if x.dtype in dtypes.COMPLEX:
        a, b, c, d = REAL_PART(x), imaginary_part(x), REAL_PART(kernel), imaginary_part(kernel)
        products = [_correlated(*pair, start, length) for pair in ((a, c), (b, d), (a, d), (b, c))]
        return make_complex(subtract(products[0], products[1]), _add(products[2], products[3]))
    dtype = x.dtype
    wide = dtypes.float32 if dtype in NARROW else dtype
    low = kernel.size - 1 - start
    result = CONVOLUTION(
        reshape(convert(x, wide), (1, 1, x.size)),
        reshape(convert(kernel, wide), (1, 1, kernel.size)),
        stride=(1,),
        padding=((low, length - x.size - low + kernel.size - 1),),
        dilation=(1,),
        gaps=(1,),
        groups=1,
        channels_last=False,
        dtype=wide,
    )
    return convert(reshape(result, (length,)), dtype)
