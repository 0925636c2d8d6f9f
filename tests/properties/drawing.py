"""What the arguments of a function are drawn from: few shapes and dtypes, so that programs are compiled once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DTYPES = {"b": ("bool",), "i": ("int32", "int8"), "u": ("uint8",), "f": ("float32", "float64"), "c": ("complex64",)}
SHAPES = ((), (3,), (0,), (2, 3), (2, 0), (2, 1, 3))
BROADCAST = (((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0,), (1,)), ((), (2, 3)), ((2, 0), ()))

TAME = (0.0, -0.0, 1.0, -1.0, 0.5, -0.25, 2.0, -3.0, 0.75, 5.0)
# Zeros of both signs, infinities, NaN, numbers that are subnormal in float32 and in float64, large ones.
WILD = (*TAME, float("inf"), float("-inf"), float("nan"), 1e-40, -1e-40, 5e-310, 1e20, -1e20)
POSITIVE = (0.5, 1.0, 2.0, 3.5, 0.25)
WHOLE = (0, 1, -1, 2, 3, -3, 7, 100)


class Draw:
    """One example's source of arguments."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def one(self, *options: Any) -> Any:
        """One of ``options``."""
        return self._draw(st.sampled_from(options))

    def flag(self) -> bool:
        return self._draw(st.booleans())

    def shape(self, least: int = 0, *, filled: bool = False) -> tuple[int, ...]:
        """A shape of at least so many axes, with elements if ``filled``."""
        return self.one(*(s for s in SHAPES if len(s) >= least and not (filled and 0 in s)))

    def dtype(self, kinds: str) -> str:
        return self.one(*(dtype for kind in kinds for dtype in DTYPES[kind]))

    def array(
        self,
        kinds: str | None = None,
        shape: tuple[int, ...] | None = None,
        values: Sequence[float] | None = None,
        *,
        dtype: str | None = None,
    ) -> np.ndarray:
        """An array of one of ``kinds``; floating-point values are of all sorts unless ``values`` are given."""
        dtype = dtype or self.dtype(kinds or "biufc")
        shape = self.shape() if shape is None else shape
        size = int(np.prod(shape))
        kind = np.dtype(dtype).kind
        if kind in "iub":
            pool: Sequence[float] = WHOLE if values is None else [int(v) for v in values]
            limits = (0, 1) if kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            pool = [v for v in pool if limits[0] <= v <= limits[1]]
        else:
            # Complex functions of what is not finite have rules of their own, which test_special_values has.
            pool = values or (TAME if kind == "c" else WILD)
        parts = self._draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
        with np.errstate(all="ignore"):
            array = np.array(parts, np.float64).reshape(shape).astype(dtype)
        if kind == "c":
            array = (array + 1j * self.array(shape=shape, values=pool, dtype="float32")).astype(dtype)
        return array

    def tame(self, kinds: str = "iufc", shape: tuple[int, ...] | None = None) -> np.ndarray:
        """An array of moderate numbers."""
        return self.array(kinds, shape, TAME)

    def filled(self, kinds: str = "iufc", least: int = 0, values: Sequence[float] | None = None) -> np.ndarray:
        """An array with at least one element."""
        return self.array(kinds, self.shape(least, filled=True), values)

    def pair(self, kinds: str, values: Sequence[float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays of one dtype whose shapes broadcast."""
        first, second = self.one(*BROADCAST)
        dtype = self.dtype(kinds)
        return self.array(shape=first, values=values, dtype=dtype), self.array(shape=second, values=values, dtype=dtype)

    def several(self, kinds: str, least: int = 1) -> list[np.ndarray]:
        """Two arrays of one shape and dtype."""
        shape, dtype = self.shape(least), self.dtype(kinds)
        return [self.array(shape=shape, dtype=dtype) for _ in range(2)]

    def axis(self, x: np.ndarray) -> int:
        """An axis that ``x`` has, counted from either end."""
        return self.one(*range(-x.ndim, x.ndim))

    def axis_or_none(self, x: np.ndarray) -> int | None:
        return self.one(None, *range(-x.ndim, x.ndim))

    def axes(self, x: np.ndarray) -> int | tuple[int, ...] | None:
        """One axis, several, or None."""
        return self.one(None, *range(-x.ndim, x.ndim), tuple(range(x.ndim)))

    def matrix(self, kinds: str = "fc", n: int = 3) -> np.ndarray:
        """A stack of well-conditioned square matrices."""
        shape = (*self.one((), (2,), (0,)), n, n)
        x = self.array(kinds, shape, (0.0, 0.5, -0.5, 1.0))
        return (x + 4 * np.eye(n, dtype=x.dtype)).astype(x.dtype)

    def hermitian(self) -> np.ndarray:
        """A stack of positive definite matrices."""
        x = self.matrix()
        return (x + np.conj(x.swapaxes(-1, -2))).astype(x.dtype)

    def rising(self, kinds: str = "f", n: int = 4, dtype: str | None = None) -> np.ndarray:
        """An increasing vector."""
        dtype = dtype or self.dtype(kinds)
        steps = self.array(shape=(n,), values=POSITIVE if np.dtype(dtype).kind == "f" else (1, 2), dtype=dtype)
        return np.cumsum(steps).astype(dtype)
