"""What a line of the tables is, and the kinds of lines that recur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.properties.drawing import TAME

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from tests.properties.drawing import Draw


@dataclass(frozen=True)
class Case:
    """``draw`` gives the arguments, a dict at the end being keywords."""

    draw: Callable[[Draw], tuple[Any, ...]]
    bound: float = 0
    theirs: Callable[..., Any] | None = None  # NumPy's function of the same name, unless another one is given
    ours: Callable[..., Any] | None = None
    wide: bool = False  # NumPy computes in more digits
    scaled: bool = False


def unary(kinds: str, bound: float = 0, **options: Any) -> Case:
    return Case(lambda d: (d.array(kinds),), bound, wide=bound > 0, **options)


def binary(kinds: str, bound: float = 0, **options: Any) -> Case:
    return Case(lambda d: d.pair(kinds), bound, wide=bound > 0, **options)


def reduction(kinds: str, bound: float = 0, *, filled: bool = False, **options: Any) -> Case:
    def draw(d: Draw) -> tuple[Any, ...]:
        x = (d.filled if filled else d.array)(kinds, values=TAME if bound else None)
        return x, {"axis": d.axes(x), "keepdims": d.flag()}

    return Case(draw, bound, scaled=bound > 0, **options)


def along(kinds: str, bound: float = 0, *, least: int = 1, filled: bool = False, **options: Any) -> Case:
    """Functions of an array along one axis."""

    def draw(d: Draw) -> tuple[Any, ...]:
        x = d.array(kinds, d.shape(least, filled=filled), TAME if bound else None)
        return x, {"axis": d.axis(x)}

    return Case(draw, bound, scaled=bound > 0, **options)


def keywords(d: Draw, x: Any, **options: Any) -> tuple[Any, ...]:
    """``x`` and options, which may be drawn by its shape."""
    return x, options


def vectors(d: Draw, kinds: str, *lengths: int) -> tuple[np.ndarray, ...]:
    """Two of one dtype, each of one of the ``lengths``."""
    dtype = d.dtype(kinds)
    return tuple(d.array(shape=(d.one(*lengths),), values=TAME, dtype=dtype) for _ in range(2))
