"""Compositions that run as one program: what is remembered of their arguments is of those arguments alone."""

from __future__ import annotations

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import compositions, fused


@fused
def shown(x: aio.Array, y: aio.Array, /, *, factor: object = 1, offset: object = None) -> aio.Array:
    """``factor`` and ``offset`` as the body sees them: equal values may differ in what they do."""
    kinds = [type(None), int, bool, float, str]
    return x * 0 + y * 0 + 10 * kinds.index(type(factor)) + kinds.index(type(offset))


@pytest.fixture
def x() -> aio.Array:
    return aio.asarray(np.zeros(2, np.float32))


def test_equal_arguments_of_other_types_are_others(x: aio.Array) -> None:
    for _ in range(3):
        for factor, first in [(1, 10), (True, 20), (1.0, 30), ("1", 40), (None, 0)]:
            for offset, second in [(None, 0), (1, 1), (True, 2), (1.0, 3), ("", 4)]:
                assert shown(x, x, factor=factor, offset=offset).tolist() == [first + second] * 2
        assert shown(x, x).tolist() == shown(x, x, factor=1).tolist() == [10, 10]


def test_the_order_of_keywords_does_not_matter(x: aio.Array) -> None:
    for _ in range(2):
        assert shown(x, x, factor=True, offset=1).tolist() == shown(x, x, offset=1, factor=True).tolist() == [21, 21]


@fused(arrays=("weights",))
def weighted(x: aio.Array, /, axis: int = 0, weights: aio.Array | None = None) -> aio.Array:
    return aio.sum(x if weights is None else x * weights, axis=axis)


def test_an_array_in_place_of_a_static_argument_is_refused_each_time() -> None:
    x = aio.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert weighted(x, 1).tolist() == [3.0, 12.0]
    assert weighted(x, 1, x).tolist() == [5.0, 50.0]
    for _ in range(2):
        with pytest.raises(TypeError):
            weighted(x, x)
        with pytest.raises(TypeError, match="nonsense"):
            weighted(x, nonsense=1)
    assert weighted(x, weights=x).tolist() == [9.0, 17.0, 29.0]


def test_few_combinations_are_remembered_and_any_number_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compositions, "_SEEN", 2)

    @fused
    def times(x: aio.Array, /, *, factor: int = 1) -> aio.Array:
        return x * factor

    x = aio.asarray(np.arange(3, dtype=np.float32))
    for _ in range(2):
        for factor in range(5):
            assert times(x, factor=factor).tolist() == [0.0, factor, 2.0 * factor]
