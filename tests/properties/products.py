"""Products, ``linalg`` and ``fft``: how arguments are drawn, and how far from NumPy's results may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, keywords, vectors
from tests.properties.drawing import TAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.properties.drawing import Draw


def _spectrum(kinds: str, n: Callable[[int], int] = lambda n: n) -> Case:
    def draw(d: Draw) -> tuple[Any, ...]:
        x = d.tame(kinds, d.shape(1, filled=True))
        options = {"axis": d.axis(x), "n": d.one(None, 2, 5), "norm": d.one("backward", "ortho", "forward")}
        if options["n"] is None and n(x.shape[options["axis"]]) < 1:
            options["n"] = 2
        return x, options

    return Case(draw, 16, scaled=True)


def _spectra(kinds: str) -> Case:
    def draw(d: Draw) -> tuple[Any, ...]:
        x = d.tame(kinds, d.one((2, 3), (3, 2), (2, 2, 3)))
        return x, {"norm": d.one("backward", "ortho", "forward")}

    return Case(draw, 32, scaled=True)


def _square(kinds: str, bound: float, **options: Any) -> Case:
    return Case(lambda d: (d.matrix(kinds),), bound, scaled=True, **options)


def _matrices(d: Draw, kinds: str = "iufc") -> tuple[Any, ...]:
    dtype = d.dtype(kinds)
    a, b = d.one(((2, 3), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((4, 2, 3), (3, 2)), ((2, 0), (0, 3)), ((3,), (3,)))
    return d.array(shape=a, values=TAME, dtype=dtype), d.array(shape=b, values=TAME, dtype=dtype)


def _same_vectors(d: Draw, kinds: str = "iufc") -> tuple[Any, ...]:
    shape, dtype = d.one((3,), (2, 3), (0,)), d.dtype(kinds)
    return d.array(shape=shape, values=TAME, dtype=dtype), d.array(shape=shape, values=TAME, dtype=dtype)


def _threes(d: Draw) -> tuple[Any, ...]:
    dtype = d.dtype("ifc")
    a, b = d.one(((3,), (3,)), ((2, 3), (3,)), ((0, 3), (3,)))
    return d.array(shape=a, values=TAME, dtype=dtype), d.array(shape=b, values=TAME, dtype=dtype)


def _einsum(d: Draw) -> tuple[Any, ...]:
    dtype = d.dtype("ifc")
    text, *shapes = d.one(
        ("ij,jk->ik", (2, 3), (3, 2)),
        ("ii", (3, 3)),
        ("ij,jk,kl", (2, 3), (3, 2), (2, 4)),
        ("...i,i->...", (2, 3), (3,)),
    )
    return text, *(d.array(shape=shape, values=TAME, dtype=dtype) for shape in shapes)


PRODUCTS: dict[str, Case] = {
    # Products
    "cross": Case(_threes, 4, scaled=True),
    "dot": Case(_matrices, 8, scaled=True),
    "einsum": Case(_einsum, 8, scaled=True),
    "inner": Case(lambda d: _same_vectors(d), 8, scaled=True),
    "kron": Case(lambda d: (d.tame("f", d.one((2,), (2, 3), ())), d.tame("f", d.one((3,), (2, 2)))), 1),
    "matmul": Case(_matrices, 8, scaled=True),
    "outer": Case(lambda d: _same_vectors(d)),
    "tensordot": Case(lambda d: (*_matrices(d, "if"), {"axes": 0}), 2),
    "trace": Case(lambda d: (d.tame("ifc", d.one((2, 3), (2, 3, 4))), d.one(0, 1)), 8, scaled=True),
    "vdot": Case(lambda d: _same_vectors(d), 8, scaled=True),
    "vecdot": Case(lambda d: _same_vectors(d), 8, scaled=True),
    # linalg
    "linalg.cholesky": Case(lambda d: (d.hermitian(),), 64, scaled=True),
    "linalg.cond": _square("f", 64),
    "linalg.cross": Case(_threes, 4, scaled=True),
    "linalg.det": _square("fc", 512),
    "linalg.diagonal": Case(lambda d: (d.matrix(), {"offset": d.one(0, 1, -2)})),
    "linalg.eigh": Case(
        lambda d: (d.hermitian(),), 64, scaled=True, ours=lambda f, x: f(x)[0], theirs=lambda x: np.linalg.eigh(x)[0]
    ),
    "linalg.eigvalsh": Case(lambda d: (d.hermitian(),), 64, scaled=True),
    "linalg.inv": _square("fc", 64),
    "linalg.matmul": Case(_matrices, 8, scaled=True),
    "linalg.matrix_norm": Case(
        lambda d: (d.matrix(), {"keepdims": d.flag(), "ord": d.one("fro", 1, -1, 2, "nuc")}), 64, scaled=True
    ),
    "linalg.matrix_power": Case(lambda d: (d.matrix("f"), d.one(0, 1, 3, -1)), 512, scaled=True),
    "linalg.matrix_rank": _square("f", 0),
    "linalg.matrix_transpose": _square("fc", 0),
    "linalg.norm": Case(lambda d: (d.tame("fc", d.one((3,), (2, 3))),), 8, scaled=True),
    "linalg.outer": Case(lambda d: vectors(d, "ifc", 3)),
    "linalg.pinv": _square("fc", 64),
    "linalg.slogdet": _square("fc", 64, theirs=lambda x: tuple(np.linalg.slogdet(x))),
    "linalg.solve": Case(lambda d: (x := d.matrix("fc"), np.ones((3, 2), x.dtype)), 64, scaled=True),
    "linalg.svdvals": _square("fc", 64),
    "linalg.tensordot": Case(lambda d: (*_matrices(d, "f"), {"axes": 0}), 2),
    "linalg.trace": Case(lambda d: (d.matrix(), {"offset": d.one(0, 1)}), 8, scaled=True),
    "linalg.vecdot": Case(lambda d: _same_vectors(d), 8, scaled=True),
    "linalg.vector_norm": Case(
        lambda d: keywords(d, x := d.tame("f", d.one((3,), (2, 3))), axis=d.axes(x), ord=d.one(0, 1, 2, 3)),
        8,
        scaled=True,
    ),
    # fft
    "fft.fft": _spectrum("fc"),
    "fft.ifft": _spectrum("fc"),
    "fft.rfft": _spectrum("f"),
    "fft.irfft": _spectrum("c", lambda n: 2 * (n - 1)),
    "fft.hfft": _spectrum("c", lambda n: 2 * (n - 1)),
    "fft.ihfft": _spectrum("f"),
    "fft.fft2": _spectra("fc"),
    "fft.ifft2": _spectra("fc"),
    "fft.rfft2": _spectra("f"),
    "fft.irfft2": _spectra("c"),
    "fft.fftn": Case(lambda d: (d.tame("fc", d.one((2, 3), (2, 2, 3))),), 32, scaled=True),
    "fft.ifftn": Case(lambda d: (d.tame("fc", d.one((2, 3), (2, 2, 3))),), 32, scaled=True),
    "fft.rfftn": Case(lambda d: (d.tame("f", d.one((2, 3), (2, 2, 3))),), 32, scaled=True),
    "fft.irfftn": Case(lambda d: (d.tame("c", d.one((2, 3), (2, 2, 3))),), 32, scaled=True),
    "fft.fftshift": Case(lambda d: keywords(d, x := d.array("fc", d.shape(1)), axes=d.axes(x))),
    "fft.ifftshift": Case(lambda d: keywords(d, x := d.array("fc", d.shape(1)), axes=d.axes(x))),
    "fft.fftfreq": Case(lambda d: (d.one(1, 4, 5), {"d": d.one(1.0, 0.5)}), 2),
    "fft.rfftfreq": Case(lambda d: (d.one(1, 4, 5), {"d": d.one(1.0, 0.5)}), 2),
}
