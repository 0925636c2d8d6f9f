"""The library where the package ``onnx`` is not installed."""

import subprocess
import sys

WITHOUT_ONNX = """
import sys

class NoOnnx:
    def find_spec(self, name, path=None, target=None):
        if name == "onnx" or name.startswith("onnx."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoOnnx())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "onnx" else found(name, package)

from aioarray import *
import aioarray as aio

assert "onnx" not in aio.__all__ and "linalg" in aio.__all__
try:
    aio.onnx
except ModuleNotFoundError as error:
    print(error)
"""


def test_all_is_imported_without_it_and_the_namespace_names_the_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ONNX], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "aio.onnx needs onnx: pip install 'aioarray[onnx]'"
