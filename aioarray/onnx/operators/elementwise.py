"""Operators on each element: arithmetic, comparison, logic, rounding, and functions of analysis."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import aioarray as aio

from ..._array import unary
from ..._ops import special
from .._dtypes import DTYPES, ON_HOST, type_name
from .._registry import operator
from .._values import Tensor, cast, is_floating, is_known, namespace

if TYPE_CHECKING:
    from .._evaluate import Call

# Integers of less than a byte.
SHORT = frozenset({np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)})
# Texts are Python's.
TEXT = np.dtype(object)
# dtypes that only constants have.
HOST_ONLY = frozenset(ON_HOST.values())

# Operator -> the function of the same meaning that NumPy and aioarray both have.
_FUNCTIONS: dict[str, str] = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Add": "add",
    "And": "logical_and",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_invert",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Equal": "equal",
    "Exp": "exp",
    "Floor": "floor",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "IsNaN": "isnan",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Log": "log",
    "Mul": "multiply",
    "Neg": "negative",
    "Not": "logical_not",
    "Or": "logical_or",
    "Round": "round",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Sub": "subtract",
    "Tan": "tan",
    "Tanh": "tanh",
    "Where": "where",
    "Xor": "logical_xor",
}


# Those that broadcast by other rules before version 7.
OLD = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")


def _declare(name: str, function: str) -> None:
    @operator(name, since=7 if name in OLD else 1)
    def apply(call: Call, *operands: Tensor) -> Tensor:
        return getattr(namespace(*operands), function)(*operands)


for _name, _function in _FUNCTIONS.items():
    _declare(_name, _function)


@operator("Div", since=7)
def div(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Integers are divided towards zero."""
    xp = namespace(x, y)
    if is_floating(x) or x.dtype.kind == "c":
        return xp.divide(x, y)
    if x.dtype.kind == "u" or x.dtype.name.startswith("uint"):
        return xp.floor_divide(x, y)
    return xp.floor_divide(xp.subtract(x, xp.fmod(x, y)), y)


