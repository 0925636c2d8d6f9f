"""Creation functions of the array API standard: arrays from host values and from rules."""

from __future__ import annotations

import math
import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from .. import _xla
from .._array import Array, ArrayLike, call, from_host
from .._base import config, dtypes
from .._dispatch.arguments import DeviceLike, DTypeLike, Shape, device_of, dtype_of, integer_of, shape_of
from .._dispatch.exchange import dlpack_operand, host_value
from .._ops import creation, data_types, manipulation
from ._ranges import exact_range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.dtypes import DType, Scalar
    from .._graph import Definition, Node

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

# Up to this size a value is made with NumPy and put on the device: exact, and nothing to compile.
SMALL_BYTES = 64 * 1024


class SupportsDLPack(Protocol):
    """An array of any library that exports DLPack."""

    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...


def _fresh(value: np.ndarray, device: DeviceLike | None) -> Array:
    """A host array that nobody else has, as an Array; shares its memory if it can."""
    return from_host(value, device_of(device), copy=not _xla.can_alias(value))


def _small(shape: tuple[int, ...], dtype: DType) -> bool:
    return math.prod(shape) * dtype.itemsize <= SMALL_BYTES


def _real(dtype: DTypeLike | None) -> DType:
    return dtype_of(dtype) or config.current().real


# Host values


def asarray(
    obj: ArrayLike | SupportsDLPack,
    /,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    copy: bool | None = None,
) -> Array:
    """``obj`` as an Array: an Array, a NumPy array, a number, nested sequences of numbers or of Arrays.

    NumPy arrays keep their dtype; Python numbers get the default one of their kind. Host values are copied before the
    function returns. ``copy=False`` shares a NumPy array's memory, which must not change as long as the Array is used;
    ``ValueError`` where that is not possible (C-contiguous, of this dtype, aligned to 64 bytes). An Array itself is
    returned, if it has the dtype and is on the device; ``copy=True`` gives another one. Raises ``TypeError`` for what
    is no array of numbers, ``OverflowError`` for integers that the dtype does not hold.

    >>> aio.asarray([[1, 2], [3, 4]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    >>> aio.asarray([1, 2.5], dtype="float64")
    Array([1. , 2.5], dtype=float64)
    """
    target, place = dtype_of(dtype), device_of(device)
    if isinstance(obj, Array):
        return _as_array(obj, target, place, copy)
    if isinstance(obj, (list, tuple)) and _holds_arrays(obj):
        if copy is False:
            raise ValueError("asarray: a sequence of Arrays is stacked into a new one, but copy=False; use copy=None")
        return asarray(_stacked(obj), dtype=target, device=place)
    value = host_value("asarray", obj, target)
    if target is not None and value.dtype != target and _is_complex_to_real(value.dtype, target):
        raise TypeError(f"asarray: {value.dtype.name} does not become {target.name}; take the real part first")
    if copy is False:
        if not isinstance(obj, np.ndarray) or (target is not None and target != obj.dtype):
            raise ValueError(
                f"asarray: a {type(obj).__name__} cannot be shared as {target}, but copy=False; use copy=None"
            )
        if not _xla.can_alias(obj):
            raise ValueError(
                "asarray: this NumPy array cannot be shared, but copy=False; sharing takes a C-contiguous array "
                "aligned to 64 bytes. Use copy=None"
            )
        return from_host(obj, place, copy=False)
    if target is None or value.dtype == target:
        return from_host(value, place)
    return _fresh(value.astype(target), place)


def _as_array(x: Array, dtype: DType | None, device: _xla.Device | None, copy: bool | None) -> Array:
    moves = device is not None and device != x.device
    casts = dtype is not None and dtype != x.dtype
    if copy is False and (moves or casts):
        raise ValueError(
            f"asarray: {x.dtype.name} on {x.device} to {(dtype or x.dtype).name} on {device or x.device} takes a copy, "
            "and copy=False; use copy=None"
        )
    if casts:
        x = call(data_types.astype, (x,), dtype)
    if moves and device is not None:
        return x.to_device(device)
    # Values never change in place, so two Arrays may have one buffer.
    return x.__copy__() if copy and not casts else x


