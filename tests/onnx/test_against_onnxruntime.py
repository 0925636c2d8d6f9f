"""Operators with attributes drawn at random: the values, shapes and dtypes are those of onnxruntime."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.onnx.models import node

pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, which values are compared with, is not installed")

if TYPE_CHECKING:
    from collections.abc import Callable

Drawn = tuple[str, dict[str, np.ndarray], dict[str, Any], dict[str, Any], int]
CASES: dict[str, Callable[[random.Random, np.random.Generator], Drawn]] = {}
DRAWS = 4
# What onnxruntime does not have, or does not take.
REFUSED = tuple(
    getattr(onnxruntime.capi.onnxruntime_pybind11_state, name)
    for name in ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented", "RuntimeException")
)


def case(function: Callable[[random.Random, np.random.Generator], Drawn]) -> Callable[..., Drawn]:
    """Name a function that draws an operator: its name, inputs, constants, attributes, and number of outputs."""
    CASES[function.__name__] = function
    return function


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def pads_of(draw: random.Random, n: int, most: int) -> list[int]:
    return [draw.randint(0, most) for _ in range(2 * n)]


@case
def conv(draw: random.Random, rng: np.random.Generator) -> Drawn:
    n = draw.choice((1, 2, 2, 3))
    groups = draw.choice((1, 1, 2, 4))
    inputs = groups * draw.choice((1, 2))
    outputs = groups * draw.choice((1, 3))
    kernel = [draw.randint(1, 3) for _ in range(n)]
    x = floats(rng, 2, inputs, *[draw.randint(6, 9) for _ in range(n)])
    attributes: dict[str, Any] = {"group": groups, "strides": [draw.randint(1, 2) for _ in range(n)]}
    if draw.random() < 0.3:
        attributes["auto_pad"] = draw.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        attributes["pads"] = pads_of(draw, n, 2)
        attributes["dilations"] = [draw.randint(1, 2) for _ in range(n)]
    constants = {"w": floats(rng, outputs, inputs // groups, *kernel), "b": floats(rng, outputs)}
    return "Conv", {"x": x}, constants, attributes, 1


@case
def conv_transpose(draw: random.Random, rng: np.random.Generator) -> Drawn:
    n, groups = draw.choice((1, 2)), draw.choice((1, 2))
    strides = [draw.randint(1, 3) for _ in range(n)]
    attributes = {
        "group": groups,
        "strides": strides,
        "pads": pads_of(draw, n, 1),
        "output_padding": [draw.randint(0, s - 1) for s in strides],
    }
    x = floats(rng, 2, 2 * groups, *[draw.randint(3, 5) for _ in range(n)])
    constants = {"w": floats(rng, 2 * groups, 3, *[draw.randint(2, 3) for _ in range(n)])}
    return "ConvTranspose", {"x": x}, constants, attributes, 1


def pool(draw: random.Random, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, Any]]:
    n = draw.choice((1, 2, 3))
    kernel = [draw.randint(2, 3) for _ in range(n)]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [draw.randint(1, 3) for _ in range(n)],
        "ceil_mode": draw.randint(0, 1),
        "dilations": [draw.randint(1, 2) for _ in range(n)],
    }
    if draw.random() < 0.7:
        attributes["pads"] = [draw.randint(0, k - 1) for k in kernel * 2]
    return floats(rng, 2, 2, *[draw.randint(6, 9) for _ in range(n)]), attributes


@case
def max_pool(draw: random.Random, rng: np.random.Generator) -> Drawn:
    x, attributes = pool(draw, rng)
    return "MaxPool", {"x": x}, {}, attributes, draw.choice((1, 2))


@case
def average_pool(draw: random.Random, rng: np.random.Generator) -> Drawn:
    x, attributes = pool(draw, rng)
    return "AveragePool", {"x": x}, {}, {**attributes, "count_include_pad": draw.randint(0, 1)}, 1


@case
def resize(draw: random.Random, rng: np.random.Generator) -> Drawn:
    mode = draw.choice(("nearest", "linear", "cubic"))
    transforms = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": draw.choice(transforms)}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    x = floats(rng, 1, 2, draw.randint(4, 7), draw.randint(4, 7))
    sizes = np.asarray([1, 2, draw.randint(2, 12), draw.randint(2, 12)], np.int64)
    empty = np.zeros(0, np.float32)
    return "Resize", {"x": x}, {"roi": empty, "scales": empty, "sizes": sizes}, attributes, 1


@case
def slices(draw: random.Random, rng: np.random.Generator) -> Drawn:
    starts = [draw.randint(-8, 8) for _ in range(2)]
    ends = [draw.choice((draw.randint(-8, 8), -(1 << 62), (1 << 62))) for _ in range(2)]
    steps = [draw.choice((-3, -2, -1, 1, 2, 3)) for _ in range(2)]
    axes = draw.sample((0, 1, -1), 2) if draw.random() < 0.5 else [1, 0]
    values = {"s": starts, "e": ends, "a": axes, "t": steps}
    return "Slice", {"x": floats(rng, 5, 6, 4)}, {k: np.asarray(v, np.int64) for k, v in values.items()}, {}, 1


@case
def pad(draw: random.Random, rng: np.random.Generator) -> Drawn:
    mode = draw.choice(("constant", "reflect", "edge", "wrap"))
    low = -1 if mode in ("constant", "edge") else 0
    pads = np.asarray([draw.randint(low, 2) for _ in range(4)], np.int64)
    return "Pad", {"x": floats(rng, 4, 5)}, {"p": pads, "v": np.float32(2)}, {"mode": mode}, 1


@case
def scatter_elements(draw: random.Random, rng: np.random.Generator) -> Drawn:
    axis = draw.choice((0, 1, -1))
    kind = draw.choice(("none", "add", "mul", "max", "min"))
    indices = rng.integers(-4, 4, (3, 4))
    if kind == "none":
        indices = np.argsort(rng.normal(size=(3, 4)), axis=1) if axis else np.argsort(rng.normal(size=(3, 4)), axis=0)
    inputs = {"x": floats(rng, 4, 4), "i": indices.astype(np.int64), "u": floats(rng, 3, 4)}
    return "ScatterElements", inputs, {}, {"axis": axis, "reduction": kind}, 1


@case
def gather(draw: random.Random, rng: np.random.Generator) -> Drawn:
    indices = rng.integers(-4, 4, draw.choice(((), (3,), (2, 2)))).astype(draw.choice((np.int32, np.int64)))
    return "Gather", {"x": floats(rng, 4, 4, 4), "i": indices}, {}, {"axis": draw.randint(-3, 2)}, 1


@case
def gather_nd(draw: random.Random, rng: np.random.Generator) -> Drawn:
    batch = draw.randint(0, 1)
    depth = draw.randint(1, 3 - batch)
    indices = rng.integers(-3, 3, (3, 2, depth)).astype(np.int64)
    return "GatherND", {"x": floats(rng, 3, 4, 5), "i": indices}, {}, {"batch_dims": batch}, 1


@case
def top_k(draw: random.Random, rng: np.random.Generator) -> Drawn:
    attributes = {"axis": draw.randint(-2, 1), "largest": draw.randint(0, 1)}
    return "TopK", {"x": floats(rng, 5, 6)}, {"k": np.asarray([draw.randint(1, 5)], np.int64)}, attributes, 2


@case
def cum_sum(draw: random.Random, rng: np.random.Generator) -> Drawn:
    attributes = {"exclusive": draw.randint(0, 1), "reverse": draw.randint(0, 1)}
    return "CumSum", {"x": floats(rng, 3, 5)}, {"a": np.asarray(draw.randint(-2, 1))}, attributes, 1


@case
def integer_division(draw: random.Random, rng: np.random.Generator) -> Drawn:
    dtype = draw.choice((np.int32, np.int64, np.uint8, np.int8))
    y = rng.integers(1, 7, 50) * (rng.choice((-1, 1), 50) if np.dtype(dtype).kind == "i" else 1)
    x = rng.integers(0 if np.dtype(dtype).kind == "u" else -100, 100, 50)
    return "Div", {"x": x.astype(dtype), "y": y.astype(dtype)}, {}, {}, 1


@case
def remainder(draw: random.Random, rng: np.random.Generator) -> Drawn:
    x, y = rng.integers(-100, 100, 50), rng.integers(1, 7, 50) * rng.choice((-1, 1), 50)
    return "Mod", {"x": x, "y": y}, {}, {"fmod": draw.randint(0, 1)}, 1


@case
def quantize(draw: random.Random, rng: np.random.Generator) -> Drawn:
    dtype, axis = draw.choice((np.uint8, np.int8)), draw.choice((0, 1))
    count = (4, 6)[axis]
    constants = {
        "s": rng.uniform(0.01, 0.1, count).astype(np.float32),
        "z": rng.integers(0, 9, count).astype(dtype),
    }
    return "QuantizeLinear", {"x": floats(rng, 4, 6)}, constants, {"axis": axis}, 1


@case
def qlinear_conv(draw: random.Random, rng: np.random.Generator) -> Drawn:
    groups = draw.choice((1, 2))
    x = rng.integers(0, 255, (1, 2 * groups, 6, 6)).astype(np.uint8)
    constants = {
        "xs": np.float32(0.02),
        "xz": np.uint8(120),
        "w": rng.integers(-100, 100, (4, 2, 3, 3)).astype(np.int8),
        "ws": rng.uniform(0.01, 0.02, 4).astype(np.float32),
        "wz": np.zeros(4, np.int8),
        "ys": np.float32(0.05),
        "yz": np.uint8(128),
        "b": rng.integers(-500, 500, 4).astype(np.int32),
    }
    return "QLinearConv", {"x": x}, constants, {"group": groups, "pads": pads_of(draw, 2, 1)}, 1


def recurrent(draw: random.Random, rng: np.random.Generator, name: str, gates: int) -> Drawn:
    direction = draw.choice(("forward", "reverse", "bidirectional"))
    ways, hidden, steps, batch = 1 + (direction == "bidirectional"), 4, 5, 3
    inputs = {"x": floats(rng, steps, batch, 3)}
    constants: dict[str, Any] = {
        "w": floats(rng, ways, gates * hidden, 3),
        "r": floats(rng, ways, gates * hidden, hidden),
        "b": floats(rng, ways, 2 * gates * hidden),
        "lengths": np.asarray([steps, 2, 4], np.int32) if draw.random() < 0.5 else np.full(batch, steps, np.int32),
        "h": floats(rng, ways, batch, hidden),
    }
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if name == "LSTM":
        constants["c"] = floats(rng, ways, batch, hidden)
        constants["p"] = floats(rng, ways, 3 * hidden)
    if name == "GRU":
        attributes["linear_before_reset"] = draw.randint(0, 1)
    return name, inputs, constants, attributes, 3 if name == "LSTM" else 2


@case
def rnn(draw: random.Random, rng: np.random.Generator) -> Drawn:
    return recurrent(draw, rng, "RNN", 1)


@case
def gru(draw: random.Random, rng: np.random.Generator) -> Drawn:
    return recurrent(draw, rng, "GRU", 3)


@case
def lstm(draw: random.Random, rng: np.random.Generator) -> Drawn:
    return recurrent(draw, rng, "LSTM", 4)


@case
def grid_sample(draw: random.Random, rng: np.random.Generator) -> Drawn:
    attributes = {
        "mode": draw.choice(("nearest", "linear", "cubic")),
        "padding_mode": draw.choice(("zeros", "border", "reflection")),
        "align_corners": draw.randint(0, 1),
    }
    grid = rng.uniform(-1.4, 1.4, (2, 4, 5, 2)).astype(np.float32)
    return "GridSample", {"x": floats(rng, 2, 3, 5, 6), "grid": grid}, {}, attributes, 1


@case
def roi_align(draw: random.Random, rng: np.random.Generator) -> Drawn:
    corners = np.sort(rng.uniform(0, 16, (3, 2, 2)), axis=1).reshape(3, 4).astype(np.float32)
    attributes = {
        "output_height": draw.randint(1, 3),
        "output_width": draw.randint(1, 3),
        "sampling_ratio": draw.choice((0, 1, 2)),
        "spatial_scale": draw.choice((0.5, 1.0)),
        "coordinate_transformation_mode": draw.choice(("half_pixel", "output_half_pixel")),
        "mode": draw.choice(("avg", "avg", "max")),
    }
    inputs = {"x": floats(rng, 2, 2, 9, 8), "rois": corners, "batch": np.asarray([0, 1, 1])}
    return "RoiAlign", inputs, {}, attributes, 1


@case
def non_max_suppression(draw: random.Random, rng: np.random.Generator) -> Drawn:
    corners = rng.uniform(0, 1, (2, 12, 4)).astype(np.float32)
    inputs = {"boxes": corners, "scores": rng.uniform(0, 1, (2, 3, 12)).astype(np.float32)}
    constants = {"n": np.asarray([4], np.int64), "o": np.float32([0.3]), "l": np.float32([0.2])}
    return "NonMaxSuppression", inputs, constants, {"center_point_box": draw.randint(0, 1)}, 1


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_onnxruntime(name: str) -> None:
    for number in range(DRAWS if name != "conv" else 40):
        draw, rng = random.Random(number), np.random.default_rng(number)
        op, inputs, constants, attributes, outputs = CASES[name](draw, rng)
        infos = {key: (x.dtype.name, x.shape) for key, x in inputs.items()}
        names = [f"y{k}" for k in range(outputs)]
        infos |= {"y1": ("int64", None)} if op in ("MaxPool", "TopK") else {}
        kinds = {
            "QuantizeLinear": constants.get("z"),
            "QLinearConv": constants.get("yz"),
            "NonMaxSuppression": np.int64(0),
        }
        like = kinds.get(op, next(iter(inputs.values())))
        proto = node(op, [*inputs, *constants], names, infos | {"y0": (like.dtype.name, None)}, constants, **attributes)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
            expected = session.run(None, inputs)
        except REFUSED:
            continue
        found = aio.onnx.load_sync(proto).run_sync(*inputs.values())
        for one, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
            value = np.asarray(one)
            assert (value.dtype, value.shape) == (other.dtype, other.shape), (number, attributes)
            # Quantised values differ by one where sums are rounded in another order.
            loose = 1.0 if op == "QLinearConv" else 1e-4
            wide = (value.astype(np.float64), other.astype(np.float64))
            np.testing.assert_allclose(*wide, rtol=1e-4, atol=loose, err_msg=f"draw {number}: {attributes}")