@operator("Mod")
def mod(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """With ``fmod`` the sign is that of ``x``, otherwise that of ``y``."""
    xp = namespace(x, y)
    return xp.fmod(x, y) if call.integer("fmod", 0) else xp.remainder(x, y)


@operator("Pow", since=7)
def pow(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """In the dtype of ``x``, whatever that of ``y`` is."""
    xp = namespace(x, y)
    if is_floating(x):
        return xp.pow(x, cast(y, x.dtype))
    if is_floating(y):
        return cast(xp.pow(cast(x, y.dtype), y), x.dtype)
    if is_known(y) and y.size and y.min() >= 0:
        return xp.pow(x, cast(y, x.dtype))
    return cast(xp.pow(cast(x, np.float64), cast(y, np.float64)), x.dtype)


@operator("Reciprocal")
def reciprocal(call: Call, x: Tensor) -> Tensor:
    return namespace(x).divide(np.asarray(1, x.dtype), x)


@operator("Erf")
def erf(call: Call, x: Tensor) -> Tensor:
    if is_floating(x):
        return unary(special.erf, x)
    return cast(unary(special.erf, cast(x, np.float32)), x.dtype)


@operator("IsInf")
def is_inf(call: Call, x: Tensor) -> Tensor:
    xp = namespace(x)
    zero = np.asarray(0, x.dtype)
    negative = call.integer("detect_negative", 1)
    positive = call.integer("detect_positive", 1)
    found = xp.isinf(x)
    if not positive:
        found = xp.logical_and(found, xp.less(x, zero))
    if not negative:
        found = xp.logical_and(found, xp.greater(x, zero))
    return found


@operator("BitShift")
def bit_shift(call: Call, x: Tensor, y: Tensor) -> Tensor:
    xp = namespace(x, y)
    direction = call.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise call.error(f"is {direction!r}; it takes LEFT or RIGHT", "direction")
    shift = xp.bitwise_left_shift if direction == "LEFT" else xp.bitwise_right_shift
    bits = x.dtype.itemsize * 8
    most = np.asarray(bits - 1, y.dtype)
    shifted = shift(x, xp.minimum(y, most))
    if direction == "RIGHT" and x.dtype.kind == "i":
        return shifted  # copies of the sign
    return xp.where(xp.greater(y, most), np.asarray(0, x.dtype), shifted)


@operator("Max")
def maximum(call: Call, *operands: Tensor) -> Tensor:
    return functools.reduce(namespace(*operands).maximum, operands)


@operator("Min")
def minimum(call: Call, *operands: Tensor) -> Tensor:
    return functools.reduce(namespace(*operands).minimum, operands)


@operator("Sum")
def total(call: Call, *operands: Tensor) -> Tensor:
    return functools.reduce(namespace(*operands).add, operands)


@operator("Mean")
def mean(call: Call, *operands: Tensor) -> Tensor:
    xp = namespace(*operands)
    return xp.divide(functools.reduce(xp.add, operands), np.asarray(len(operands), operands[0].dtype))


@operator("Clip", since=6)
def clip_by_attributes(call: Call, x: Tensor) -> Tensor:
    return _clip(x, call.get("min"), call.get("max"))


@operator("Clip", since=11)
def clip(call: Call, x: Tensor, low: Tensor = None, high: Tensor = None) -> Tensor:
    return _clip(x, low, high)


def _clip(x: Tensor, low: Any, high: Any) -> Tensor:
    xp = namespace(x, *(y for y in (low, high) if y is not None and not isinstance(y, float)))
    if low is not None:
        x = xp.maximum(x, cast(np.asarray(low), x.dtype) if isinstance(low, float) else _scalar(low))
    if high is not None:
        x = xp.minimum(x, cast(np.asarray(high), x.dtype) if isinstance(high, float) else _scalar(high))
    return x


def _scalar(x: Tensor) -> Tensor:
    return namespace(x).reshape(x, ()) if x.size == 1 else x


@operator("Cast", since=6)
def cast_to(call: Call, x: Tensor) -> Tensor:
    from_number = call.integer("to")
    return converted(call, x, _dtype(call, from_number, "to"), bool(call.integer("saturate", 1)))


@operator("CastLike")
def cast_like(call: Call, x: Tensor, like: Tensor) -> Tensor:
    return converted(call, x, like.dtype, bool(call.integer("saturate", 1)))


@operator("BitCast")
def bit_cast(call: Call, x: Tensor) -> Tensor:
    dtype = _dtype(call, call.integer("to"), "to")
    if dtype.itemsize != x.dtype.itemsize:
        raise call.error(f"is {dtype.name}, which is not as long as {x.dtype.name}", "to")
    if np.dtype(bool) in (dtype, x.dtype):
        bits = x if x.dtype != np.dtype(bool) else cast(x, np.uint8)
        return cast(bits, bool) if dtype == np.dtype(bool) else bits.view(dtype)
    return x.view(dtype)


def _dtype(call: Call, number: int, attribute: str) -> np.dtype[Any]:
    dtype = DTYPES.get(number)
    if dtype is None:
        raise call.error(f"is the element type {type_name(number)}, which aioarray does not have", attribute)
    return dtype


def converted(call: Call, x: Tensor, dtype: np.dtype[Any], saturate: bool) -> Tensor:
    """``x`` in another dtype, as ONNX casts: NaN and infinity to the float8 that have none are what it says."""
    if x.dtype == dtype:
        return x
    if TEXT in (x.dtype, dtype):
        return _text_cast(call, x, dtype)
    if dtype in HOST_ONLY or x.dtype in HOST_ONLY:
        return _cast_on_host(call, x, dtype)
    if dtype.name == "float8_e8m0fnu":
        return _to_exponents(call, x, dtype, saturate)
    if dtype.name.startswith("float8"):
        return _to_float8(x, dtype, saturate)
    if dtype in SHORT and is_floating(x):
        # Towards zero, and what is out of range is taken modulo 16, as ONNX's own tests have it.
        whole = cast(cast(x, np.float32), np.int32)
        least = np.int32(aio.iinfo(dtype).min)
        return cast(((whole - least) & np.int32(15)) + least, dtype)
    return cast(x, dtype)


def _cast_on_host(call: Call, x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    if not is_known(x):
        raise call.error(
            f"a cast from {x.dtype.name} to {dtype.name} of what is not constant; XLA has no {dtype.name} on the device"
        )
    return x.astype(np.float32).astype(dtype)


def _text_cast(call: Call, x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    if not is_known(x):
        raise call.error("a cast to or from texts of what is not constant; texts are not on the device")
    if dtype == TEXT:
        return np.array([str(value) for value in x.reshape(-1).tolist()], object).reshape(x.shape)
    return x.astype(np.float64).astype(dtype)


def _to_exponents(call: Call, x: Tensor, dtype: np.dtype[Any], saturate: bool) -> Tensor:
    """Powers of two, whose bits are those of float32's exponent."""
    mode = call.text("round_mode", "up")
    if mode not in ("up", "down", "nearest"):
        raise call.error(f"is {mode!r}; it takes up, down or nearest", "round_mode")
    xp = namespace(x)
    bits = xp.abs(cast(x, np.float32)).view(np.int32)
    exponent, rest = xp.bitwise_right_shift(bits, np.int32(23)), xp.bitwise_and(bits, np.int32((1 << 23) - 1))
    least = {"up": 1, "down": 1 << 23, "nearest": 1 << 22}[mode]
    rounded = exponent + cast(rest >= np.int32(least), np.int32)
    # 255 is NaN.
    rounded = xp.where(
        exponent >= np.int32(255), np.int32(255), xp.minimum(rounded, np.int32(254 if saturate else 255))
    )
    return cast(rounded, np.uint8).view(dtype)


def _to_float8(x: Tensor, dtype: np.dtype[Any], saturate: bool) -> Tensor:
    xp = namespace(x)
    source = x if is_floating(x) and not x.dtype.name.startswith("float8") else cast(x, np.float32)
    if source.dtype == np.dtype(np.float64):
        source = cast(source, np.float32)
    limit = np.asarray(float(aio.finfo(dtype).max), source.dtype)
    nan = xp.isnan(source)
    if saturate:
        return cast(xp.where(nan, source, xp.minimum(xp.maximum(source, -limit), limit)), dtype)
    if dtype.name == "float8_e5m2":
        return cast(source, dtype)
    # No infinity: what is out of range is NaN.
    rounded = cast(source, dtype)
    return rounded


def _declare_old(name: str) -> None:
    """Before version 7 the second operand broadcasts from an axis on that an attribute tells."""

    @operator(name)
    def apply(call: Call, x: Tensor, y: Tensor) -> Tensor:
        axis = call.integer("axis", x.ndim - y.ndim)
        if call.integer("broadcast", 0) and y.ndim:
            after = x.ndim - (axis % max(x.ndim, 1)) - y.ndim
            y = namespace(y).reshape(y, (*y.shape, *[1] * after))
        return call.newer(name, 7, x, y)


for _name in OLD:
    _declare_old(_name)
