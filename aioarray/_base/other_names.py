"""What other libraries call functions that are here too, or that are not: for the ``AttributeError`` of ``aio.x``."""

from __future__ import annotations

from typing import Final

_HERE: Final[dict[str, str]] = {
    # NumPy
    "array": "asarray",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "concatenate": "concat",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "absolute": "abs",
    "fabs": "abs",
    "power": "pow",
    "mod": "remainder",
    "true_divide": "divide",
    "invert": "bitwise_invert",
    "bitwise_not": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "conjugate": "conj",
    "amax": "max",
    "amin": "min",
    "product": "prod",
    "alltrue": "all",
    "sometrue": "any",
    "trapz": "trapezoid",
    "in1d": "isin",
    "row_stack": "vstack",
    "fix": "trunc",
    "around": "round",
    "round_": "round",
    "bool_": "bool",
    "float_": "float64",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "int_": "int64",
    "cfloat": "complex128",
    "NaN": "nan",
    "Inf": "inf",
    "ndarray": "Array",
    # PyTorch, TensorFlow
    "tensor": "asarray",
    "Tensor": "Array",
    "as_tensor": "asarray",
    "convert_to_tensor": "asarray",
    "from_numpy": "asarray",
    "cat": "concat",
    "mm": "matmul",
    "bmm": "matmul",
    "permute": "permute_dims",
    "unsqueeze": "expand_dims",
    "clamp": "clip",
    "topk": "top_k",
    "gather": "take_along_axis",
    "relu": "nn.relu",
    "gelu": "nn.gelu",
    "silu": "nn.silu",
    "sigmoid": "nn.sigmoid",
    "softmax": "nn.softmax",
    "log_softmax": "nn.log_softmax",
    "one_hot": "nn.one_hot",
    "rand": "random.uniform",
    "randn": "random.normal",
    # JAX
    "ShapeDtypeStruct": "ShapeDtype",
    "scan": "lax.scan",
    "cond": "lax.cond",
    "while_loop": "lax.while_loop",
    "fori_loop": "lax.fori_loop",
}

_NOT_HERE: Final[dict[str, str]] = {
    "copyto": "values of Arrays do not change; write x = aio.where(mask, source, x)",
    "put": "values of Arrays do not change; write x = x.at[indices].set(values)",
    "place": "values of Arrays do not change; write x = aio.where(mask, value, x)",
    "putmask": "values of Arrays do not change; write x = aio.where(mask, value, x)",
    "frombuffer": "write aio.asarray(numpy.frombuffer(...))",
    "fromiter": "write aio.asarray(list(iterable))",
    "no_grad": "there is no automatic differentiation, and nothing to switch off",
    "grad": "there is no automatic differentiation",
    "vmap": "there is no automatic batching; write the function for a leading axis, or aio.lax.map",
    "seed": "random numbers come from keys: aio.random.key(seed)",
}


def advice(name: str) -> str:
    """What to write instead of ``aio.name``, as the end of a message; empty if nothing is known."""
    if name in _HERE:
        return f": write aio.{_HERE[name]}"
    return f": {_NOT_HERE[name]}" if name in _NOT_HERE else ""
