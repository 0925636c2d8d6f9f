"""take and take_along_axis; and what indexing with brackets compiles."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)
X = aio.asarray(HOST)


def test_take() -> None:
    assert_array_equal(np.asarray(aio.take(X, aio.asarray([2, 0]), axis=0)), HOST[[2, 0]])
    assert_array_equal(np.asarray(aio.take(X, [-1], axis=1)), HOST[:, [-1]])
    assert aio.take(aio.arange(3), 1).item() == 1
    assert_array_equal(np.asarray(aio.take(X, aio.asarray([-1, 1]))), HOST.take([-1, 1]))


def test_take_along_axis() -> None:
    order = aio.argsort(-X, axis=0)
    assert_array_equal(np.asarray(aio.take_along_axis(X, order, axis=0)), HOST[::-1])


def test_positions_share_a_program() -> None:
    assert X[0, 1].item() == 1
    before = aio.stats()["compiles"]
    assert [X[i, j].item() for i, j in ((1, 1), (-1, -1), (2, 0))] == [5, 11, 8]
    assert aio.stats()["compiles"] == before


def test_indices_of_every_kind() -> None:
    mask = HOST % 2 == 0
    for index in (
        1,
        -1,
        np.int64(2),
        slice(None, None, -1),
        (..., 0),
        None,
        [2, 0],
        ([0, 1], [2, 3]),
        mask,
        (slice(1), [1, 1]),
    ):
        place = index if not isinstance(index, list) else np.array(index)
        assert_array_equal(np.asarray(X[index]), HOST[place])


def test_masks_choose_without_being_read() -> None:
    @aio.jit
    def rectified(x: aio.Array) -> aio.Array:
        x[x < 0] = 0
        return x.at[x > 2].add(aio.asarray([10.0]))

    assert rectified(aio.asarray([-1.0, 1.0, 3.0])).tolist() == [0, 1, 13]
    y = X + 0
    y[aio.asarray([True, False, True])] = aio.asarray([1.0, 2.0, 3.0, 4.0])
    assert y.tolist() == [[1, 2, 3, 4], [4, 5, 6, 7], [1, 2, 3, 4]]


def test_masks_with_a_value_for_each_place() -> None:
    y = X + 0
    y[HOST > 9] = aio.asarray([-1.0, -2.0])
    assert y[2].tolist() == [8, 9, -1, -2]
    with pytest.raises(ValueError, match="does not stretch"):
        y[HOST > 9] = aio.asarray([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("shape", "mask"), [((1,), (0,)), ((2,), (0,)), ((2, 3), (0, 3)), ((2, 3), (2, 0)), ((2, 3), (0,)), ((0, 3), (0,))]
)
def test_a_mask_without_elements_chooses_nothing(shape: tuple[int, ...], mask: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.float32)
    key = np.zeros(mask, bool)
    assert aio.asarray(x)[aio.asarray(key)].shape == x[key].shape


@pytest.mark.parametrize(("shape", "mask"), [((2, 3), (1, 3)), ((2,), (3,)), ((2,), (2, 2)), ((), (1,))])
def test_a_mask_of_another_shape_is_refused(shape: tuple[int, ...], mask: tuple[int, ...]) -> None:
    with pytest.raises(IndexError, match="getitem"):
        aio.zeros(shape)[aio.ones(mask, dtype=bool)]
