"""One line for every public function: how its arguments are drawn, and how far from NumPy's its results may be.

A bound is in units of the result's precision at the size of the result, and with ``scaled`` of the largest argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.properties.drawing import POSITIVE, TAME, Draw

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """``draw`` gives the arguments, a dict at the end being keywords."""

    draw: Callable[[Draw], tuple[Any, ...]]
    bound: float = 0
    theirs: Callable[..., Any] | None = None  # NumPy's function of the same name, unless another one is given
    ours: Callable[..., Any] | None = None
    wide: bool = False  # NumPy computes in more digits
    scaled: bool = False


def unary(kinds: str, bound: float = 0, **options: Any) -> Case:
    return Case(lambda d: (d.array(kinds),), bound, wide=bound > 0, **options)


def binary(kinds: str, bound: float = 0, **options: Any) -> Case:
    return Case(lambda d: d.pair(kinds), bound, wide=bound > 0, **options)


def reduction(kinds: str, bound: float = 0, *, filled: bool = False, **options: Any) -> Case:
    def draw(d: Draw) -> tuple[Any, ...]:
        x = (
            d.filled(kinds, values=TAME if bound else None)
            if filled
            else d.array(kinds, values=TAME if bound else None)
        )
        return x, {"axis": d.axes(x), "keepdims": d.flag()}

    return Case(draw, bound, scaled=bound > 0, **options)


def along(kinds: str, bound: float = 0, *, least: int = 1, filled: bool = False, **options: Any) -> Case:
    """Functions of an array along one axis."""

    def draw(d: Draw) -> tuple[Any, ...]:
        x = d.array(kinds, d.shape(least, filled=filled), TAME if bound else None)
        return x, {"axis": d.axis(x)}

    return Case(draw, bound, scaled=bound > 0, **options)


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


def _keywords(d: Draw, x: Any, **options: Any) -> tuple[Any, ...]:
    return x, options


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


def _rolled(d: Draw) -> tuple[Any, ...]:
    x = d.array("biufc", d.shape(1))
    return x, d.one(0, 1, -2, 5), {"axis": d.one(None, *range(x.ndim))}


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


def _vectors(d: Draw, kinds: str, *lengths: int) -> tuple[np.ndarray, ...]:
    dtype = d.dtype(kinds)
    return tuple(d.array(shape=(d.one(*lengths),), values=TAME, dtype=dtype) for _ in range(2))


def _threes(d: Draw) -> tuple[Any, ...]:
    dtype = d.dtype("ifc")
    a, b = d.one(((3,), (3,)), ((2, 3), (3,)), ((0, 3), (3,)))
    return d.array(shape=a, values=TAME, dtype=dtype), d.array(shape=b, values=TAME, dtype=dtype)


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


def _splits(d: Draw) -> tuple[Any, ...]:
    x = d.array("if", d.one((6,), (4, 6), (2, 4, 6)))
    return x, d.one(1, 2, [1, 3], [0, 1, -1], [2, 9])


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


def _padding(d: Draw) -> tuple[Any, ...]:
    x = d.filled("iufc", 1)
    return x, d.one(0, 1, (2, 1)), {"mode": d.one("constant", "edge", "reflect", "symmetric", "wrap")}


def _einsum(d: Draw) -> tuple[Any, ...]:
    dtype = d.dtype("ifc")
    text, *shapes = d.one(
        ("ij,jk->ik", (2, 3), (3, 2)),
        ("ii", (3, 3)),
        ("ij,jk,kl", (2, 3), (3, 2), (2, 4)),
        ("...i,i->...", (2, 3), (3,)),
    )
    return text, *(d.array(shape=shape, values=TAME, dtype=dtype) for shape in shapes)


def _bins(d: Draw) -> tuple[Any, ...]:
    edges = d.rising("f")
    return (
        d.array(shape=d.shape(), dtype=str(edges.dtype)),
        edges[::-1].copy() if d.flag() else edges,
        {"right": d.flag()},
    )


def _where(d: Draw) -> tuple[Any, ...]:
    x, y = d.pair("biufc")
    return d.array("b", (3,) if (x.size and y.size) else ()), x, y


def _clip(d: Draw) -> tuple[Any, ...]:
    x, low = d.pair("iuf")
    return (x, low, None) if d.flag() else (x, None, low)


def _least(name: str, part: int | None = None) -> Callable[..., Any]:
    """A function of the standard that NumPy gives as a named tuple."""
    return lambda x: tuple(getattr(np, name)(x))


def _flat(x: Any) -> Any:
    return np.reshape(x, (-1,))


CASES: dict[str, Case] = {
    # Element-wise
    "abs": unary("iufc", 2),
    "acos": unary("biufc", 6),
    "acosh": unary("biufc", 6),
    "add": binary("biufc"),
    "angle": unary("fc", 4),
    "asin": unary("biufc", 6),
    "asinh": unary("biufc", 6),
    "atan": unary("biufc", 6),
    "atan2": binary("f", 2),
    "atanh": unary("biufc", 6),
    "bitwise_and": binary("biu"),
    "bitwise_count": unary("iu"),
    "bitwise_invert": unary("biu"),
    "bitwise_left_shift": Case(lambda d: (d.array("i", (2, 3)), d.one(0, 1, 3))),
    "bitwise_or": binary("biu"),
    "bitwise_right_shift": Case(lambda d: (d.array("i", (2, 3)), d.one(0, 1, 3))),
    "bitwise_xor": binary("biu"),
    "cbrt": unary("f", 4),
    "ceil": unary("iuf"),
    "clip": Case(_clip),
    "conj": unary("iufc"),
    "copysign": binary("f"),
    "cos": unary("biufc", 6),
    "cosh": unary("biufc", 6),
    "deg2rad": unary("f", 2),
    "degrees": unary("f", 2),
    "divide": binary("biuf", 1),
    "divmod": Case(lambda d: d.pair("f", [x for x in TAME if x]), 0),
    "equal": binary("biufc"),
    "exp": unary("biufc", 7),
    "exp2": unary("biuf", 2),
    "expm1": unary("biufc", 7),
    "float_power": Case(lambda d: d.pair("f", POSITIVE), 2, theirs=lambda x, y: np.float_power(x, y).astype(x.dtype)),
    "floor": unary("iuf"),
    "floor_divide": Case(lambda d: d.pair("iuf", [x for x in TAME if x])),
    "fmax": binary("biuf"),
    "fmin": binary("biuf"),
    "fmod": Case(lambda d: d.pair("f", (*TAME, 1e20, float("nan"), float("inf")))),
    "gcd": binary("iu"),
    "greater": binary("biuf"),
    "greater_equal": binary("biuf"),
    "heaviside": binary("f"),
    "hypot": binary("f", 2),
    "i0": unary("f", 8),
    "imag": unary("c"),
    "isclose": Case(lambda d: (*d.pair("f"), {"equal_nan": d.flag()})),
    "isfinite": unary("biufc"),
    "isinf": unary("biufc"),
    "isnan": unary("biufc"),
    "isneginf": unary("f"),
    "isposinf": unary("f"),
    "lcm": Case(lambda d: d.pair("i", (0, 1, 2, 3, 6))),
    "less": binary("biuf"),
    "less_equal": binary("biuf"),
    "log": unary("biufc", 4),
    "log10": unary("biufc", 5),
    "log1p": unary("biufc", 4),
    "log2": unary("biufc", 5),
    "logaddexp": Case(lambda d: d.pair("f", (*TAME, float("inf"), float("-inf"), float("nan"))), 4, scaled=True),
    "logaddexp2": Case(lambda d: d.pair("f", (*TAME, float("inf"), float("-inf"), float("nan"))), 4, scaled=True),
    "logical_and": binary("biufc"),
    "logical_not": unary("biufc"),
    "logical_or": binary("biufc"),
    "logical_xor": binary("biufc"),
    "maximum": binary("biuf"),
    "minimum": binary("biuf"),
    "multiply": binary("biuf"),
    "nan_to_num": unary("f"),
    "negative": unary("iufc"),
    "nextafter": Case(lambda d: d.pair("f", (1.0, 2.0, -1.0, float("inf"), float("nan")))),
    "not_equal": binary("biufc"),
    "positive": unary("iufc"),
    "pow": Case(lambda d: d.pair("f"), 2, wide=True),
    "rad2deg": unary("f", 2),
    "radians": unary("f", 2),
    "real": unary("fc"),
    "reciprocal": unary("f", 1),
    "remainder": Case(lambda d: d.pair("iuf", [x for x in TAME if x])),
    "round": unary("iufc"),
    "sign": unary("iuf"),
    "signbit": unary("f"),
    "sin": unary("biufc", 6),
    "sinc": Case(lambda d: (d.tame("f"),), 4, scaled=True),  # NumPy's multiplies by pi first
    "sinh": unary("biufc", 6),
    "sqrt": unary("biufc", 4),
    "square": unary("iuf"),
    "subtract": binary("iufc"),
    "tan": unary("biufc", 8),
    "tanh": unary("biufc", 8),
    "trunc": unary("iuf"),
    "where": Case(_where),
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
    "meshgrid": Case(lambda d: (*_vectors(d, "if", 0, 2, 3), {"indexing": d.one("xy", "ij")})),
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
    "flip": Case(lambda d: _keywords(d, x := d.array("biufc"), axis=d.axes(x))),
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
    # Choosing and searching
    "apply_along_axis": Case(lambda d: (lambda v: v[0] + v[-1], d.one(0, -1), d.filled("if", 1, TAME))),
    "argmax": Case(lambda d: _keywords(d, x := d.filled("biuf"), axis=d.axis_or_none(x))),
    "argmin": Case(lambda d: _keywords(d, x := d.filled("biuf"), axis=d.axis_or_none(x))),
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
    "intersect1d": Case(lambda d: _vectors(d, "if", 0, 3, 4)),
    "isin": Case(lambda d: (*d.pair("biuf"), {"invert": d.flag()})),
    "lexsort": Case(_keys),
    "partition": Case(
        lambda d: (d.filled("if", 1), 0),
        ours=lambda f, *xs: f(*xs)[..., 0],
        theirs=lambda *xs: np.partition(*xs)[..., 0],
    ),
    "setdiff1d": Case(lambda d: _vectors(d, "if", 0, 3, 4)),
    "setxor1d": Case(lambda d: _vectors(d, "if", 0, 3, 4)),
    "sort": Case(_sorting, theirs=_in_order(np.sort)),
    "top_k": Case(
        lambda d: (d.tame("if", (2, 3)), 2),
        theirs=lambda x, k: np.sort(x)[..., ::-1][..., :k],
        ours=lambda f, x, k: f(x, k)[0],
    ),
    "union1d": Case(lambda d: _vectors(d, "if", 0, 3, 4)),
    "unique": Case(lambda d: (d.tame("bif"), *(True,) * 3)),
    "unique_all": unary("bi", theirs=lambda x: tuple(np.unique_all(x))),
    "unique_counts": unary("bi", theirs=lambda x: tuple(np.unique_counts(x))),
    "unique_inverse": unary("bi", theirs=lambda x: tuple(np.unique_inverse(x))),
    "unique_values": unary("bif", theirs=lambda x: np.unique(x, equal_nan=False)),
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
    "cumprod": Case(lambda d: _keywords(d, x := d.tame("f"), axis=d.axis_or_none(x)), 8, scaled=True),
    "cumsum": Case(lambda d: _keywords(d, x := d.tame("ifc"), axis=d.axis_or_none(x)), 8, scaled=True),
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
        lambda d: _keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 4, scaled=True
    ),
    "nanmin": reduction("if", filled=True),
    "nanpercentile": Case(_quantile(100), 8, theirs=_in_its_dtype(np.nanpercentile), scaled=True),
    "nanprod": Case(
        lambda d: _keywords(d, x := d.array("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nanquantile": Case(_quantile(1), 8, theirs=_in_its_dtype(np.nanquantile), scaled=True),
    "nanstd": Case(
        lambda d: _keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nansum": Case(
        lambda d: _keywords(d, x := d.array("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "nanvar": Case(
        lambda d: _keywords(d, x := d.filled("f", values=(*TAME, float("nan"))), axis=d.axes(x)), 16, scaled=True
    ),
    "percentile": Case(_quantile(100), 8, theirs=_in_its_dtype(np.percentile), scaled=True),
    "prod": reduction("f", 16),
    "ptp": reduction("if", 1, filled=True),
    "quantile": Case(_quantile(1), 8, theirs=_in_its_dtype(np.quantile), scaled=True),
    "std": reduction("fc", 16, filled=True),
    "sum": reduction("ifc", 16),
    "var": reduction("fc", 16, filled=True),
    # Differences, integrals, interpolation
    "convolve": Case(lambda d: (*_vectors(d, "ifc", 1, 3, 4), d.one("full", "same", "valid")), 8, scaled=True),
    "correlate": Case(lambda d: (*_vectors(d, "ifc", 1, 3, 4), d.one("full", "same", "valid")), 8, scaled=True),
    "diff": Case(lambda d: _keywords(d, x := d.tame("ifc", d.shape(1)), axis=d.axis(x), n=d.one(0, 1, 2))),
    "ediff1d": Case(lambda d: (d.tame("fc"), {"to_end": d.one(None, 1.0), "to_begin": d.one(None, 2.0)})),
    "gradient": Case(_gradient, 8, scaled=True),
    "interp": Case(_interp, 16, theirs=_in_its_dtype(np.interp), scaled=True),
    "trapezoid": Case(
        lambda d: _keywords(d, x := d.tame("fc", d.shape(1, filled=True)), axis=d.axis(x), dx=0.5), 8, scaled=True
    ),
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
    "linalg.outer": Case(lambda d: _vectors(d, "ifc", 3)),
    "linalg.pinv": _square("fc", 64),
    "linalg.slogdet": _square("fc", 64, theirs=lambda x: tuple(np.linalg.slogdet(x))),
    "linalg.solve": Case(lambda d: (x := d.matrix("fc"), np.ones((3, 2), x.dtype)), 64, scaled=True),
    "linalg.svdvals": _square("fc", 64),
    "linalg.tensordot": Case(lambda d: (*_matrices(d, "f"), {"axes": 0}), 2),
    "linalg.trace": Case(lambda d: (d.matrix(), {"offset": d.one(0, 1)}), 8, scaled=True),
    "linalg.vecdot": Case(lambda d: _same_vectors(d), 8, scaled=True),
    "linalg.vector_norm": Case(
        lambda d: _keywords(d, x := d.tame("f", d.one((3,), (2, 3))), axis=d.axes(x), ord=d.one(0, 1, 2, 3)),
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
    "fft.fftshift": Case(lambda d: _keywords(d, x := d.array("fc", d.shape(1)), axes=d.axes(x))),
    "fft.ifftshift": Case(lambda d: _keywords(d, x := d.array("fc", d.shape(1)), axes=d.axes(x))),
    "fft.fftfreq": Case(lambda d: (d.one(1, 4, 5), {"d": d.one(1.0, 0.5)}), 2),
    "fft.rfftfreq": Case(lambda d: (d.one(1, 4, 5), {"d": d.one(1.0, 0.5)}), 2),
}
