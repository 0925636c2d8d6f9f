"""einsum against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aioarray._ops import einstein
from tests._ops.evaluate import evaluate
from tests._ops.nodes import node

CASES = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 3)),
    ("ij,jk,ki", (3, 4), (4, 5), (5, 3)),
    ("iij->ij", (3, 3, 2)),
    ("iij", (3, 3, 2)),
    ("iii", (3, 3, 3)),
    ("ii...->...i", (3, 3, 2)),
    ("...ij,jk->...ik", (7, 3, 4), (4, 5)),
    ("...ij,...jk", (7, 3, 4), (2, 1, 4, 5)),
    ("ij->ji", (3, 4)),
    ("ba", (3, 4)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ij,kl->ikjl", (3, 4), (4, 5)),
    ("ij,j->i", (3, 4), (4,)),
    ("bij,bij->bi", (7, 3, 4), (7, 3, 4)),
    ("ij,ij->ij", (3, 4), (1, 4)),
    ("i,j,k->kij", (3,), (4,), (5,)),
    ("ij,jk->", (3, 4), (4, 5)),
    (" i j , j k -> i k ", (3, 4), (4, 5)),
    (",ij", (), (3, 4)),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_as_numpy(case: tuple[str, *tuple[tuple[int, ...], ...]]) -> None:
    subscripts, *shapes = case
    rng = np.random.default_rng(0)
    operands = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    got = evaluate(einstein.einsum, *operands, static=(subscripts, None))
    assert_allclose(got, np.einsum(subscripts, *operands), rtol=1e-4, atol=1e-5)


def test_integers_and_booleans() -> None:
    x = np.arange(12, dtype=np.int8).reshape(3, 4)
    assert_array_equal(evaluate(einstein.einsum, x, static=("ij->j", None)), np.einsum("ij->j", x))
    b = x % 2 == 0
    assert evaluate(einstein.einsum, b, b, static=("ij,ij->i", None)).tolist() == [True, True, True]
    assert evaluate(einstein.einsum, b, static=("ij->j", None)).tolist() == [True, False, True, False]


def test_refuses() -> None:
    x = node((2, 3))
    for subscripts, message in [
        ("ij,jk", "2 terms for 1 operands"),
        ("ij-k", "they are letters"),
        ("ijk", "does not fit an operand of shape"),
        ("ij->ik", "each label of the operands once"),
        ("ij->ii", "each label of the operands once"),
        ("...j->j", "the result must have it too"),
        ("ii", "lengths 2 and 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            einstein.einsum(x, subscripts, None)
    with pytest.raises(ValueError, match="no operands"):
        einstein.einsum("", None)
