"""NumPy's everyday grids: numbers on a logarithmic scale, coordinates, and positions in flattened arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._array import Array, ArrayLike, as_array, call, fused
from .._base import dtypes
from .._dispatch.arguments import DeviceLike, DTypeLike, Shape, dtype_of, integer_of, shape_of
from .._ops import creation
from .arithmetic import pow, remainder
from .comparison import clip
from .creation import SMALL_BYTES, arange, asarray, linspace
from .data_types import astype
from .exponential import exp
from .manipulation import reshape, stack

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["geomspace", "indices", "logspace", "mgrid", "ogrid", "ravel_multi_index", "unravel_index"]

Order = Literal["C", "F"]


def logspace(
    start: complex,
    stop: complex,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """``base`` to the power of ``num`` evenly spaced numbers from ``start`` to ``stop``, as ``linspace`` makes them.

    >>> aio.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    wide = _wide(start, stop)
    exponents = linspace(start, stop, num, dtype=wide, device=device, endpoint=endpoint)
    target = dtype_of(dtype) or dtypes.default_for_rank(3 if wide in dtypes.COMPLEX else 2)
    if exponents.size * target.itemsize <= SMALL_BYTES:
        values = np.logspace(start, stop, integer_of("logspace", "num", num), endpoint, base)
        return asarray(values.astype(target), device=device)
    return _powers(asarray(float(base), dtype=dtypes.float64), exponents, dtype=target)


@fused
def _powers(base: ArrayLike, exponents: ArrayLike, /, *, dtype: dtypes.DType) -> Array:
    return astype(pow(astype(as_array("logspace", base), as_array("logspace", exponents).dtype), exponents), dtype)


