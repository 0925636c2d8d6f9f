"""Functions written as files: read here, and by JAX where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import export
from aioarray.export import _container

if TYPE_CHECKING:
    from pathlib import Path

F32 = np.float32
WEIGHTS = np.random.default_rng(0).normal(size=(3, 4)).astype(F32)


def model(parameters: Any, x: aio.Array, *, scale: Any) -> Any:
    hidden = aio.tanh(x @ parameters["w"]) + aio.asarray(np.ones(4, F32))
    return {"hidden": hidden, "more": [aio.sum(x), None, (scale * 2,)], "qr": aio.linalg.qr(x)[1]}


SPECS = {"w": aio.ShapeDtype((3, 4), "float32")}, aio.ShapeDtype((3, 3), "float32")
X = np.random.default_rng(1).normal(size=(3, 3)).astype(F32)


@pytest.fixture(scope="module")
def written() -> bytes:
    return export.serialize(model, *SPECS, scale=aio.ShapeDtype((), "int32"))


def test_round_trip(written: bytes) -> None:
    function = export.load(written)
    assert function.name == "model"
    result = function({"w": aio.asarray(WEIGHTS)}, aio.asarray(X), scale=3)
    expected = model({"w": aio.asarray(WEIGHTS)}, aio.asarray(X), scale=aio.asarray(3))
    assert result.keys() == expected.keys()
    np.testing.assert_array_equal(result["hidden"], expected["hidden"])
    np.testing.assert_allclose(result["qr"], expected["qr"], rtol=1e-6)
    assert result["more"][2][0].item() == 6
    assert result["more"][1] is None


def test_captured_arrays_become_constants(tmp_path: Path) -> None:
    weights = aio.asarray(WEIGHTS)
    jitted = aio.jit(lambda x: (x @ weights + weights.sum(), weights) if hasattr(weights, "sum") else x)
    path = tmp_path / "captured.jax"
    export.save(path, jitted, aio.ShapeDtype((2, 3), "float32"))
    first, second = export.load(path)(aio.ones((2, 3)))
    np.testing.assert_allclose(first, np.ones((2, 3)) @ WEIGHTS + WEIGHTS.sum(), rtol=1e-5)
    np.testing.assert_array_equal(second, WEIGHTS)


def test_without_a_path_the_bytes_are_given(tmp_path: Path) -> None:
    def double(x: aio.Array) -> aio.Array:
        return x * 2

    spec = aio.ShapeDtype((3,), "float32")
    data = export.save(double, spec)
    assert export.load(data)(aio.ones(3)).tolist() == [2, 2, 2]
    export.save(tmp_path / "double.jax", double, spec)
    assert export.load(tmp_path / "double.jax")(aio.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match=r"it takes save\(path, function, \*specs\)"):
        export.save("double.jax")  # type: ignore[call-overload]


def test_loops_and_loaded_functions_inside() -> None:
    inner = export.load(export.serialize(lambda x: x * 2 + 1, aio.ShapeDtype((3,), "float32")))
    bound = aio.asarray(np.array(5, np.int32))

    def outer(x: aio.Array) -> aio.Array:
        return aio.lax.while_loop(
            lambda state: state[0] < bound, lambda state: (state[0] + 1, inner(state[1])), (0, x)
        )[1]

    function = export.load(export.serialize(outer, aio.ShapeDtype((3,), "float32")))
    assert function(aio.zeros(3)).tolist() == [31.0, 31.0, 31.0]


def test_values_may_stand_for_specs() -> None:
    data = export.serialize(lambda x, n: x * n, aio.ones((2, 2)), 3)
    function = export.load(data)
    assert [spec.shape for spec in function.in_specs[0]] == [(2, 2), ()]
    assert function(aio.ones((2, 2)), 4).tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_what_the_format_does_not_have() -> None:
    spec = aio.ShapeDtype((2,), "float32")
    with pytest.raises(TypeError, match="a dict with the key 1; the format knows strings only"):
        export.serialize(lambda x: x[1], {1: spec})
    with pytest.raises(TypeError, match="object is not an array of numbers"):
        export.serialize(lambda x: x, object())


def test_only_programs_without_calls_run_on_any_platform(written: bytes) -> None:
    assert not _container.decode(written, "file").any_platform
    plain = _container.decode(export.serialize(lambda x: x + 1, aio.ShapeDtype((2,), "float32")), "file")
    assert plain.any_platform or plain.platforms == ("cpu",)


IN_JAX = """
import json, sys
import numpy as np
from jax import export
exported = export.deserialize(bytearray(open(sys.argv[1], "rb").read()))
weights, x = (np.load(path) for path in sys.argv[2:4])
result = exported.call({"w": weights}, x, scale=np.int32(3))
print(json.dumps({
    "name": exported.fun_name, "tree": str(exported.in_tree), "keys": sorted(result),
    "hidden": np.asarray(result["hidden"]).tolist(), "scale": result["more"][2][0].item(),
    "none": result["more"][1] is None, "qr": np.asarray(result["qr"]).tolist(),
}))
"""


def test_jax_runs_them(written: bytes, tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="the package jax is not installed")
    pytest.importorskip("flatbuffers", reason="the package flatbuffers is not installed")
    (tmp_path / "model.jax").write_bytes(written)
    np.save(tmp_path / "w.npy", WEIGHTS)
    np.save(tmp_path / "x.npy", X)
    arguments = [str(tmp_path / name) for name in ("model.jax", "w.npy", "x.npy")]
    found = json.loads(
        subprocess.run([sys.executable, "-c", IN_JAX, *arguments], check=True, capture_output=True).stdout
    )
    expected = model({"w": aio.asarray(WEIGHTS)}, aio.asarray(X), scale=aio.asarray(3))
    assert found["name"] == "model"
    assert found["keys"] == ["hidden", "more", "qr"]
    assert (found["scale"], found["none"]) == (6, True)
    np.testing.assert_allclose(found["hidden"], expected["hidden"], rtol=1e-6)
    np.testing.assert_allclose(found["qr"], expected["qr"], rtol=1e-5, atol=1e-6)
