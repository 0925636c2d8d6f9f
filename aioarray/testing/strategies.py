"""Hypothesis strategies for Arrays; needs the package ``hypothesis``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from .._base import dtypes as base_dtypes
from .._functions.creation import asarray

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from .._array import Array
    from .._base.dtypes import DType
    from .._dispatch.arguments import DTypeLike

__all__ = ["arrays", "dtypes", "shapes"]


def dtypes(
    *, boolean: bool = True, integral: bool = True, real: bool = True, complex: bool = True
) -> SearchStrategy[DType]:
    """The dtypes of the array API standard, of the kinds that are asked for; simplest first.

    >>> from aioarray.testing import strategies
    >>> strategies.dtypes(boolean=False, complex=False) is not None
    True
    """
    chosen = [
        *([base_dtypes.bool_] if boolean else []),
        *(np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64) if integral),
        *([base_dtypes.float32, base_dtypes.float64] if real else []),
        *([base_dtypes.complex64, base_dtypes.complex128] if complex else []),
    ]
    if not chosen:
        raise ValueError("dtypes: at least one kind must be allowed")
    return st.sampled_from(chosen)


def shapes(
    *, min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 6
) -> SearchStrategy[tuple[int, ...]]:
    """Shapes with so many axes of such lengths.

    >>> from aioarray.testing import strategies
    >>> strategies.shapes(min_dims=2, max_dims=2) is not None
    True
    """
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side)


def arrays(
    dtypes: DTypeLike | Sequence[DTypeLike] | SearchStrategy[Any] | None = None,
    shapes: int | Sequence[int] | SearchStrategy[Any] | None = None,
    *,
    elements: SearchStrategy[Any] | None = None,
    min_value: float | None = None,
    max_value: float | None = None,
    allow_nan: bool | None = None,
    allow_infinity: bool | None = None,
    unique: bool = False,
) -> SearchStrategy[Array]:
    """Arrays of these ``dtypes`` and ``shapes``, of any elements unless told otherwise.

    ``dtypes`` is a dtype, several to choose from, or a strategy; by default those of the standard. ``shapes`` is a
    shape or a strategy; by default up to 3 axes of up to 6. ``elements`` is a strategy for the elements, or the bounds
    and ``allow_*`` say which. The arrays are made of host values, so reading them is never a synchronous read. Raises
    ``TypeError`` for dtypes that no device has.

    >>> from hypothesis import given
    >>> from aioarray.testing import strategies
    >>> @given(strategies.arrays("float32", (2, 3), min_value=0, max_value=1))
    ... def test_sum(x):
    ...     assert 0 <= float(aio.sum(x)) <= 6.001
    >>> test_sum()
    """
    bounds = {
        "min_value": min_value,
        "max_value": max_value,
        "allow_nan": allow_nan,
        "allow_infinity": allow_infinity,
    }
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    if elements is not None and given:
        raise TypeError(f"arrays: elements and {', '.join(given)} both say what the elements are; give one of them")
    of_dtype = _dtype_strategy(dtypes)
    of_shape = _shape_strategy(shapes)

    @st.composite
    def drawn(draw: st.DrawFn) -> Array:
        dtype = draw(of_dtype)
        host = _host_dtype(dtype)
        values = draw(
            hnp.arrays(
                host,
                draw(of_shape),
                elements=_elements(dtype, given) if elements is None else elements,
                unique=unique,
            )
        )
        return asarray(values.astype(dtype))

    return drawn()


def _dtype_strategy(wanted: Any) -> SearchStrategy[DType]:
    if wanted is None:
        return dtypes()
    if isinstance(wanted, st.SearchStrategy):
        return wanted.map(base_dtypes.as_dtype)
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return st.sampled_from([base_dtypes.as_dtype(dtype) for dtype in wanted])
    return st.just(base_dtypes.as_dtype(wanted))


def _shape_strategy(wanted: Any) -> SearchStrategy[tuple[int, ...]]:
    if wanted is None:
        return shapes()
    if isinstance(wanted, st.SearchStrategy):
        return wanted
    return st.just((wanted,) if isinstance(wanted, int) else tuple(wanted))


def _host_dtype(dtype: DType) -> DType:
    """One that hypothesis can draw from, which holds every value of ``dtype``."""
    if dtype in base_dtypes.REAL_FLOATING and dtype.itemsize < 4 and dtype != base_dtypes.float16:
        return base_dtypes.float32
    if dtype in (base_dtypes.int4, base_dtypes.uint4):
        return base_dtypes.int8
    return dtype


def _elements(dtype: DType, given: dict[str, Any]) -> SearchStrategy[Any]:
    host = _host_dtype(dtype)
    if dtype in base_dtypes.INTEGRAL:
        limits = base_dtypes.iinfo(dtype)
        low, high = (given.get(f"{bound}_value", int(getattr(limits, bound))) for bound in ("min", "max"))
        return st.integers(math.ceil(low), math.floor(high))
    if dtype not in base_dtypes.REAL_FLOATING:
        return hnp.from_dtype(dtype, **given)
    if dtype.itemsize == 1:
        return st.sampled_from(_all_values(dtype, given))
    inside = dict(given)
    # Bounds that the dtype cannot represent are moved to the next number inside.
    if "min_value" in given:
        inside["min_value"] = _next_inside(given["min_value"], host, math.inf)
    if "max_value" in given:
        inside["max_value"] = _next_inside(given["max_value"], host, -math.inf)
    if host == dtype:
        return hnp.from_dtype(dtype, **inside)
    # Rounded to the dtype, so that what is drawn is what the array has, also for `unique`. The largest numbers of the
    # wider dtype become infinite.
    rounded = st.floats(width=32, **inside).map(lambda x: float(np.float32(x).astype(dtype).astype(np.float32)))
    low, high = given.get("min_value", -math.inf), given.get("max_value", math.inf)
    infinite = given.get("allow_infinity", not {"min_value", "max_value"} & given.keys())
    return rounded.filter(lambda x: math.isnan(x) or (low <= x <= high and (infinite or math.isfinite(x))))


def _all_values(dtype: DType, given: dict[str, Any]) -> list[float]:
    """The numbers of a dtype of one byte that are allowed, simplest first."""
    bounded = bool({"min_value", "max_value"} & given.keys())
    low, high = given.get("min_value", -math.inf), given.get("max_value", math.inf)
    numbers = {float(x) for x in np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)}
    finite = {x for x in numbers if math.isfinite(x) and low <= x <= high}
    if not finite:
        raise ValueError(f"arrays: {dtype.name} has no number from {low} to {high}")
    others = {x for x in numbers if math.isinf(x)} if given.get("allow_infinity", not bounded) else set()
    nan = [math.nan] if given.get("allow_nan", not bounded) else []
    return [*sorted(finite | others, key=lambda x: (abs(x), x < 0)), *nan]


def _next_inside(bound: float, dtype: DType, inwards: float) -> float:
    nearest = dtype.type(bound)
    # As Python floats: NumPy would round the bound first.
    if (float(nearest) > bound) if inwards < 0 else (float(nearest) < bound):
        nearest = np.nextafter(nearest, dtype.type(inwards))
    return float(nearest)