def _holds_arrays(sequence: Sequence[Any]) -> bool:
    return any(isinstance(x, Array) or (isinstance(x, (list, tuple)) and _holds_arrays(x)) for x in sequence)


def _stacked(sequence: Sequence[Any]) -> Array:
    parts = tuple(_stacked(x) if isinstance(x, (list, tuple)) else x for x in sequence)
    return call(manipulation.stack, parts, 0)


def _is_complex_to_real(source: np.dtype, target: DType) -> bool:
    return source.kind == "c" and target not in dtypes.COMPLEX | dtypes.BOOLEAN


def from_dlpack(x: SupportsDLPack, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> Array:
    """An Array of what another library exports by DLPack; shares the memory of what says that it is read-only.

    What may be written into is copied, unless ``copy=False``: then it is shared, and must not change as long as the
    Array is used. ``copy=True`` always copies. Raises ``BufferError`` for what cannot be exchanged or shared,
    ``AttributeError`` for objects without ``__dlpack__``.

    >>> import numpy as np
    >>> aio.from_dlpack(np.arange(3.0))
    Array([0., 1., 2.], dtype=float64)
    """
    place = device_of(device)
    if isinstance(x, Array):
        return _as_array(x, None, place, copy)
    return Array(*dlpack_operand(x, place, copy), True)


# Constants


def zeros(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """Zeros; of the default real dtype if none is named.

    >>> aio.zeros((2, 3))
    Array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return _constant("zeros", np.zeros, creation.zeros, shape, _real(dtype), device)


def ones(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """Ones; of the default real dtype if none is named.

    >>> aio.ones(3, dtype="int32")
    Array([1, 1, 1], dtype=int32)
    """
    return _constant("ones", np.ones, creation.ones, shape, _real(dtype), device)


def empty(shape: Shape, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """An array to be filled; XLA has no uninitialised memory, so they are zeros.

    Of any dtype, by default the default real one. ``ValueError`` for a negative length.

    >>> aio.empty((2, 0)).shape
    (2, 0)
    """
    return _constant("empty", np.zeros, creation.zeros, shape, _real(dtype), device)


def _constant(
    function: str,
    host: Callable[..., np.ndarray],
    definition: Definition[Node],
    shape: Shape,
    dtype: DType,
    device: DeviceLike | None,
) -> Array:
    lengths = shape_of(function, shape)
    if any(n < 0 for n in lengths):
        raise ValueError(f"{function}: shape {lengths} has a negative length")
    if _small(lengths, dtype):
        return _fresh(host(lengths, dtype), device)
    return call(definition, (), lengths, dtype, device=device_of(device))


def full(
    shape: Shape,
    fill_value: Scalar | Array,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """``fill_value`` everywhere; of its own dtype (of a Python number: the default one of its kind) if none is named.

    ``fill_value`` may also be an Array that broadcasts to ``shape``. Raises ``OverflowError`` for an integer that the
    dtype does not hold.

    >>> aio.full((2, 2), 7)
    Array([[7, 7],
           [7, 7]], dtype=int32)
    """
    lengths, target = shape_of("full", shape), dtype_of(dtype)
    if isinstance(fill_value, Array):
        value = _as_array(fill_value, target, device_of(device), None)
        return call(manipulation.broadcast_to, (value,), lengths)
    if any(n < 0 for n in lengths):
        raise ValueError(f"full: shape {lengths} has a negative length")
    host = _filling("full", fill_value, target)
    if host.ndim or _small(lengths, host.dtype):
        return _fresh(np.full(lengths, host), device)
    return call(creation.full, (host,), lengths, host.dtype, device=device_of(device))


def _filling(function: str, value: Any, dtype: DType | None) -> np.ndarray:
    host = host_value(function, value, dtype)
    if dtype is None:
        return host
    if _is_complex_to_real(host.dtype, dtype):
        raise TypeError(f"{function}: fill_value {value!r} does not become {dtype.name}; give a real number")
    return host.astype(dtype)


def zeros_like(x: ArrayLike, /, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """Zeros in the shape, dtype and on the device of ``x``, unless others are named.

    >>> aio.zeros_like(aio.asarray([1, 2]))
    Array([0, 0], dtype=int32)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: ArrayLike, /, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """Ones in the shape, dtype and on the device of ``x``, unless others are named.

    >>> aio.ones_like(aio.asarray([1.5, 2.5]))
    Array([1., 1.], dtype=float32)
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: ArrayLike, /, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None) -> Array:
    """An array to be filled, in the shape, dtype and on the device of ``x``, unless others are named.

    >>> aio.empty_like(aio.zeros((2, 3))).shape
    (2, 3)
    """
    return full_like(x, 0, dtype=dtype, device=device)


def full_like(
    x: ArrayLike,
    /,
    fill_value: Scalar | Array,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """``fill_value`` in the shape, dtype and on the device of ``x``, unless others are named.

    >>> aio.full_like(aio.asarray([1.0, 2.0]), 5)
    Array([5., 5.], dtype=float32)
    """
    x = x if isinstance(x, Array) else asarray(x)
    target = dtype_of(dtype) or x.dtype
    if x._trace is not None and not isinstance(fill_value, Array):
        # Inside a traced function the constant belongs in its graph, where XLA folds it.
        return call(creation.full_like, (x, _filling("full_like", fill_value, target)), target)
    return full(x.shape, fill_value, dtype=target, device=device or x.device)


# Ranges


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Numbers from ``start`` (0 if only one bound is given) to below ``stop``, ``step`` apart.

    Each is ``start + i * step`` exactly, rounded once: not as NumPy's, whose steps are rounded to the dtype before.
    Of the default integral dtype if all three are integers, else of the default real one. ``ValueError`` if ``step``
    is 0.

    >>> aio.arange(5)
    Array([0, 1, 2, 3, 4], dtype=int32)
    >>> aio.arange(1, 2, 0.25)
    Array([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_number("arange", name, x) for name, x in (("start", start), ("stop", stop), ("step", step)))
    if step == 0:
        raise ValueError("arange: step is 0; it must not be")
    target = dtype_of(dtype)
    if target is None:
        whole = all(isinstance(x, int) for x in (start, stop, step))
        target = dtypes.default_for_rank(1 if whole else 2)
    length = _arange_length(start, stop, step)
    whole = isinstance(start, int) and isinstance(step, int)
    if _small((length,), target):
        if whole and target in dtypes.INTEGRAL:
            return _fresh(np.arange(start, stop, step, dtype=target), device)
        return _fresh(exact_range(start, step, length, target), device)
    wide = dtypes.float64
    if whole and target in dtypes.INTEGRAL:
        wide = target
    elif whole and max(abs(start), abs(start + step * length)) < 2**62:
        wide = dtypes.int64
    operands = (np.asarray(start).astype(wide), np.asarray(step).astype(wide))
    return call(creation.arange, operands, length, target, device=device_of(device))


def _arange_length(start: float, stop: float, step: float) -> int:
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))
    return max(0, math.ceil((stop - start) / step))


def _number(function: str, name: str, value: Any) -> Any:
    """``value`` as a Python number; an integer if it is one of any kind."""
    if isinstance(value, Array):
        value = value.item()
    if hasattr(value, "__index__"):
        return operator.index(value)
    if isinstance(value, (complex, np.complexfloating)):
        return complex(value)
    if not hasattr(value, "__float__"):
        raise TypeError(f"{function}: {name}={value!r} is no number")
    return float(value)


def _real_number(function: str, name: str, value: Any) -> Any:
    """``value`` as a Python float or complex number."""
    number = _number(function, name, value)
    return float(number) if isinstance(number, int) else number


def linspace(
    start: complex | Array,
    stop: complex | Array,
    /,
    num: int = 50,
    endpoint: bool = True,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, which is the last one unless ``endpoint`` is False.

    Computed in double precision, as NumPy does; of the default real (or complex) dtype if none is named. The bounds may
    be floating-point Arrays of no dimensions, which are not waited for and whose dtype is then the default.
    Raises ``ValueError`` for Arrays of other shapes and a negative ``num``, ``TypeError`` for complex bounds with a
    real dtype.

    >>> aio.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    count = integer_of("linspace", "num", num)
    if count < 0:
        raise ValueError(f"linspace: num={num} must not be negative")
    if isinstance(start, Array) or isinstance(stop, Array):
        return _linspace_between(start, stop, count, dtype_of(dtype), endpoint, device)
    first, last = _real_number("linspace", "start", start), _real_number("linspace", "stop", stop)
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    target = dtype_of(dtype) or dtypes.default_for_rank(3 if is_complex else 2)
    if is_complex and target not in dtypes.COMPLEX:
        raise TypeError(f"linspace: complex bounds do not fit in {target.name}; use a complex dtype")
    if _small((count,), target):
        return _fresh(np.linspace(first, last, count, endpoint=endpoint).astype(target), device)
    wide = np.dtype("complex128" if is_complex else "float64")
    ends = (np.asarray(first, wide), np.asarray(last, wide))
    return call(creation.linspace, ends, count, target, endpoint, device=device_of(device))


def _linspace_between(
    start: complex | Array,
    stop: complex | Array,
    num: int,
    dtype: DType | None,
    endpoint: bool,
    device: DeviceLike | None,
) -> Array:
    arrays = [x for x in (start, stop) if isinstance(x, Array)]
    for x in arrays:
        if x.ndim:
            raise ValueError(f"linspace: a bound of shape {x.shape}; bounds are numbers or Arrays of no dimensions")
    numbers = [x for x in (start, stop) if not isinstance(x, Array)]
    kinds = [dtypes.real_for(x.dtype) for x in arrays]
    common = reduce(dtypes.promote, kinds)
    is_complex = common in dtypes.COMPLEX or any(isinstance(x, (complex, np.complexfloating)) for x in numbers)
    target = dtype or (dtypes.complex_of(dtypes.real_of(common)) if is_complex else common)
    if is_complex and target not in dtypes.COMPLEX:
        raise TypeError(f"linspace: complex bounds do not fit in {target.name}; use a complex dtype")
    wide = np.dtype("complex128" if is_complex else "float64")
    ends = tuple(x if isinstance(x, Array) else np.asarray(x, wide) for x in (start, stop))
    return call(creation.linspace, ends, num, target, endpoint, device=device_of(device))


# Matrices


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """A matrix with ones on diagonal ``k`` (above the main one if positive) and zeros elsewhere.

    >>> aio.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    rows = integer_of("eye", "n_rows", n_rows)
    columns = rows if n_cols is None else integer_of("eye", "n_cols", n_cols)
    diagonal, target = integer_of("eye", "k", k), _real(dtype)
    if rows < 0 or columns < 0:
        raise ValueError(f"eye: shape {(rows, columns)} has a negative length")
    if _small((rows, columns), target):
        return _fresh(np.eye(rows, columns, diagonal, target), device)
    return call(creation.eye, (), rows, columns, diagonal, target, device=device_of(device))


def tril(x: ArrayLike, /, k: int = 0) -> Array:
    """The matrices in the last two axes of ``x`` with zeros above diagonal ``k``. ``ValueError`` below two axes.

    >>> aio.tril(aio.ones((3, 3)))
    Array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    return call(creation.tril, (x,), integer_of("tril", "k", k))


def triu(x: ArrayLike, /, k: int = 0) -> Array:
    """The matrices in the last two axes of ``x`` with zeros below diagonal ``k``. ``ValueError`` below two axes.

    >>> aio.triu(aio.ones((3, 3)), k=1)
    Array([[0., 1., 1.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    return call(creation.triu, (x,), integer_of("triu", "k", k))


def meshgrid(*arrays: ArrayLike, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """The coordinates of a grid whose axes are the given vectors, one array for each vector.

    "ij": axis k of the results belongs to vector k; "xy": the first two axes change places. ``ValueError`` for arrays
    of more than one axis.

    >>> x, y = aio.meshgrid(aio.arange(2), aio.arange(3))
    >>> y
    Array([[0, 0],
           [1, 1],
           [2, 2]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing={indexing!r} is not known; use 'xy' or 'ij'")
    return call(creation.meshgrid, arrays, indexing) if arrays else ()
