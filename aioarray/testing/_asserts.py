"""Assertions about Arrays that can be called as they are or awaited, and say what differs and where it comes from."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .._array import Array
from .._base import dtypes
from .._engine import in_event_loop, origin
from .._engine.failure import location
from .._functions.data_types import finfo
from ._origins import enqueued_at

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from .._array import ArrayLike
    from .._dispatch.arguments import DTypeLike

# What numbers of a precision may be apart, relatively, if the caller does not say. Others: twice their epsilon.
RTOL = {
    "float64": 1e-7,
    "complex128": 1e-7,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float16": 1e-3,
    "bfloat16": 1e-2,
}


def warn_forgotten(message: str) -> None:
    """What is done about an assertion that nobody awaited, where no plugin fails the test for it."""
    warnings.warn(message, RuntimeWarning, stacklevel=3)


class Assertion:
    """An assertion that is made when it is awaited, or was made at the call. Another ``await`` does nothing."""

    __slots__ = ("_check", "_descriptions", "_name", "_values", "_where")

    # Called with a message at the end of one that was to be awaited and was not: it has checked nothing.
    forgotten: ClassVar[Callable[[str], None]] = warn_forgotten

    def __init__(
        self, name: str, check: Callable[[Sequence[str]], None], operands: Sequence[ArrayLike], needs_values: bool
    ) -> None:
        self._check: Callable[[Sequence[str]], None] | None = None
        self._name = name
        self._values = [value for value in operands if isinstance(value, Array)]
        # Now, since it is not known any more when the value is there.
        self._descriptions = [_described(value) for value in operands]
        self._where = ""
        if not needs_values or not in_event_loop() or all(value._awaited for value in self._values):
            check(self._descriptions)
        else:
            self._check = check
            where = origin()
            self._where = location(where) if where else "?"

    def __await__(self) -> Generator[Any, Any, None]:
        check, self._check = self._check, None
        # Arrays that are overwritten or deleted while this waits are read as they were: see `Array.__await__`.
        for value in self._values:
            yield from value.__await__()
        if check is not None:
            check(self._descriptions)

    def __del__(self) -> None:
        if self._check is not None and not sys.is_finalizing():
            Assertion.forgotten(
                f"{self._name} at {self._where} has checked nothing: in an event loop, Arrays that were not awaited "
                f"are not read; write `await {self._name}(...)`"
            )


def assert_allclose(
    actual: ArrayLike,
    expected: ArrayLike,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    equal_nan: bool = True,
) -> Assertion:
    """Assert that ``actual`` and ``expected`` have one shape and differ by at most ``atol + rtol * abs(expected)``.

    Checks at the call; in an event loop, if there is an Array that was not awaited, when the result is awaited:
    ``await assert_allclose(x, y)`` is right everywhere. A number is compared with every element. ``rtol``, if not
    given, goes by the less precise dtype: 1e-7 for float64, 1e-5 for float32, 1e-3 for float16, 1e-2 for bfloat16, 0
    for integers. Raises ``AssertionError`` with the first and the largest difference, and where the Array was enqueued.

    >>> aio.testing.assert_allclose(aio.asarray([1.0, 2.0]) / 3, [0.333333, 0.666667]) and None
    >>> await aio.testing.assert_allclose(aio.sum(aio.ones(3)), 3.0)
    """
    if atol < 0 or (rtol is not None and rtol < 0):
        raise ValueError(f"assert_allclose: rtol={rtol}, atol={atol}; both must be at least 0")

    def check(descriptions: Sequence[str]) -> None:
        left, right = _values("assert_allclose", actual, expected, descriptions)
        tolerance = _default_rtol(left.dtype, right.dtype) if rtol is None else rtol
        first, second = _comparable(left), _comparable(right)
        with np.errstate(all="ignore"):
            error = abs(_difference(first, second))
            # Not `error > limit`: that would let through what is no number.
            wrong = ~((error <= atol + tolerance * abs(second)) & np.isfinite(first) & np.isfinite(second))
            wrong &= ~(first == second)  # infinities, among others
            if equal_nan:
                wrong &= ~(np.isnan(first) & np.isnan(second))
        if wrong.any():
            limit = f"by more than {tolerance:g} * abs(expected) + {atol:g}"
            raise AssertionError(_report("assert_allclose", wrong, left, right, limit, descriptions))

    return Assertion("assert_allclose", check, (actual, expected), needs_values=True)


def assert_array_equal(actual: ArrayLike, expected: ArrayLike, *, equal_nan: bool = True) -> Assertion:
    """Assert that ``actual`` and ``expected`` have one shape and equal elements, whatever their dtypes.

    Checks at the call or when awaited, as ``assert_allclose`` does. A number is compared with every element. Raises
    ``AssertionError``.

    >>> aio.testing.assert_array_equal(aio.arange(3) * 2, [0, 2, 4]) and None
    >>> await aio.testing.assert_array_equal(aio.asarray([1.0, float("nan")]), [1.0, float("nan")])
    """

    def check(descriptions: Sequence[str]) -> None:
        left, right = _values("assert_array_equal", actual, expected, descriptions)
        wrong = np.asarray(left != right)
        if equal_nan:
            wrong = wrong & ~(_is_nan(left) & _is_nan(right))
        if wrong.any():
            raise AssertionError(_report("assert_array_equal", wrong, left, right, "", descriptions))

    return Assertion("assert_array_equal", check, (actual, expected), needs_values=True)


def assert_spec(
    array: Array,
    shape: Sequence[int | None] | int | None = None,
    dtype: DTypeLike | None = None,
    device: object = None,
) -> Assertion:
    """Assert that ``array`` is an Array of this shape, dtype and device; what is None may be anything.

    In ``shape``, None stands for any length, and ``...`` for any number of axes. Specs are known at once, so it always
    checks at the call; ``await`` it to wait for the value too. Raises ``AssertionError`` with all that differs.

    >>> x = aio.ones((8, 3))
    >>> aio.testing.assert_spec(x, (None, 3), "float32") and None
    >>> await aio.testing.assert_spec(x @ x.T, (..., 8))
    """

    def check(descriptions: Sequence[str]) -> None:
        if not isinstance(array, Array):
            raise AssertionError(f"assert_spec: {type(array).__name__} is no Array")
        wrong = []
        if shape is not None and not _fits(array.shape, _axes(shape)):
            wrong.append(f"shape {array.shape}, expected {_shape_text(_axes(shape))}")
        if dtype is not None and array.dtype != np.dtype(dtype):
            wrong.append(f"dtype {array.dtype.name}, expected {np.dtype(dtype).name}")
        if device is not None and str(array.device) != str(device):
            wrong.append(f"device {array.device}, expected {device}")
        if wrong:
            raise AssertionError("\n  ".join([f"assert_spec: {'; '.join(wrong)}", f"actual: {descriptions[0]}"]))

    return Assertion("assert_spec", check, (array,), needs_values=False)


def _axes(shape: Sequence[Any] | int) -> tuple[Any, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _fits(shape: tuple[int, ...], wanted: tuple[Any, ...]) -> bool:
    if ... in wanted:
        at = wanted.index(...)
        after = len(wanted) - at - 1
        if len(shape) < at + after:
            return False
        return _fits(shape[:at], wanted[:at]) and _fits(shape[len(shape) - after :], wanted[at + 1 :])
    return len(shape) == len(wanted) and all(
        want is None or want == is_ for is_, want in zip(shape, wanted, strict=True)
    )


def _shape_text(wanted: tuple[Any, ...]) -> str:
    inside = ", ".join("..." if axis is ... else str(axis) for axis in wanted)
    return f"({inside},)" if len(wanted) == 1 else f"({inside})"


# Values


def _host(value: ArrayLike) -> np.ndarray:
    """``value`` on the host; an Array was awaited, or this runs where waiting is right."""
    return np.asarray(value.block_until_ready() if isinstance(value, Array) else value)


def _values(
    function: str, actual: ArrayLike, expected: ArrayLike, descriptions: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    left, right = _host(actual), _host(expected)
    if isinstance(actual, (bool, int, float, complex)):
        left = np.broadcast_to(left, right.shape)
    elif isinstance(expected, (bool, int, float, complex)):
        right = np.broadcast_to(right, left.shape)
    if left.shape != right.shape:
        raise AssertionError(f"{function}: shape {left.shape}, expected {right.shape}\n{_both(descriptions)}")
    return left, right


def _comparable(value: np.ndarray) -> np.ndarray:
    """In a dtype in which differences are exact enough; integers stay, for those of 64 bits are not floats."""
    if value.dtype.kind in "biu":
        return value
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def _difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if first.dtype.kind in "biu" and second.dtype.kind in "biu":
        # In wide floats, where nothing wraps around; equal integers are found equal elsewhere.
        return first.astype(np.longdouble) - second.astype(np.longdouble)
    return np.asarray(first.astype(np.result_type(first, np.float64)) - second)


def _is_nan(value: np.ndarray) -> np.ndarray:
    return np.asarray(value != value)


def _default_rtol(*given: np.dtype) -> float:
    tolerances = [0.0]
    for dtype in given:
        if dtype.name in RTOL:
            tolerances.append(RTOL[dtype.name])
        elif dtype in dtypes.REAL_FLOATING:
            tolerances.append(2 * float(finfo(dtype).eps))
    return max(tolerances)


# Messages


class _Worst(NamedTuple):
    position: tuple[int, ...]
    error: float
    relative: float


def _report(
    function: str,
    wrong: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    limit: str,
    descriptions: Sequence[str],
) -> str:
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    what = f"{int(wrong.sum())} of {wrong.size} elements differ" if wrong.ndim else "the values differ"
    where = f"first at {list(first)}: " if wrong.ndim else ""
    lines = [f"{function}: {what}{' ' if limit else ''}{limit}", f"  {where}{left[first]}, expected {right[first]}"]
    worst = _worst(wrong, left, right)
    if worst is None:
        lines.append("  largest error: none of the differences is between finite numbers")
    else:
        at = f" at {list(worst.position)}" if wrong.ndim else ""
        lines.append(f"  largest error: {worst.error:.6g} (relative {worst.relative:.3g}){at}")
    return "\n".join([*lines, _both(descriptions)])


def _worst(wrong: np.ndarray, left: np.ndarray, right: np.ndarray) -> _Worst | None:
    """The largest difference of finite numbers among those that are ``wrong``."""
    first, second = _comparable(left), _comparable(right)
    with np.errstate(all="ignore"):
        error = np.asarray(abs(_difference(first, second)), np.float64)
        relative = error / np.asarray(abs(second.astype(np.result_type(second, np.float64))), np.float64)
    error = np.where(wrong & np.isfinite(error), error, -1.0)
    position = np.unravel_index(int(np.argmax(error)), error.shape)
    if error[position] < 0:
        return None
    return _Worst(tuple(int(i) for i in position), float(error[position]), float(relative[position]))


def _both(descriptions: Sequence[str]) -> str:
    return "  actual:   {}\n  expected: {}".format(*descriptions)


def _described(value: ArrayLike) -> str:
    if isinstance(value, Array):
        where = enqueued_at(value)
        return f"{value.dtype.name}{list(value.shape)}{f', {where}' if where else ''}"
    if isinstance(value, (bool, int, float, complex)):
        return f"the number {value}"
    array = np.asarray(value)
    return f"{array.dtype.name}{list(array.shape)} of {type(value).__module__}.{type(value).__qualname__}"
