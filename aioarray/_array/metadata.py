"""What is known of an Array before its value is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._base.dtypes import DType
    from .._engine import Pending
    from .._graph import ArraySpec
    from .._xla import Buffer, Device


class Metadata:
    """The part of ``Array`` that is read off its spec."""

    __slots__ = ()

    if TYPE_CHECKING:
        _spec: ArraySpec
        _buffer: Buffer | None
        _pending: Pending | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions."""
        return self._spec.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._spec.dtype

    @property
    def device(self) -> Device:
        """Where the value is, or will be."""
        device = self._spec.device
        assert device is not None
        return device

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return self._spec.ndim

    @property
    def size(self) -> int:
        """How many elements."""
        return self._spec.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._spec.nbytes

    def __len__(self) -> int:
        if not self._spec.shape:
            raise TypeError("len() of an array of no dimensions")
        return self._spec.shape[0]

    def is_deleted(self) -> bool:
        """Whether the value was given up."""
        return self._buffer is None and self._pending is None
