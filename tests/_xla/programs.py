"""What the tests of the gateway need: specs, small StableHLO programs, and a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aioarray import _xla

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]


class Spec:
    """The attributes that jaxlib asks of an abstract value."""

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.weak_type = False


def tensor(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def program(operation: str, arity: int, shape: tuple[int, ...], element: str = "f32") -> bytes:
    """A module with one operation on tensors of one type."""
    kind = tensor(shape, element)
    parameters = ", ".join(f"%arg{index}: {kind}" for index in range(arity))
    arguments = ", ".join(f"%arg{index}" for index in range(arity))
    kinds = ", ".join([kind] * arity)
    return (
        f"module @test {{ func.func public @main({parameters}) -> {kind} {{"
        f' %0 = "{operation}"({arguments}) : ({kinds}) -> {kind} return %0 : {kind} }} }}'
    ).encode()


def run(executable: _xla.Executable, arguments: Sequence[Any], *specs: Spec) -> list[Any]:
    handlers = _xla.result_handlers(specs, executable.device)
    results: list[Any] = executable.execute(arguments).consume_with_handlers(handlers, False)
    return results


def put(value: Any, dtype: Any = np.float32) -> tuple[Any, Spec]:
    """A Buffer and its spec."""
    array = np.asarray(value, dtype)
    spec = Spec(array.shape, dtype)
    return _xla.put(array, spec, _xla.default_device()), spec


def run_python(code: str, *, path: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter, with `path` before everything else; fails the test if it fails."""
    paths = [str(ROOT)] if path is None else [str(path), str(ROOT)]
    inherited = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, "PYTHONPATH": os.pathsep.join(paths), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, f"exit {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result
