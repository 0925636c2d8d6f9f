"""Parts and angles."""

from __future__ import annotations

import numpy as np
import pytest

from aioarray._ops import complex as complex_parts
from tests._ops.evaluate import evaluate
from tests._ops.numbers import assert_same, special


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_angles(dtype: str) -> None:
    z = special(dtype)
    np.testing.assert_allclose(evaluate(complex_parts.angle, z, static=(False,)), np.angle(z), rtol=1e-6)
    np.testing.assert_allclose(evaluate(complex_parts.angle, z, static=(True,)), np.angle(z, deg=True), rtol=1e-6)


def test_angles_of_real_numbers() -> None:
    x = np.array([-2, -0.0, 0, 3], "float64")
    assert_same(evaluate(complex_parts.angle, x, static=(False,)), np.angle(x))
    assert evaluate(complex_parts.angle, np.array([-1, 2], "int32"), static=(True,)).tolist() == [180, 0]


def test_parts_of_real_numbers() -> None:
    x = np.array([1, -2], "int16")
    assert_same(evaluate(complex_parts.real, x), x)
    assert_same(evaluate(complex_parts.conj, x), x)
    assert_same(evaluate(complex_parts.imag, x), np.zeros(2, "int16"))
