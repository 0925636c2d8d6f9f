"""``ShapeDtype``: an argument without a value."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from .._base import dtypes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._base.dtypes import DType


class ShapeDtype:
    """Shape and dtype of an array that need not exist: for compiling ahead of time.

    Raises ``ValueError`` for a negative length, ``TypeError`` for a dtype that devices do not have.

    >>> x = aio.ShapeDtype((32, 784), "float32")
    >>> x.shape, x.ndim, x.nbytes
    ((32, 784), 2, 100352)
    """

    __slots__ = ("dtype", "shape")

    shape: tuple[int, ...]
    dtype: DType

    def __init__(self, shape: Sequence[int] | int, dtype: object) -> None:
        lengths = (shape,) if isinstance(shape, int) else shape
        self.shape = tuple(operator.index(n) for n in lengths)
        self.dtype = dtypes.as_dtype(dtype)
        if any(n < 0 for n in self.shape):
            raise ValueError(f"ShapeDtype: shape {self.shape} has a negative length; lengths are 0 or more")

    @property
    def ndim(self) -> int:
        """How many dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtype) and (other.shape, other.dtype) == (self.shape, self.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtype({self.shape}, {self.dtype.name!r})"
