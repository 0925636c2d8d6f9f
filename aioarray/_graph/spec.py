"""``ArraySpec``: the shape, dtype and device of an array, known before its value is."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._xla import Device

_Key = tuple[tuple[int, ...], "DType", "Device | None", bool]


class ArraySpec:
    """Interned: equal specs are one object, so programs are found by identity. Made only by ``array_spec``.

    ``device`` is None for values inside a graph. ``weak`` marks what came from a Python scalar: its kind takes part in
    promotion, its width does not.
    """

    __slots__ = ("__weakref__", "device", "dtype", "nbytes", "ndim", "shape", "size", "weak")

    # jaxlib reads shape, dtype and weak_type off what it calls an abstract value: a spec serves as one.
    weak_type: ClassVar[bool] = False

    shape: tuple[int, ...]
    dtype: DType
    device: Device | None
    weak: bool
    ndim: int
    size: int
    nbytes: int

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]{'*' if self.weak else ''}"

    def __reduce__(self) -> tuple[object, ...]:
        return array_spec, (self.shape, self.dtype, None, self.weak)

    def with_shape(self, shape: tuple[int, ...]) -> ArraySpec:
        return array_spec(shape, self.dtype, self.device, self.weak)

    def on(self, device: Device | None) -> ArraySpec:
        """The same on ``device``, and not weak: what an Array has."""
        return array_spec(self.shape, self.dtype, device)


# Owned by array_spec (any thread, under _lock); entries live as long as somebody holds the spec.
_interned: WeakValueDictionary[_Key, ArraySpec] = WeakValueDictionary()
_lock = threading.RLock()  # re-entrant: a spec may be made in a destructor that runs inside the table


def array_spec(shape: tuple[int, ...], dtype: DType, device: Device | None = None, weak: bool = False) -> ArraySpec:
    """The one spec of that shape, dtype, device and weakness."""
    key = (shape, dtype, device, weak)
    found = _interned.get(key)
    if found is not None:
        return found
    with _lock:
        found = _interned.get(key)
        if found is None:
            found = ArraySpec()
            found.shape, found.dtype, found.device, found.weak = key
            found.ndim = len(shape)
            found.size = math.prod(shape)
            found.nbytes = found.size * dtype.itemsize
            _interned[key] = found
        return found
