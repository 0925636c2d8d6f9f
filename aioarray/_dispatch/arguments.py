"""What public functions take for a shape, an axis, a dtype or a device, brought into one form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

import numpy as np

from .. import _xla
from .._base import dtypes
from .._xla import Device

if TYPE_CHECKING:
    from .._base.dtypes import DType

# Whatever numpy.dtype() understands: a dtype object, a name, a scalar type.
DTypeLike: TypeAlias = np.dtype | str | type
DeviceLike: TypeAlias = Device | str
Shape: TypeAlias = int | tuple[int, ...]
# One axis, several, or None for all.
Axes: TypeAlias = int | tuple[int, ...] | None


def shape_of(function: str, shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """A shape given as a length or a sequence of lengths. ``TypeError`` for what are no integers."""
    if type(shape) is tuple and not [length for length in shape if type(length) is not int]:
        return shape
    try:
        # Tuples first: to ask whether something is a Sequence takes as long as all the rest.
        if type(shape) is tuple or isinstance(shape, Sequence) or (isinstance(shape, np.ndarray) and shape.ndim == 1):
            return tuple(map(operator.index, shape))
        return (operator.index(shape),)
    except TypeError:
        raise TypeError(f"{function}: shape {shape!r} is no length or tuple of lengths; lengths are integers") from None


def axes_of(function: str, axis: SupportsIndex | Sequence[SupportsIndex] | None) -> Axes:
    """One axis as an int, several as a tuple, None as it is. ``TypeError`` for what are no integers."""
    if axis is None or type(axis) is int:
        return axis
    try:
        if isinstance(axis, Sequence):
            return tuple(map(operator.index, axis))
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: axis {axis!r} is no integer or tuple of integers") from None


def axis_of(function: str, axis: SupportsIndex) -> int:
    """An axis as an int."""
    try:
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: axis {axis!r} is no integer") from None


def order_of(function: str, axes: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """Axes in an order, as a tuple."""
    order = axes_of(function, axes)
    return order if isinstance(order, tuple) else (order,)  # type: ignore[return-value]


def integer_of(function: str, name: str, value: SupportsIndex) -> int:
    """The argument ``name`` as an int. ``TypeError`` for what is none."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {name} {value!r} is no integer") from None


def dtype_of(dtype: DTypeLike | None) -> DType | None:
    """``dtype`` as a dtype that devices have, None as it is."""
    return None if dtype is None else dtypes.as_dtype(dtype)


def device_of(device: DeviceLike | None) -> Device | None:
    """A device given by name, as the device; None as it is."""
    return _xla.find_device(device) if isinstance(device, str) else device
