"""The parts of complex numbers."""

from __future__ import annotations

import math

from .._base import dtypes
from .._graph import Node, definition
from ._builders import as_floating, unary
from ._elementary import arc_tangent2, parts
from ._primitives import imaginary_part, make_complex, multiply, negative
from ._rules import REAL_PART, check_dtype, full_like


def _real(x: Node) -> Node:
    return REAL_PART(x) if x.dtype in dtypes.COMPLEX else x


def _imag(x: Node) -> Node:
    return imaginary_part(x) if x.dtype in dtypes.COMPLEX else full_like(x, 0)


def _conj(x: Node) -> Node:
    if x.dtype not in dtypes.COMPLEX:
        return x
    real, imaginary = parts(x)
    return make_complex(real, negative(imaginary))


# Of real numbers too, as NumPy's.
real = unary("real", _real)
imag = unary("imag", _imag)
conj = unary("conj", _conj)


@definition
def angle(x: Node, deg: bool) -> Node:
    x = as_floating(x)
    check_dtype("angle", x, dtypes.FLOATING)
    if x.dtype in dtypes.COMPLEX:
        real, imaginary = parts(x)
    else:
        real, imaginary = x, full_like(x, 0)
    radians = arc_tangent2(imaginary, real)
    return multiply(radians, 180 / math.pi) if deg else radians
