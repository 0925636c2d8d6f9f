"""Writes the files of this folder: functions exported by JAX, arguments for them, and the results that JAX gives.

Not a part of the tests; it needs ``jax`` and ``flatbuffers``::

    python tests/export/data/make.py

For each name, ``name.jax`` is what ``jax.export`` serialised, and ``name.safetensors`` holds the arguments as "in0",
"in1", … and the results as "out0", …, leaf by leaf. Some names have several sets of them, for other lengths.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

FOLDER = Path(__file__).parent
RANDOM = np.random.default_rng(0)
F32 = np.float32


def numbers(*shape: int, dtype: Any = F32) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(dtype)


def write(name: str, function: Any, *sets: Any, specs: Any = None, **options: Any) -> None:
    """Export ``function`` for ``specs``, or the first of ``sets`` of arguments; and its results for each."""
    jitted = jax.jit(function)
    exported = export.export(jitted, **options)(*(specs or sets[0]))
    (FOLDER / f"{name}.jax").write_bytes(bytes(exported.serialize()))
    tensors = {}
    for number, arguments in enumerate(sets):
        results = jitted(*arguments)
        for kind, tree in (("in", arguments), ("out", results)):
            for i, leaf in enumerate(jax.tree.leaves(tree)):
                tensors[f"set{number}.{kind}{i}"] = np.asarray(leaf)
    header: dict[str, Any] = {"__metadata__": {"jax": jax.__version__, "sets": str(len(sets))}}
    names = {"float32": "F32", "float64": "F64", "int32": "I32", "bool": "BOOL", "complex64": "C64", "uint8": "U8"}
    position = 0
    for key, value in tensors.items():
        offsets = [position, position + value.nbytes]
        header[key] = {"dtype": names[value.dtype.name], "shape": list(value.shape), "data_offsets": offsets}
        position += value.nbytes
    text = json.dumps(header).encode()
    content = len(text).to_bytes(8, "little") + text + b"".join(value.tobytes() for value in tensors.values())
    (FOLDER / f"{name}.safetensors").write_bytes(content)


def mlp(weights: Any, x: Any) -> Any:
    for layer in weights:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x


def cnn(kernel: Any, x: Any) -> Any:
    y = lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def nested(state: Any, pair: Any) -> Any:
    x, (y, nothing) = pair
    assert nothing is None
    return {"sum": state["a"]["x"] + x, "rest": [state["b"] * y, None, (state["a"]["flag"],)]}


def decompositions(x: Any) -> Any:
    q, r = jnp.linalg.qr(x)
    spectrum = jnp.fft.fft(x[:, 0])
    return (
        q,
        r,
        jnp.fft.irfft(jnp.fft.rfft(x, axis=0), axis=0),
        spectrum,
        jnp.linalg.cholesky(x.T @ x + jnp.eye(x.shape[1])),
    )


def recurrence(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = jnp.tanh(carry * 0.5 + row)
        return carry, carry.sum()

    return lax.scan(step, jnp.zeros(x.shape[1]), x)


CONSTANT = numbers(64, 64)


def main() -> None:
    layers = [{"w": numbers(8, 16), "b": numbers(16)}, {"w": numbers(16, 4), "b": numbers(4)}]
    write("mlp", mlp, (layers, numbers(5, 8)))
    write("convolution", cnn, (numbers(4, 3, 3, 3), numbers(2, 3, 16, 16)))
    batch, length = export.symbolic_shape("batch, length")
    symbolic = jax.ShapeDtypeStruct((batch, 8), F32)
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), layers)
    write("symbolic", mlp, (layers, numbers(3, 8)), (layers, numbers(1, 8)), specs=(shapes, symbolic))
    write(
        "two_dimensions",
        lambda x, y: (jnp.concatenate([x, x], axis=1) @ y, jnp.reshape(x, (-1,)), x.mean(axis=0)),
        (numbers(3, 4), numbers(8, 2)),
        (numbers(1, 6), numbers(12, 2)),
        specs=(jax.ShapeDtypeStruct((batch, length), F32), jax.ShapeDtypeStruct((2 * length, 2), F32)),
    )
    write(
        "nested",
        nested,
        ({"b": numbers(2), "a": {"x": numbers(3), "flag": np.array([True, False])}}, (numbers(3), (numbers(2), None))),
    )
    write("lapack_and_fft", decompositions, (numbers(6, 4),))
    write("scan", recurrence, (numbers(7, 3),))
    write(
        "platforms",
        lambda x: lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos),
        (numbers(3),),
        platforms=["cuda", "cpu"],
    )
    write("unused", lambda x, y, z: {"x": x + 1, "z": z * 2}, (numbers(2), numbers(3), np.arange(4, dtype=np.int32)))
    write("constant", lambda x: jnp.argsort(x @ CONSTANT)[:, :5].astype(jnp.int32), (numbers(3, 64),))
    write("top_k", lambda x: (*lax.top_k(x, 3), jax.scipy.special.erf(x), jnp.arctan(jnp.tan(x))), (numbers(2, 9),))
    jax.config.update("jax_enable_x64", True)
    write("double", lambda x, n: (jnp.cumsum(x) / 3, x[::-1] * n), (numbers(5, dtype=np.float64), np.float64(1e-300)))


if __name__ == "__main__":
    main()
