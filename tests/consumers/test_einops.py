"""einops' operations on Arrays: those of ``einops.array_api``, which take any namespace of the standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.consumers.agreement import check, compare

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("einops", reason="einops is not installed; it comes with the extra 'consumers'")
einops = pytest.importorskip("einops.array_api")

X = np.random.default_rng(0).normal(size=(2, 6, 4))

OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "rearrange": lambda x: einops.rearrange(x, "a (b c) d -> (d a) b c", c=2),
    "rearrange a list": lambda x: einops.rearrange([x, x + 1], "n a b c -> a b (n c)"),
    "reduce mean": lambda x: einops.reduce(x, "a b c -> a c", "mean"),
    "reduce max": lambda x: einops.reduce(x, "a (b 2) c -> a b c", "max"),
    "reduce prod": lambda x: einops.reduce(x, "a b c -> ", "prod"),
    "repeat": lambda x: einops.repeat(x, "a b c -> a (r b) c", r=3),
    "pack": lambda x: einops.pack([x, x[:, 0]], "a * c")[0],
    "unpack": lambda x: einops.unpack(x, [(2,), (), (3,)], "a * c"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    check(OPERATIONS[name], X)


def test_to_numpy() -> None:
    compare(einops.asnumpy(aio.asarray(X)), X, kind=np.ndarray)


def test_inside_jit() -> None:
    flattened = aio.jit(lambda x: einops.reduce(x, "a b c -> (c a)", "sum"))
    compare(flattened(aio.asarray(X)), einops.reduce(X, "a b c -> (c a)", "sum"))
