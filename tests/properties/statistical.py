"""Statistics, differences, interpolation: how arguments are drawn, and how far from NumPy's results may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, along, keywords, reduction, vectors
from tests.properties.drawing import POSITIVE, TAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.properties.drawing import Draw


def _in_its_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, which computes in float64, in the dtype of its first argument."""
    return lambda x, *more, **options: np.asarray(function(x, *more, **options)).astype(x.dtype)


def _quantile(scale: float) -> Callable[[Draw], tuple[Any, ...]]:
    def draw(d: Draw) -> tuple[Any, ...]:
        x = d.filled("f", values=(*TAME, float("nan")))
        q = d.one(0.5, 0.3, np.array([0.0, 0.25, 1.0]))
        method = d.one("linear", "lower", "higher", "nearest", "midpoint", "hazen", "inverted_cdf", "weibull")
        return x, q * scale, {"axis": d.axes(x), "method": method, "keepdims": d.flag()}

    return draw


def _edges(d: Draw) -> tuple[Any, ...]:
    x = d.array("f", d.shape(filled=True), TAME)
    return (
        x,
        np.array([-2.0, -1.0, 0.0, 0.5, 4.0], x.dtype),
        # Counts that are divided are in the default real dtype here, in float64 in NumPy.
        {"density": x.dtype == np.float64 and bool((x == 0).any())},
    )


def _interp(d: Draw) -> tuple[Any, ...]:
    dtype = d.dtype("f")
    places = d.rising(dtype=dtype)
    values = d.array(shape=(4,), values=TAME, dtype=dtype)
    ends = d.one({}, {"left": -9.0}, {"right": 7.0})
    return d.array(shape=d.shape(), values=(*TAME, 1.25, float("nan"), float("inf")), dtype=dtype), places, values, ends


def _gradient(d: Draw) -> tuple[Any, ...]:
    x = d.tame("fc", d.one((4,), (3, 4)))
    return x, d.one(1.0, 0.5), {"axis": d.one(None, -1), "edge_order": d.one(1, 2)}


def _weights(d: Draw) -> tuple[Any, ...]:
    x = d.tame("f", d.one((3,), (2, 3)))
    axis = d.one(None, -1) if x.ndim == 1 else -1
    return x, {"axis": axis, "weights": d.array(shape=(3,), values=POSITIVE, dtype=str(x.dtype))}


STATISTICAL: dict[str, Case] = {
    # Statistics
    "all": reduction("biufc"),
    "any": reduction("biufc"),
    "allclose": Case(lambda d: (*d.pair("f"), {"equal_nan": d.flag()})),
    "array_equal": Case(lambda d: (*d.pair("biuf"), {"equal_nan": False})),
    "average": Case(_weights, 8, scaled=True),
    "corrcoef": Case(lambda d: (np.concatenate([d.tame("f", (2, 3)), [[1, 2], [2, 5]]], 1),), 64, scaled=True),
    "cov": Case(
        lambda d: (d.tame("fc", d.one((3,), (2, 3))), {"bias": d.flag(), "rowvar": d.flag()}),
        16,
        theirs=_in_its_dtype(np.cov),
        scaled=True,
    ),
    "cumprod": Case(lambda d: keywords(d, x := d.tame("f"), axis=d.axis_or_none(x)), 8, scaled=True),
    "cumsum": Case(lambda d: keywords(d, x := d.tame("ifc"), axis=d.axis_or_none(x)), 8, scaled=True),
    "cumulative_prod": along("f", 8),
    "cumulative_sum": along("ifc", 8),
    "histogram": Case(_edges, 4),
    "histogram_bin_edges": Case(lambda d: (d.filled("f", values=TAME), d.one(1, 3, 10)), 4, scaled=True),
    "max": reduction("iuf", filled=True),
    "mean": reduction("ifc", 8, filled=True),
    "median": reduction("if", 4, filled=True),
    "min": reduction("iuf", filled=True),
    "nanmax": reduction("if", filled=True),
    "nanmean": reduction("fc", 8, filled=True),
    "nanmedian": Case(
        lambda d: keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 4, scaled=True
    ),
    "nanmin": reduction("if", filled=True),
    "nanpercentile": Case(_quantile(100), 8, theirs=_in_its_dtype(np.nanpercentile), scaled=True),
    "nanprod": Case(
        lambda d: keywords(d, x := d.array("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nanquantile": Case(_quantile(1), 8, theirs=_in_its_dtype(np.nanquantile), scaled=True),
    "nanstd": Case(
        lambda d: keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nansum": Case(
        lambda d: keywords(d, x := d.array("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nanvar": Case(
        lambda d: keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "percentile": Case(_quantile(100), 8, theirs=_in_its_dtype(np.percentile), scaled=True),
    "prod": reduction("f", 16),
    "ptp": reduction("if", 1, filled=True),
    "quantile": Case(_quantile(1), 8, theirs=_in_its_dtype(np.quantile), scaled=True),
    "std": reduction("fc", 16, filled=True),
    "sum": reduction("ifc", 16),
    "var": reduction("fc", 16, filled=True),
    # Differences, integrals, interpolation
    "convolve": Case(lambda d: (*vectors(d, "ifc", 1, 3, 4), d.one("full", "same", "valid")), 8, scaled=True),
    "correlate": Case(lambda d: (*vectors(d, "ifc", 1, 3, 4), d.one("full", "same", "valid")), 8, scaled=True),
    "diff": Case(lambda d: keywords(d, x := d.tame("ifc", d.shape(1)), axis=d.axis(x), n=d.one(0, 1, 2))),
    "ediff1d": Case(lambda d: (d.tame("fc"), {"to_end": d.one(None, 1.0), "to_begin": d.one(None, 2.0)})),
    "gradient": Case(_gradient, 8, scaled=True),
    "interp": Case(_interp, 16, theirs=_in_its_dtype(np.interp), scaled=True),
    "trapezoid": Case(
        lambda d: keywords(d, x := d.tame("fc", d.shape(1, filled=True)), axis=d.axis(x), dx=0.5), 8, scaled=True
    ),
}
