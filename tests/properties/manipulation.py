"""Functions that make arrays and move elements: how their arguments are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.cases import Case, along, binary, keywords, unary, vectors

if TYPE_CHECKING:
    from tests.properties.drawing import Draw


def _rolled(d: Draw) -> tuple[Any, ...]:
    x = d.array("biufc", d.shape(1))
    return x, d.one(0, 1, -2, 5), {"axis": d.one(None, *range(x.ndim))}


def _splits(d: Draw) -> tuple[Any, ...]:
    x = d.array("if", d.one((6,), (4, 6), (2, 4, 6)))
    return x, d.one(1, 2, [1, 3], [0, 1, -1], [2, 9])


def _padding(d: Draw) -> tuple[Any, ...]:
    x = d.filled("iufc", 1)
    mode, options = d.one(
        *(("constant", {}), ("edge", {}), ("reflect", {}), ("symmetric", {}), ("wrap", {})),
        *(("constant", {"constant_values": (3, 4)}), ("linear_ramp", {"end_values": (5, 1)})),
        *(("mean", {"stat_length": 1}), ("maximum", {}), ("minimum", {"stat_length": (1, 2)})),
    )
    if x.dtype.kind in "cf" and mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        x = d.tame("iu", x.shape)
    return x, d.one(0, 1, (2, 1)), {"mode": mode, **options}


MANIPULATION: dict[str, Case] = {
    # Creation
    "arange": Case(lambda d: (d.one(0, -3, 2), d.one(5, 0, 9), d.one(1, 2, -1))),
    "asarray": unary("biufc"),
    "empty": Case(lambda d: (d.shape(),), theirs=np.zeros),
    "empty_like": unary("biufc", theirs=np.zeros_like),
    "eye": Case(lambda d: (d.one(0, 2, 3), d.one(None, 2, 4), {"k": d.one(0, 1, -1, 9)})),
    "full": Case(lambda d: (d.shape(), d.one(2.5, -1.0))),
    "full_like": Case(lambda d: (d.array("iuf"), 3)),
    "geomspace": Case(lambda d: (d.one(1, 2.5), d.one(100, 0.1), d.one(2, 7)), 2),
    "identity": Case(lambda d: (d.one(0, 1, 3),)),
    "indices": Case(lambda d: (d.one((2, 3), (4,), (0, 2)), {"sparse": d.flag()})),
    "linspace": Case(lambda d: (d.one(0, 1.5), d.one(10, -3), d.one(0, 1, 7), {"endpoint": d.flag()}), 2),
    "logspace": Case(lambda d: (d.one(0, 1.5), d.one(3, -3), d.one(2, 7), {"endpoint": d.flag()}), 2),
    "meshgrid": Case(lambda d: (*vectors(d, "if", 0, 2, 3), {"indexing": d.one("xy", "ij")})),
    "ones": Case(lambda d: (d.shape(),)),
    "ones_like": unary("biufc"),
    "tri": Case(lambda d: (d.one(0, 3), d.one(None, 2, 4), d.one(0, 1, -1, 9))),
    "tril": Case(lambda d: (d.array("biufc", d.shape(2)), {"k": d.one(0, 1, -1, 9)})),
    "triu": Case(lambda d: (d.array("biufc", d.shape(2)), {"k": d.one(0, 1, -1, 9)})),
    "zeros": Case(lambda d: (d.shape(),)),
    "zeros_like": unary("biufc"),
    # Dtypes
    "astype": Case(lambda d: (d.tame("biuf"), d.one("int32", "float32", "bool", "complex64"))),
    # Moving elements
    "atleast_1d": unary("biufc"),
    "atleast_2d": unary("biufc"),
    "atleast_3d": unary("biufc"),
    "array_split": Case(lambda d: (*_splits(d), {"axis": -1})),
    "broadcast_arrays": binary("biufc", theirs=lambda *xs: tuple(np.broadcast_arrays(*xs))),
    "broadcast_to": Case(lambda d: (d.array("biufc", d.one((), (3,), (1, 3), (2, 1))), (2, 3))),
    "column_stack": Case(lambda d: (d.several("iufc"),)),
    "concat": Case(lambda d: (d.several("biufc"), {"axis": d.one(None, 0, -1)})),
    "diag": Case(lambda d: (d.array("biufc", d.one((3,), (0,), (2, 3), (4, 2))), d.one(0, 1, -2))),
    "diagonal": Case(lambda d: (d.array("biufc", d.one((2, 3), (2, 3, 4))), d.one(0, 1, -1), 1, 0)),
    "dsplit": Case(lambda d: (d.array("if", (2, 4, 6)), d.one(2, [1, 3]))),
    "dstack": Case(lambda d: (d.several("iufc"),)),
    "expand_dims": Case(lambda d: (d.array("biufc"), d.one(0, -1, (0, 1), (0, -1)))),
    "flip": Case(lambda d: keywords(d, x := d.array("biufc"), axis=d.axes(x))),
    "fliplr": Case(lambda d: (d.array("biufc", d.shape(2)),)),
    "flipud": Case(lambda d: (d.array("biufc", d.shape(1)),)),
    "hsplit": Case(lambda d: (d.array("if", d.one((6,), (4, 6))), d.one(2, [1, 3]))),
    "hstack": Case(lambda d: (d.several("iufc"),)),
    "matrix_transpose": Case(lambda d: (d.array("biufc", d.shape(2)),)),
    "moveaxis": Case(lambda d: (d.array("biufc", (2, 1, 3)), *d.one((0, 1), (-1, 0), ((0, 1), (2, 0))))),
    "pad": Case(_padding),
    "permute_dims": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one((0, 1, 2), (2, 0, 1), (-1, 1, 0)))),
    "ravel": Case(lambda d: (d.array("biufc"), d.one("C", "F"))),
    "repeat": Case(lambda d: (d.array("biufc", d.shape(1)), d.one(0, 1, 3), {"axis": d.one(None, 0)})),
    "reshape": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one((6,), (3, 2), (-1, 2), (1, 6, 1)))),
    "roll": Case(_rolled),
    "rollaxis": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one(0, 1, -1), d.one(0, 2, 3))),
    "rot90": Case(lambda d: (d.array("biufc", d.shape(2)), d.one(0, 1, 2, -1))),
    "split": Case(lambda d: (*_splits(d), {"axis": -1})),
    "squeeze": Case(lambda d: (d.array("biufc", (2, 1, 3)), {"axis": d.one(None, 1, (1,))})),
    "stack": Case(lambda d: (d.several("biufc", 0), {"axis": d.one(0, -1)})),
    "swapaxes": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one(0, -1), d.one(1, -2))),
    "tile": Case(lambda d: (d.array("biufc"), d.one(0, 2, (2, 1), (1, 2, 2)))),
    "transpose": Case(lambda d: (d.array("biufc", (2, 1, 3)), d.one(None, (2, 0, 1)))),
    "unstack": along("biufc", filled=True),
    "vsplit": Case(lambda d: (d.array("if", (4, 6)), d.one(2, [1, 3]))),
    "vstack": Case(lambda d: (d.several("iufc"),)),
}
