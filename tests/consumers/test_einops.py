"""einops' operations on Arrays: those of ``einops.array_api``, which take any namespace of the standard.

Its plain functions choose by class what they call. They take Arrays when a class like ``Backend`` here exists in the
program: einops looks for all classes derived from its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.consumers.agreement import check, compare

if TYPE_CHECKING:
    from collections.abc import Callable

plain = pytest.importorskip("einops", reason="einops is not installed; it comes with the extra 'consumers'")
einops = pytest.importorskip("einops.array_api")
backends = pytest.importorskip("einops._backends")

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


class Backend(backends.AbstractBackend):
    """What einops' plain functions need of Arrays besides their methods."""

    framework_name = "aioarray"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, aio.Array)

    def add_axis(self, x: aio.Array, new_position: int) -> aio.Array:
        return aio.expand_dims(x, new_position)

    def concat(self, tensors: list[aio.Array], axis: int) -> aio.Array:
        return aio.concat(tensors, axis)

    def einsum(self, pattern: str, *x: aio.Array) -> aio.Array:
        return aio.einsum(pattern, *x)

    def is_float_type(self, x: aio.Array) -> bool:
        return aio.isdtype(x.dtype, ("real floating", "complex floating"))

    def stack_on_zeroth_dimension(self, tensors: list[aio.Array]) -> aio.Array:
        return aio.stack(tensors)

    def tile(self, x: aio.Array, repeats: tuple[int, ...]) -> aio.Array:
        return aio.tile(x, repeats)


PLAIN: dict[str, Callable[[Any], Any]] = {
    "rearrange": lambda x: plain.rearrange(x, "a (b c) d -> (d a) b c", c=2),
    "rearrange a list": lambda x: plain.rearrange([x, x + 1], "n a b c -> a b (n c)"),
    "reduce mean": lambda x: plain.reduce(x, "a b c -> a c", "mean"),
    "reduce max": lambda x: plain.reduce(x, "a (b 2) c -> a b c", "max"),
    "repeat": lambda x: plain.repeat(x, "a b c -> a (r b) c", r=3),
    "pack": lambda x: plain.pack([x, x[:, 0]], "a * c")[0],
    "unpack": lambda x: plain.unpack(x, [(2,), (), (3,)], "a * c"),
    "einsum": lambda x: plain.einsum(x, x, "a b c, a d c -> b d"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_functions_with_a_backend(name: str) -> None:
    check(PLAIN[name], X)


def test_plain_functions_inside_jit() -> None:
    flattened = aio.jit(lambda x: plain.rearrange(x, "a b c -> (c a) b"))
    compare(flattened(aio.asarray(X)), plain.rearrange(X, "a b c -> (c a) b"))


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    check(OPERATIONS[name], X)


def test_to_numpy() -> None:
    compare(einops.asnumpy(aio.asarray(X)), X, kind=np.ndarray)


def test_inside_jit() -> None:
    flattened = aio.jit(lambda x: einops.reduce(x, "a b c -> (c a)", "sum"))
    compare(flattened(aio.asarray(X)), einops.reduce(X, "a b c -> (c a)", "sum"))
