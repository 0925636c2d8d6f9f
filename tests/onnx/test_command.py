"""``python -m aioarray.onnx``."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.onnx.models import parsed

pytest.importorskip("onnx", reason="the extra onnx is not installed")

from aioarray.onnx.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

needs_onnxruntime = pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime, which values are compared with, is missing"
)

MODEL = """f (float[batch, 3] x, int64[batch] k) => (float[batch, 3] y) <float[3] w = {1, 2, 3}> {
    s = Mul(x, w)
    axes = Constant<value_ints = [1]>()
    r = Unsqueeze(k, axes)
    c = Cast<to = 1>(r)
    y = Add(s, c)
}"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "model.onnx"
    file.write_bytes(parsed(MODEL).SerializeToString())
    return file


def test_inspect(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    for line in ("opsets: ai.onnx 21", "input: x: float[batch, 3]", "input: k: int64[batch]", "     1 Unsqueeze"):
        assert line in text
    assert "constants: 1 with 3 elements" in text


def test_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(path)]) == 0
    assert "can be run; its dimensions are batch" in capsys.readouterr().out
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["check", str(path)]) == 1
    assert "was cut off" in capsys.readouterr().err
    assert main(["check", str(path.with_name("none"))]) == 1


@needs_onnxruntime
def test_compare(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(path), "--size", "batch=4", "--all"]) == 0
    text = capsys.readouterr().out
    assert "y (Add): y: 0 absolute" in text
    assert "the greatest difference is 0 " in text
    np.savez(path.with_name("inputs.npz"), x=np.ones((2, 3), np.float32), k=np.arange(2))
    assert main(["compare", str(path), "--inputs", str(path.with_name("inputs.npz"))]) == 0


@needs_onnxruntime
def test_compare_tells_the_first_that_differs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Rounding is the only difference, and no tolerance is below it.
    path.write_bytes(
        parsed("""f (float[n] x) => (float[n] y) {
        a = Neg(x)
        b = Exp(a)
        y = Tan(b)
    }""").SerializeToString()
    )
    assert main(["compare", str(path), "--size", "n=1000", "--tolerance", "0"]) == 1
    assert "the first that differs: b (Exp): b: " in capsys.readouterr().out
