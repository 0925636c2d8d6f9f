"""The order in which einsum contracts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import aioarray as aio

SHAPES = ((2, 10), (10, 10), (10, 3))


@pytest.mark.parametrize("optimize", ["greedy", "optimal", True, False])
def test_paths_as_numpys(optimize: Any) -> None:
    arrays = [np.ones(shape) for shape in SHAPES]
    path, description = aio.einsum_path("ij,jk,kl->il", *arrays, optimize=optimize)
    assert path == np.einsum_path("ij,jk,kl->il", *arrays, optimize=optimize)[0]
    assert "Optimized scaling" in description


def test_a_path_of_ones_own_and_ellipses() -> None:
    a, b = aio.ones((5, 2, 3)), aio.ones((3, 4))
    assert aio.einsum_path("...ij,jk->...ik", a, b, optimize=["einsum_path", (0, 1)])[0] == ["einsum_path", (0, 1)]


def test_einsum_takes_the_cheap_order() -> None:
    """From the right it takes a thousandth of the products."""
    rng = np.random.default_rng(0)
    matrix, vector = rng.normal(size=(300, 300)), rng.normal(size=300)
    function = aio.jit(lambda m, v: aio.einsum("ij,jk,kl,l->i", m, m, m, v))
    arguments = aio.asarray(matrix), aio.asarray(vector)
    assert_allclose(np.asarray(function(*arguments)), matrix @ (matrix @ (matrix @ vector)), rtol=1e-9)
    assert "300x300xf64>) -> tensor<300x300" not in function.lower(*arguments).as_text()
