"""NumPy's methods of arrays: the most used functions, as ``x.sum()``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from . import _dtypes
from ._ops import movement, reduction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._array import Array
    from ._graph import ArraySpec, Definition

Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | None"


class ArrayMethods:
    """The part of ``Array`` that stands for functions; see the functions of the same names."""

    __slots__ = ()

    if TYPE_CHECKING:
        _spec: ArraySpec

        def _run(self, definition: Definition, *static: Any) -> Array: ...

    @property
    def T(self) -> Array:
        """The transpose: axes in reverse order."""
        return self._run(movement.permute_dims, tuple(range(self._spec.ndim))[::-1])

    @property
    def mT(self) -> Array:
        """The transpose of the last two axes. ``ValueError`` below two dimensions."""
        ndim = self._spec.ndim
        if ndim < 2:
            raise ValueError(f"mT: needs at least two dimensions, this array has {ndim}")
        return self._run(movement.permute_dims, (*range(ndim - 2), ndim - 1, ndim - 2))

    def sum(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Sums along ``axis``, as ``aio.sum``."""
        return self._run(reduction.sum, _axes(axis), _dtype(dtype), bool(keepdims))

    def prod(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Products along ``axis``, as ``aio.prod``."""
        return self._run(reduction.prod, _axes(axis), _dtype(dtype), bool(keepdims))

    def mean(self, axis: Axes = None, dtype: Any = None, *, keepdims: bool = False) -> Array:
        """Means along ``axis``, as ``aio.mean``."""
        return self._run(reduction.mean, _axes(axis), _dtype(dtype), bool(keepdims))

    def var(self, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
        """Variances along ``axis``, as ``aio.var``."""
        return self._run(reduction.var, _axes(axis), correction, bool(keepdims))

    def std(self, axis: Axes = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
        """Standard deviations along ``axis``, as ``aio.std``."""
        return self._run(reduction.std, _axes(axis), correction, bool(keepdims))

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Largest elements along ``axis``, as ``aio.max``."""
        return self._run(reduction.max, _axes(axis), bool(keepdims))

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Smallest elements along ``axis``, as ``aio.min``."""
        return self._run(reduction.min, _axes(axis), bool(keepdims))

    def argmax(self, axis: SupportsIndex | None = None, *, keepdims: bool = False) -> Array:
        """Positions of the largest elements along ``axis``, as ``aio.argmax``."""
        return self._run(reduction.argmax, None if axis is None else operator.index(axis), bool(keepdims))

    def argmin(self, axis: SupportsIndex | None = None, *, keepdims: bool = False) -> Array:
        """Positions of the smallest elements along ``axis``, as ``aio.argmin``."""
        return self._run(reduction.argmin, None if axis is None else operator.index(axis), bool(keepdims))

    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether some element along ``axis`` is true, as ``aio.any``."""
        return self._run(reduction.any, _axes(axis), bool(keepdims))

    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Array:
        """Whether all elements along ``axis`` are true, as ``aio.all``."""
        return self._run(reduction.all, _axes(axis), bool(keepdims))

    def reshape(self, *shape: SupportsIndex | Sequence[SupportsIndex]) -> Array:
        """The elements in another shape, given as one tuple or as lengths; one may be -1, and is filled in.

        >>> aio.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        lengths: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], SupportsIndex) else shape
        return self._run(movement.reshape, tuple(operator.index(n) for n in lengths))

    def ravel(self) -> Array:
        """The elements in one dimension."""
        return self._run(movement.reshape, (-1,))

    flatten = ravel

    def transpose(self, *axes: SupportsIndex | Sequence[SupportsIndex]) -> Array:
        """The axes in another order, given as one tuple or one by one; without, reversed.

        >>> aio.zeros((2, 3, 4)).transpose(0, 2, 1).shape
        (2, 4, 3)
        """
        if not axes:
            return self.T
        order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], SupportsIndex) else axes
        return self._run(movement.permute_dims, tuple(operator.index(axis) for axis in order))

    def squeeze(self, axis: Axes = None) -> Array:
        """Without dimensions of length 1: those of ``axis``, or all."""
        return self._run(movement.squeeze, _axes(axis))

    def astype(self, dtype: Any) -> Array:
        """The elements in ``dtype``, as ``aio.astype``."""
        return self._run(movement.astype, _dtypes.as_dtype(dtype))


def _axes(axis: Axes) -> int | tuple[int, ...] | None:
    if axis is None:
        return None
    return operator.index(axis) if isinstance(axis, SupportsIndex) else tuple(operator.index(k) for k in axis)


def _dtype(dtype: Any) -> _dtypes.DType | None:
    return None if dtype is None else _dtypes.as_dtype(dtype)
