"""Running a consumer's function on Arrays and on the NumPy arrays they were made of, and comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.testing import assert_allclose

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable


def check(
    function: Callable[..., Any], *arrays: np.ndarray, rtol: float = 1e-9, atol: float = 1e-12, kind: type = aio.Array
) -> None:
    """``function`` gives for Arrays what it gives for NumPy arrays; results are instances of ``kind``, or numbers."""
    got = function(*map(aio.asarray, arrays))
    expected = function(*[x.copy() for x in arrays])
    compare(got, expected, rtol, atol, kind)


def compare(got: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-12, kind: type = aio.Array) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            compare(one, other, rtol, atol, kind)
        return
    if isinstance(expected, np.ndarray):
        assert isinstance(got, kind), f"{type(got)}: not of the namespace of the arguments"
        assert got.dtype == expected.dtype
    assert np.shape(got) == np.shape(expected)
    assert_allclose(np.asarray(got), np.asarray(expected), rtol=rtol, atol=atol)
