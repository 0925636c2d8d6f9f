"""Python numbers as operands: which dtype they take, whether it holds them, and those that were operands lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar

import numpy as np

from .. import _xla
from .._base import dtypes
from .._engine import engine
from .._graph import array_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._base.dtypes import DType, Scalar
    from .._graph import ArraySpec
    from .._xla import Buffer, Device
    from .operands import Operand

A = TypeVar("A")

NUMBERS = frozenset({bool, int, float, complex})
# NumPy's scalars, which have a dtype of their own.
NUMPY_SCALARS = frozenset({dtype.type for dtype in dtypes.ALL})

# Entries of a `Numbers`. It is emptied when full: the numbers of a program's source are soon back.
LIMIT = 4096


def is_scalar(x: object) -> TypeGuard[Scalar]:
    """Whether ``x`` is a Python number, which is weak; NumPy's keep their dtype."""
    return isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)


def checked_scalar(value: Scalar, dtype: DType) -> Scalar:
    """A Python number as one that ``dtype`` holds; ``OverflowError`` for integers that it does not."""
    if dtype not in dtypes.INTEGRAL:
        return value
    number = int(value.real)
    information = np.iinfo(dtype) if dtype.kind in "iu" else dtypes.iinfo(dtype)
    if not information.min <= number <= information.max:
        raise OverflowError(
            f"Python integer {number} is out of bounds for {dtype.name}, which holds "
            f"{information.min}..{information.max}; cast the array to a wider dtype with astype() first"
        )
    return number


def scalar_dtypes(function: str, values: Sequence[Scalar], strong: Sequence[DType]) -> list[DType]:
    """What dtypes Python numbers take beside arrays of the dtypes ``strong``. ``TypeError`` where these do not mix."""
    ranks = [dtypes.scalar_rank(value) for value in values]
    if not strong:
        return [dtypes.default_for_rank(rank) for rank in ranks]
    dtype = strong[0]
    try:
        for other in strong[1:]:
            dtype = dtypes.promote(dtype, other)
    except TypeError as error:
        raise TypeError(f"{function}: {error}") from None
    return [dtypes.weak_dtype(rank, dtype) for rank in ranks]


def scalar_operand(value: Scalar, dtype: DType, device: Device | None = None, weak: bool = True) -> Operand:
    """A Python number as a 0-d operand, which promotes by its kind only if ``weak``."""
    where = engine.device() if device is None else device
    spec = array_spec((), dtype, where, weak)
    return spec, _xla.put_scalar(checked_scalar(value, dtype), spec, where)


class Numbers(Generic[A]):
    """Operands made of Python numbers lately: putting one on the device takes longer than launching an addition.

    Any thread. An operand depends on the default dtypes where these are not the standard ones, so this is used only
    while the fast path is open. ``make(spec, buffer, True)`` is what it keeps.
    """

    __slots__ = ("_kept", "_make", "get")

    def __init__(self, make: Callable[[ArraySpec, Buffer, bool], A]) -> None:
        self._make = make
        self._kept: dict[Any, A] = {}
        # The operand of `(spec, type(number), number)` beside an array of `spec`, or None; for numbers other than 0.
        self.get: Callable[[Any], A | None] = self._kept.get

    def beside(self, spec: ArraySpec, value: Scalar) -> A:
        """The weak operand that ``value`` is beside an array of ``spec``."""
        kind = type(value)
        # 0.0 and -0.0 are equal, and so are complex numbers that have them as parts.
        key = spec, kind, repr(value) if kind is complex or not value else value
        found = self._kept.get(key)
        if found is not None:
            return found
        dtype = dtypes.weak_dtype(dtypes.scalar_rank(value), spec.dtype)
        return self._keep(key, scalar_operand(value, dtype, spec.device))

    def among(self, specs: Sequence[ArraySpec], values: Sequence[Any]) -> list[A | None] | None:
        """``values``, of which some are arrays of ``specs``, with Python numbers as the operands they are beside these.

        None where only ``scalar_dtypes`` can say what they are, or that they are wrong.
        """
        beside = _widest(specs)
        operands = list(values)
        others = 0
        for place, value in enumerate(values):
            if type(value) in NUMBERS:
                if beside is None:
                    return None
                operands[place] = self.beside(beside, value)
                others += 1
            elif value is None:
                others += 1
        return operands if len(specs) + others == len(values) else None

    def strong(self, value: np.generic) -> A:
        """The operand that one of NumPy's scalars is beside any array."""
        key = type(value), value.tobytes()
        found = self._kept.get(key)
        if found is not None:
            return found
        return self._keep(key, scalar_operand(value, dtypes.as_dtype(value.dtype), weak=False))  # type: ignore[arg-type]

    def position(self, index: int, device: Device | None) -> A:
        """The operand of an index that is known to be in range."""
        found = self._kept.get((index, device))
        if found is not None:
            return found
        return self._keep((index, device), scalar_operand(index, position_dtype(index), device, weak=False))

    def _keep(self, key: Any, operand: Operand) -> A:
        if len(self._kept) >= LIMIT:
            self._kept.clear()
        made = self._kept[key] = self._make(*operand, True)
        return made


def position_dtype(index: int) -> DType:
    """The dtype of an index as an operand."""
    return dtypes.int32 if index <= 0x7FFFFFFF else dtypes.int64


def _widest(specs: Sequence[ArraySpec]) -> ArraySpec | None:
    """The one of ``specs`` to whose dtype all others promote; None if there is none."""
    widest = specs[0] if specs else None
    for spec in specs:
        if widest is not None and spec.dtype is not widest.dtype:
            try:
                dtype = dtypes.promote(spec.dtype, widest.dtype)
            except TypeError:
                return None
            widest = widest if dtype == widest.dtype else spec if dtype == spec.dtype else None
    return widest
