"""Damaged models, a few hundred; ``python -m tests.onnx.fuzz`` goes through many more of them."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx", reason="the extra onnx is not installed")

from tests.onnx import fuzz


def test_damaged_models_are_refused_or_programs() -> None:
    outcomes = fuzz.run(0, 300)
    assert outcomes.total() == 300
    assert outcomes["refused"] > 100
    assert outcomes["a program"] > 10
