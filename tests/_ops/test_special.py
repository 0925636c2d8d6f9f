"""Special functions, against values computed in 30 digits."""

from __future__ import annotations

import numpy as np
import pytest

from aioarray._ops import special
from tests._ops.evaluate import evaluate

VALUES: dict[str, list[tuple[float, float]]] = {
    "digamma": [
        (-1.5, 0.7031566406452432),
        (-0.5, 0.03648997397857652),
        (0.5, -1.9635100260214235),
        (1.5, 0.03648997397857652),
        (10, 2.251752589066721),
        (1000, 6.907255195648812),
    ],
    "erf": [
        (-2, -0.9953222650189527),
        (-0.5, -0.5204998778130465),
        (0.0009765625, 0.0011019324300718147),
        (0.3125, 0.341468633501595),
        (1, 0.8427007929497149),
        (3, 0.9999779095030014),
    ],
    "erfc": [
        (-2, 1.9953222650189528),
        (0.5, 0.4795001221869535),
        (1, 0.15729920705028513),
        (2.5, 0.0004069520174449589),
        (5, 1.537459794428035e-12),
        (9, 4.13703174651381e-37),
    ],
    "erfinv": [
        (-0.875, -1.0847870400692832),
        (-0.5, -0.4769362762044699),
        (0.125, 0.11123545184094996),
        (0.75, 0.8134198475976185),
        (0.9990234375, 2.331467773621948),
    ],
    "lgamma": [
        (-2.5, -0.056243716497674054),
        (-0.5, 1.2655121234846454),
        (0.5, 0.5723649429247001),
        (1.5, -0.12078223763524522),
        (3.25, 0.9358019311087253),
        (10, 12.801827480081469),
        (100, 359.1342053695754),
    ],
    "logistic": [
        (-30, 9.357622968839299e-14),
        (-1, 0.2689414213699951),
        (0.25, 0.5621765008857981),
        (5, 0.9933071490757152),
    ],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, dtype: str) -> None:
    x, wanted = np.array(VALUES[name]).T
    got = evaluate(getattr(special, name), x.astype(dtype))
    assert got.dtype == dtype
    np.testing.assert_allclose(got, wanted, rtol=100 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits(dtype: str) -> None:
    x = np.array([-np.inf, np.inf, 0, np.nan], dtype)
    np.testing.assert_array_equal(evaluate(special.erf, x), np.array([-1, 1, 0, np.nan], dtype))
    np.testing.assert_array_equal(evaluate(special.erfc, x), np.array([2, 0, 1, np.nan], dtype))
    np.testing.assert_array_equal(evaluate(special.logistic, x), np.array([0, 1, 0.5, np.nan], dtype))
    np.testing.assert_array_equal(evaluate(special.lgamma, x), np.array([np.inf, np.inf, np.inf, np.nan], dtype))
    ends = np.array([-1, 1, 0, 2], dtype)
    np.testing.assert_array_equal(evaluate(special.erfinv, ends), np.array([-np.inf, np.inf, 0, np.nan], dtype))


def test_logistic_of_complex_numbers() -> None:
    z = np.array([0, 1 + 2j, -3 - 1j, 2j], "complex128")
    np.testing.assert_allclose(evaluate(special.logistic, z), 1 / (1 + np.exp(-z)), rtol=1e-13)
