"""Functions that choose, search and sort: how their arguments are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, keywords, reduction, unary, vectors
from tests.properties.drawing import TAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.properties.drawing import Draw


def _in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's sort, or argsort, with the options of the standard."""

    def sorted_(x: np.ndarray, axis: int, descending: bool, stable: bool = True) -> np.ndarray:
        key = np.flip(x, axis) if descending else x
        order = np.argsort(key, axis=axis, kind="stable")
        if descending:
            order = np.flip(x.shape[axis] - 1 - order, axis)
            if x.dtype.kind in "fc":
                # NaN stays last.
                nan = np.isnan(np.take_along_axis(x, order, axis))
                order = np.take_along_axis(order, np.argsort(nan, axis=axis, kind="stable"), axis)
        return order if function is np.argsort else np.take_along_axis(x, order, axis)

    return sorted_


def _sorting(d: Draw) -> tuple[Any, ...]:
    x = d.array("biuf", d.shape(1))
    return x, {"axis": d.axis(x), "descending": d.flag()}


def _index(d: Draw, x: np.ndarray, axis: int) -> np.ndarray:
    n = x.shape[axis]
    return d.array(shape=(2,), values=range(-n, n), dtype="int32")


def _taking(d: Draw) -> tuple[Any, ...]:
    x = d.filled("biufc", 1)
    axis = d.axis(x)
    return x, _index(d, x, axis), {"axis": axis}


def _taking_along(d: Draw) -> tuple[Any, ...]:
    x = d.filled("biufc", 1)
    axis = d.axis(x)
    return x, d.array(shape=x.shape, values=range(-x.shape[axis], x.shape[axis]), dtype="int32"), {"axis": axis}


def _condition(d: Draw) -> tuple[Any, ...]:
    x = d.array("iufc", d.one((3,), (3, 2)))
    return d.array("b", (3,)), x, {"axis": 0}


def _choices(d: Draw) -> tuple[Any, ...]:
    return d.array(shape=(2, 3), values=range(2), dtype="int32"), [
        d.array(shape=(3,), dtype="float32") for _ in range(2)
    ]


def _selected(d: Draw) -> tuple[Any, ...]:
    conditions = [d.array("b", (2, 3)), d.array("b", (3,))]
    return conditions, [d.array(shape=(2, 3), dtype="float32"), d.array(shape=(3,), dtype="float32")], {"default": 7.0}


def _unravel(d: Draw) -> tuple[Any, ...]:
    return d.array(shape=d.shape(), values=range(6), dtype="int32"), (2, 3), {"order": d.one("C", "F")}


def _ravel(d: Draw) -> tuple[Any, ...]:
    shape = d.shape()
    parts = tuple(d.array(shape=shape, values=range(-2, 5), dtype="int32") for _ in range(2))
    return parts, (2, 3), {"order": d.one("C", "F"), "mode": d.one("wrap", "clip")}


def _keys(d: Draw) -> tuple[Any, ...]:
    return ([d.array(shape=(4,), values=(0, 1, 2), dtype=d.dtype("if")) for _ in range(2)],)


def _bins(d: Draw) -> tuple[Any, ...]:
    edges = d.rising("f")
    return (
        d.array(shape=d.shape(), dtype=str(edges.dtype)),
        edges[::-1].copy() if d.flag() else edges,
        {"right": d.flag()},
    )


SEARCHING: dict[str, Case] = {
    # Choosing and searching
    "apply_along_axis": Case(lambda d: (lambda v: v[0] + v[-1], d.one(0, -1), d.filled("if", 1, TAME))),
    "argmax": Case(lambda d: keywords(d, x := d.filled("biuf"), axis=d.axis_or_none(x))),
    "argmin": Case(lambda d: keywords(d, x := d.filled("biuf"), axis=d.axis_or_none(x))),
    "argwhere": Case(lambda d: (d.array("biufc", d.shape(1)),)),
    "bincount": Case(lambda d: (d.array(shape=(4,), values=(0, 1, 5), dtype="int32"), {"minlength": d.one(0, 9)})),
    "choose": Case(_choices),
    "compress": Case(_condition),
    "count_nonzero": reduction("biufc"),
    "digitize": Case(_bins),
    "extract": Case(lambda d: (d.array("b", (2, 3)), d.array("iufc", (2, 3)))),
    "flatnonzero": unary("biufc"),
    "nonzero": Case(lambda d: (d.array("biufc", d.shape(1)),)),
    "piecewise": Case(lambda d: (x := d.array("f", (2, 3)), [x < 0, x > 1], [lambda v: -v, 2.0, lambda v: v * v])),
    "ravel_multi_index": Case(_ravel),
    "searchsorted": Case(lambda d: (x := d.rising(), d.array(dtype=str(x.dtype)), {"side": d.one("left", "right")})),
    "select": Case(_selected),
    "take": Case(_taking),
    "take_along_axis": Case(_taking_along),
    "unravel_index": Case(_unravel),
    # Sorting and sets
    "argpartition": Case(
        lambda d: (d.filled("if", 1), 0),
        ours=lambda f, x, k: np.take_along_axis(x, np.asarray(f(x, k)), -1)[..., 0],
        theirs=lambda x, k: np.partition(x, k)[..., 0],
    ),
    "argsort": Case(_sorting, theirs=_in_order(np.argsort)),
    "intersect1d": Case(lambda d: vectors(d, "if", 0, 3, 4)),
    "isin": Case(lambda d: (*d.pair("biuf"), {"invert": d.flag()})),
    "lexsort": Case(_keys),
    "partition": Case(
        lambda d: (d.filled("if", 1), 0),
        ours=lambda f, *xs: f(*xs)[..., 0],
        theirs=lambda *xs: np.partition(*xs)[..., 0],
    ),
    "setdiff1d": Case(lambda d: vectors(d, "if", 0, 3, 4)),
    "setxor1d": Case(lambda d: vectors(d, "if", 0, 3, 4)),
    "sort": Case(_sorting, theirs=_in_order(np.sort)),
    "top_k": Case(
        lambda d: (d.tame("if", (2, 3)), 2),
        theirs=lambda x, k: np.sort(x)[..., ::-1][..., :k],
        ours=lambda f, x, k: f(x, k)[0],
    ),
    "union1d": Case(lambda d: vectors(d, "if", 0, 3, 4)),
    "unique": Case(lambda d: (d.tame("bif"), *(True,) * 3)),
    "unique_all": unary("bi", theirs=lambda x: tuple(np.unique_all(x))),
    "unique_counts": unary("bi", theirs=lambda x: tuple(np.unique_counts(x))),
    "unique_inverse": unary("bi", theirs=lambda x: tuple(np.unique_inverse(x))),
    "unique_values": unary("bif", theirs=lambda x: np.unique(x, equal_nan=False)),
}
