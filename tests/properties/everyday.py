"""NumPy's windows, polynomials, indices, insertions and the like: how their arguments are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, unary
from tests.properties.drawing import POSITIVE, TAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.properties.drawing import Draw

PARTS = (*TAME, 3.75, float("inf"), float("-inf"), float("nan"), 1e20, 6e-5)


def _changed(function: Callable[..., Any]) -> Callable[..., Any]:
    """What NumPy's function, which changes its first argument, leaves in it."""

    def changed(x: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
        x = x.copy()
        function(x, *arguments, **options)
        return x

    return changed


def _kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, in the dtype of its first argument: it computes in float64."""
    return lambda x, *arguments, **options: function(x, *arguments, **options).astype(x.dtype)


def _flat(counts: np.ndarray, edges: Any) -> tuple[np.ndarray, ...]:
    return (counts.astype(np.float32), *edges)


def _window() -> Case:
    return Case(lambda d: (d.one(-1, 0, 1, 2, 5, 12),), 2, scaled=True)


def _polynomials(d: Draw) -> tuple[Any, ...]:
    return d.tame("f", (d.one(1, 3),)), d.tame("f", (d.one(2, 4),))


def _edited(d: Draw) -> tuple[Any, ...]:
    x = d.array("iufc", d.one((5,), (3, 4)))
    axis = d.one(None, 0, -1)
    n = x.size if axis is None else x.shape[axis]
    return x, axis, n


def _deleting(d: Draw) -> tuple[Any, ...]:
    x, axis, n = _edited(d)
    places = (0, -1, [0, 1], slice(0, 2), slice(None, None, 2), [1, 1], [True] * (n - 1) + [False])
    return x, d.one(*places), {"axis": axis}


def _inserting(d: Draw) -> tuple[Any, ...]:
    x, axis, n = _edited(d)
    if axis is None and d.flag():
        return x, d.one([1], [0, 0, 2]), d.array(dtype=x.dtype.name, shape=(3,), values=TAME), {"axis": None}
    if x.ndim == 2 and axis == 0 and d.flag():
        return (
            x,
            d.one(1, [1], [2, 0]),
            d.array(dtype=x.dtype.name, shape=(2, 4), values=TAME)[: d.one(1, 2)],
            {"axis": 0},
        )
    return x, d.one(0, -1, n, [0, 1], [1, 1, 0], slice(0, 2)), 3, {"axis": axis}


def _diagonal(d: Draw) -> tuple[Any, ...]:
    x = d.array("iuf", d.one((3, 3), (3, 5), (7, 3), (3, 3, 3)))
    return x, d.one(5, np.array([1, 2, 3])), {"wrap": d.flag()}


def _putting(d: Draw) -> tuple[Any, ...]:
    x = d.array("iuf", (3, 4))
    values = d.array(dtype=x.dtype.name, shape=(3, 1), values=TAME)
    return x, d.array(dtype="int32", shape=(3, 1), values=(0, 1, 3, -1)), values, {"axis": 1}


def _blocks(d: Draw) -> tuple[Any, ...]:
    def one(*shape: int) -> np.ndarray:
        return d.array(dtype="float32", shape=shape)

    return (d.one([[one(2, 3), one(2, 1)], [one(1, 4)]], [one(2), one(3)], [[one(2)], [one(2)]], one(3)),)


def _with_nan(d: Draw) -> tuple[Any, ...]:
    return d.array("f", d.one((3,), (2, 3)), (*TAME, float("nan"))), {"axis": d.one(None, 0, -1)}


def _some_number(d: Draw) -> tuple[Any, ...]:
    x = d.array("f", d.one((3,), (2, 3)), (*TAME, float("inf"), float("nan")))
    x[..., 0], x[0] = 1, 2  # NumPy raises where all are NaN
    return x, {"axis": d.one(None, 0, -1)}


def _points(d: Draw) -> tuple[Any, ...]:
    x, y = (d.tame("f", (8,)).astype(np.float64) for _ in range(2))
    bins = d.one(2, [2, 3], [np.array([-1.0, 0, 1]), np.array([-2.0, 0, 0.5, 3])])
    return x, y, {"bins": bins, "density": d.flag() and bool(np.any((x >= -1) & (x <= 1) & (y >= -2) & (y <= 3)))}


def _unwrapping(d: Draw) -> tuple[Any, ...]:
    if d.flag():
        return d.array("i", (2, 3), range(12)), {"period": d.one(4, 7), "axis": d.one(0, -1)}
    return d.array("f", (2, 3), range(12)), {"discont": d.one(None, 4.0), "axis": d.one(0, -1)}


def _fit(d: Draw) -> tuple[Any, ...]:
    y = d.tame("f", d.one((6,), (6, 2)))
    return np.linspace(0, 1, 6).astype(y.dtype), y, d.one(0, 1, 2)


def _chain(d: Draw) -> tuple[Any, ...]:
    def one(*shape: int) -> np.ndarray:
        return d.array(dtype="float32", shape=shape, values=TAME)

    return (d.one([one(2, 3), one(3, 4), one(4, 1)], [one(3), one(3, 2)], [one(2, 3), one(3, 4), one(4, 2), one(2)]),)


def _well(d: Draw, *shape: int) -> np.ndarray:
    n = int(np.prod(shape) ** 0.5)
    return (d.array(dtype="float64", shape=(n, n), values=(0.0, 0.5, -0.5)) + 4 * np.eye(n)).reshape(shape)


EVERYDAY: dict[str, Case] = {
    "append": Case(lambda d: (*d.several("iufc"), {"axis": d.one(None, 0, -1)})),
    "array_equiv": Case(lambda d: (d.array("i", d.one((3,), (1, 3), (2,)), (1, 2)), d.array("i", (2, 3), (1, 2)))),
    "bartlett": _window(),
    "blackman": _window(),
    "block": Case(_blocks),
    "delete": Case(_deleting),
    "diag_indices": Case(lambda d: (d.one(0, 3), d.one(1, 2, 3))),
    "diag_indices_from": Case(lambda d: (d.array("f", d.one((3, 3), (2, 2, 2))),)),
    "diagflat": Case(lambda d: (d.array("iufc"), d.one(0, 1, -2))),
    "fill_diagonal": Case(_diagonal, theirs=_changed(np.fill_diagonal)),
    "frexp": Case(lambda d: (d.array("f", values=PARTS),)),
    "hamming": _window(),
    "hanning": _window(),
    "histogram2d": Case(_points, 2, theirs=lambda *a, **o: _flat(*(lambda c, *e: (c, e))(*np.histogram2d(*a, **o)))),
    "histogramdd": Case(
        lambda d: (d.tame("f", (8, 3)).astype(np.float64), {"bins": d.one(2, (1, 2, 3))}),
        2,
        theirs=lambda *a, **o: _flat(*np.histogramdd(*a, **o)),
        ours=lambda f, x, **o: (lambda counts, edges: (counts, *edges))(*f(x, **o)),
    ),
    "insert": Case(_inserting),
    "iscomplex": unary("biufc"),
    "iscomplexobj": unary("biufc"),
    "isreal": unary("biufc"),
    "isrealobj": unary("biufc"),
    "ix_": Case(lambda d: (d.one([0, 2], [True, False, True]), d.one([1, 3], []))),
    "kaiser": Case(lambda d: (d.one(0, 1, 2, 7), d.one(0, 5, 8.6)), 8, scaled=True),
    "ldexp": Case(lambda d: (d.array("f", values=PARTS), d.one(0, 3, -3, 60, -20))),
    "linalg.multi_dot": Case(_chain, 32, scaled=True),
    "linalg.tensorinv": Case(lambda d: (_well(d, 2, 3, 3, 2), {"ind": 2}), 64, scaled=True),
    "linalg.tensorsolve": Case(lambda d: (_well(d, 2, 3, 6), d.tame("f", (2, 3)).astype(np.float64)), 64, scaled=True),
    "matvec": Case(
        lambda d: (
            d.array(dtype="float32", shape=(2, 3, 4), values=TAME),
            d.array(dtype="float32", shape=(4,), values=TAME),
        ),
        16,
        scaled=True,
    ),
    "modf": Case(lambda d: (d.array("f", values=PARTS),)),
    "nanargmax": Case(_some_number),
    "nanargmin": Case(_some_number),
    "nancumprod": Case(_with_nan, 8),
    "nancumsum": Case(_with_nan, 8, scaled=True),
    "ndim": unary("biufc"),
    "polyadd": Case(_polynomials),
    "polyder": Case(lambda d: (d.tame("if", (d.one(1, 4),)), {"m": d.one(0, 1, 2)}), 4, theirs=_kept(np.polyder)),
    "polyfit": Case(_fit, 4096, theirs=_kept(np.polyfit), scaled=True),
    "polyint": Case(
        lambda d: (d.tame("f", (d.one(1, 4),)), {"m": d.one(0, 1, 2), "k": d.one(0, 2)}), 4, theirs=_kept(np.polyint)
    ),
    "polymul": Case(lambda d: tuple(d.array("f", (d.one(2, 3),), POSITIVE) for _ in range(2)), 8, scaled=True),
    "polysub": Case(_polynomials),
    "polyval": Case(lambda d: (d.tame("f", (d.one(1, 4),)), d.tame("f")), 64, scaled=True),
    "put_along_axis": Case(_putting, theirs=_changed(np.put_along_axis)),
    "rint": unary("iufc"),
    "roots": Case(
        lambda d: (d.one(np.array([1.0, -3, 2]), np.array([0, 0, 1.0, 2, 0]), np.zeros(3), np.array([2.0, 0, 3])),),
        64,
        theirs=lambda p: np.sort_complex(np.roots(p).astype(complex)),
        ours=lambda f, p: np.sort_complex(np.asarray(f(p))),
        scaled=True,
    ),
    "shape": unary("biufc"),
    "size": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one(None, 0, -1))),
    "sort_complex": Case(lambda d: (d.array("c", (2, 3), TAME),)),
    "tril_indices": Case(lambda d: (d.one(0, 3), d.one(0, 1, -2), d.one(None, 2, 5))),
    "tril_indices_from": Case(lambda d: (d.array("f", d.one((2, 3), (3, 2))), d.one(0, 1, -1))),
    "triu_indices": Case(lambda d: (d.one(0, 3), d.one(0, 1, -2), d.one(None, 2, 5))),
    "triu_indices_from": Case(lambda d: (d.array("f", d.one((2, 3), (3, 2))), d.one(0, 1, -1))),
    "unwrap": Case(_unwrapping, 16, scaled=True),
    "vander": Case(
        lambda d: (d.tame("if", (3,)), d.one(None, 0, 2), {"increasing": d.flag()}), 4, theirs=_kept(np.vander)
    ),
    "vecmat": Case(
        lambda d: (
            d.array(dtype="complex64", shape=(3,), values=TAME),
            d.array(dtype="complex64", shape=(2, 3, 4), values=TAME),
        ),
        16,
        scaled=True,
    ),
}