def geomspace(
    start: complex,
    stop: complex,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """``num`` numbers from ``start`` to ``stop``, each the same multiple of the one before. ``ValueError`` for 0.

    >>> aio.geomspace(1, 1000, 4)
    Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
    if start == 0 or stop == 0:
        raise ValueError(f"geomspace: start={start}, stop={stop}; no multiples lead to or from 0")
    target = dtype_of(dtype) or dtypes.default_for_rank(3 if _wide(start, stop) in dtypes.COMPLEX else 2)
    count = integer_of("geomspace", "num", num)
    if count * target.itemsize <= SMALL_BYTES:
        return asarray(np.geomspace(_plain(start), _plain(stop), count, endpoint).astype(target), device=device)
    wide = _wide(start, stop)
    ratio = np.log(np.asarray(stop, wide) / np.asarray(start, wide)).item()
    logarithms = linspace(0.0, ratio, count, dtype=wide, device=device, endpoint=endpoint)
    ends = asarray(np.asarray([start, stop], wide), device=device)
    return _multiples(ends, logarithms, dtype=target, endpoint=bool(endpoint))


@fused
def _multiples(ends: ArrayLike, logarithms: ArrayLike, /, *, dtype: dtypes.DType, endpoint: bool) -> Array:
    bounds, exponents = as_array("geomspace", ends), as_array("geomspace", logarithms)
    values = bounds[0] * exp(exponents)
    values = values.at[0].set(bounds[0])
    return astype(values.at[-1].set(bounds[1]) if endpoint else values, dtype)


def _plain(x: Any) -> Any:
    # NumPy has no logarithm of an integer beyond 64 bits.
    return float(x) if isinstance(x, int) else x


def _wide(start: Any, stop: Any) -> dtypes.DType:
    is_complex = np.iscomplexobj(start) or np.iscomplexobj(stop)
    return dtypes.complex128 if is_complex else dtypes.float64


@overload
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False) -> Array: ...
@overload
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]
) -> tuple[Array, ...]: ...
def indices(
    dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False
) -> Array | tuple[Array, ...]:
    """The position along each axis of a grid of the lengths ``dimensions``: ``(len(dimensions), *dimensions)``.

    With ``sparse``, a tuple of arrays, each of length 1 but for its own axis. Of the default integral dtype if none is
    named.

    >>> aio.indices((2, 2))
    Array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """
    lengths = shape_of("indices", dimensions)
    target = dtype_of(dtype) or dtypes.default_for_rank(1)
    vectors = [arange(n, dtype=target) for n in lengths]
    if sparse:
        return _open_grid(vectors) if vectors else ()
    if not vectors:
        return asarray(np.zeros((0,), target))
    return _full_grid(vectors)


@fused(sequences=("vectors",))
def _full_grid(vectors: Sequence[ArrayLike], /) -> Array:
    return stack(call(creation.meshgrid, tuple(vectors), "ij"))


@fused(sequences=("vectors",))
def _open_grid(vectors: Sequence[ArrayLike], /) -> tuple[Array, ...]:
    count = len(vectors)
    return tuple(reshape(v, tuple(-1 if k == axis else 1 for k in range(count))) for axis, v in enumerate(vectors))


class Grid:
    """What ``mgrid`` and ``ogrid`` are: indexed with slices, it gives the coordinates of a grid.

    ``start:stop:step`` stands for ``arange``; with an imaginary step, ``start:stop:5j`` stands for five numbers that
    include ``stop``, as of ``linspace``. All vectors have the dtype of the widest. ``mgrid`` is filled out,
    ``ogrid`` is a tuple of arrays that broadcast.
    """

    __slots__ = ("_sparse",)

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    @overload
    def __getitem__(self, key: slice) -> Array: ...
    @overload
    def __getitem__(self, key: tuple[slice, ...]) -> Any: ...
    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        several = key if isinstance(key, tuple) else (key,)
        vectors = [self._vector(part) for part in several]
        whole = all(v.dtype in dtypes.INTEGRAL for v in vectors)
        dtype = dtypes.default_for_rank(1 if whole else 2)
        vectors = [astype(v, dtype) for v in vectors]
        if not isinstance(key, tuple):
            return vectors[0]
        return _open_grid(vectors) if self._sparse else _full_grid(vectors)

    def _vector(self, part: Any) -> Array:
        name = repr(self)
        if not isinstance(part, slice) or part.stop is None:
            raise TypeError(f"{name}: {part!r} is no slice with an end; it takes start:stop:step")
        start = 0 if part.start is None else part.start
        step = 1 if part.step is None else part.step
        if np.iscomplexobj(step):
            return linspace(start, part.stop, int(abs(step)))
        return arange(start, part.stop, step)

    def __repr__(self) -> str:
        return "aioarray.ogrid" if self._sparse else "aioarray.mgrid"


mgrid: Grid = Grid(False)
ogrid: Grid = Grid(True)


def unravel_index(x: ArrayLike, /, shape: Shape, order: Order = "C") -> tuple[Array, ...]:
    """Positions in the flattened array, as positions along each axis of ``shape``, in row-major or "F" order.

    Positions out of range are taken as the nearest in range: none raises, since values are not known when the function
    returns. ``TypeError`` for other dtypes than integers.

    >>> aio.unravel_index(aio.asarray([1, 5]), (2, 3))
    (Array([0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    lengths = shape_of("unravel_index", shape)
    if not lengths:
        raise ValueError("unravel_index: shape () has no axes; give at least one")
    _check_order("unravel_index", order)
    return _unraveled(x, lengths=lengths, order=order)


@fused
def _unraveled(x: ArrayLike, /, *, lengths: tuple[int, ...], order: str) -> tuple[Array, ...]:
    flat = as_array("unravel_index", x)
    _check_integers("unravel_index", flat)
    size = math.prod(lengths)
    if size == 0 and flat.size:
        raise ValueError(f"unravel_index: shape {lengths} has no elements to be at")
    flat = clip(astype(flat, dtypes.int64), 0, max(size - 1, 0))
    dtype = _index_dtype(max(lengths))
    result: list[Array] = []
    for n in lengths if order == "F" else reversed(lengths):
        result.append(astype(remainder(flat, max(n, 1)), dtype))
        flat = flat // max(n, 1)
    return tuple(result if order == "F" else reversed(result))


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    /,
    dims: Sequence[int],
    mode: Literal["raise", "wrap", "clip"] = "raise",
    order: Order = "C",
) -> Array:
    """Positions along each axis of ``dims``, as positions in the flattened array; the inverse of ``unravel_index``.

    Positions out of range are taken as the nearest in range, or with "wrap" start again; none raises, since values are
    not known when the function returns. ``TypeError`` for other dtypes than integers.

    >>> aio.ravel_multi_index((aio.asarray([0, 1]), aio.asarray([1, 2])), (2, 3))
    Array([1, 5], dtype=int32)
    """
    lengths = shape_of("ravel_multi_index", dims)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"ravel_multi_index: mode={mode!r} is not known; use 'wrap' or 'clip'")
    _check_order("ravel_multi_index", order)
    parts = tuple(multi_index)
    if len(parts) != len(lengths):
        raise ValueError(
            f"ravel_multi_index: {len(parts)} arrays of positions for {len(lengths)} axes; give one for each"
        )
    return _raveled(parts, lengths=lengths, wrap=mode == "wrap", order=order)


@fused(sequences=("parts",))
def _raveled(parts: Sequence[ArrayLike], /, *, lengths: tuple[int, ...], wrap: bool, order: str) -> Array:
    total: Array | int = 0
    factor = 1
    pairs = list(zip(parts, lengths, strict=True))
    for part, n in pairs if order == "F" else reversed(pairs):
        place = as_array("ravel_multi_index", part)
        _check_integers("ravel_multi_index", place)
        place = astype(place, dtypes.int64)
        place = remainder(place, max(n, 1)) if wrap else clip(place, 0, max(n - 1, 0))
        total = total + place * factor
        factor *= n
    return astype(total, _index_dtype(factor))


def _index_dtype(size: int) -> dtypes.DType:
    default = dtypes.default_for_rank(1)
    return default if size <= dtypes.iinfo(default).max else dtypes.int64


def _check_order(function: str, order: str) -> None:
    if order not in ("C", "F"):
        raise ValueError(f"{function}: order={order!r} is not known; use 'C' or 'F'")


def _check_integers(function: str, x: Array) -> None:
    if x.dtype not in dtypes.INTEGRAL:
        raise TypeError(f"{function}: positions of dtype {x.dtype.name}; it takes integers")
