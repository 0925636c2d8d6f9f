"""What a model takes, whether a request is that, and the host arrays of a batch."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import aioarray as aio

from ..._base import dtypes
from ..._base.buckets import LengthBuckets, Lengths, checked_sizes, next_size, pad_into, resized
from ..._base.errors import InvalidInputError
from ..._xla import empty_aligned, trees

if TYPE_CHECKING:
    from .requests import Part

BATCH: Final = "batch"
# Layouts that are known at a time.
LAYOUTS: Final = 1024
DEFAULT_MAX: Final = 32  # rows of a batch


class TensorSpec:
    """One array of one example: its shape without the batch axis, its dtype, and what it is padded with.

    A dimension is a length; a name from the batcher's ``buckets``, for a length that is padded to the next size; or
    None, for any length, where examples of different lengths are batched apart.

    >>> aio.serving.TensorSpec(("tokens", 3), "int32", pad=-1)
    TensorSpec(('tokens', 3), 'int32', pad=-1)
    """

    __slots__ = ("dtype", "pad", "shape")

    def __init__(self, shape: Sequence[int | str | None], dtype: Any, *, pad: Any = 0) -> None:
        self.shape: tuple[int | str | None, ...] = tuple(shape)
        self.dtype: np.dtype[Any] = aio.ShapeDtype((), dtype).dtype
        self.pad: Any = pad
        for n in self.shape:
            if isinstance(n, int) and n < 0:
                raise ValueError(f"TensorSpec: dimension {n} is negative; give a length, the name of one, or None")

    def __repr__(self) -> str:
        pad = f", pad={self.pad!r}" if self.pad != 0 else ""
        return f"TensorSpec({self.shape}, {self.dtype.name!r}{pad})"


class BatchSizes:
    """Batch sizes: given ones, powers of two up to the largest (``sizes=None``), or every number (an empty tuple)."""

    def __init__(self, name: str, sizes: Sequence[int] | None, largest: int | None) -> None:
        if sizes is None:
            largest = largest or DEFAULT_MAX
            sizes = [*(1 << k for k in range((largest - 1).bit_length())), largest]
        self.sizes = checked_sizes(name, "batches", sizes) if sizes else ()
        self.largest = largest or (self.sizes[-1] if self.sizes else DEFAULT_MAX)
        if self.sizes and self.sizes[-1] < self.largest:
            raise ValueError(
                f"{name}: max_batch_size is {self.largest}, but the largest bucket of batches is {self.sizes[-1]}; "
                "add one for it"
            )

    def padded(self, rows: int) -> int:
        """The size that a batch of ``rows`` is computed in."""
        return (next_size(self.sizes, rows) or self.sizes[-1]) if self.sizes else rows


class Layout:
    """How the batches of a group look. ``Inputs`` makes one for each look, so they are compared by identity."""

    __slots__ = ("dtypes", "shapes", "sizes", "structure")

    def __init__(
        self,
        structure: Any,
        shapes: tuple[tuple[int, ...], ...],
        dtypes: tuple[np.dtype[Any], ...],
        sizes: tuple[int, ...],
    ) -> None:
        self.structure = structure
        self.shapes = shapes  # of one example, padded
        self.dtypes = dtypes
        self.sizes = sizes  # of the named lengths

    def bucket(self, size: int) -> str:
        """What batches of so many rows are called in statistics."""
        return "x".join(map(str, (size, *self.sizes)))


class Checked(NamedTuple):
    """An input that the model takes."""

    key: Hashable
    layout: Layout
    rows: int
    lengths: tuple[int, ...]  # the actual ones
    leaves: list[np.ndarray[Any, Any]]


# Where rows of a batch are: the leaves of an input, and which of their rows; -1 and -1 where these have no batch axis.
Source = tuple["list[np.ndarray[Any, Any]]", int, int]


class Inputs:
    """Checks inputs against specs, or takes any without; and stacks them, which may be done on any thread."""

    def __init__(self, name: str, specs: Any, buckets: Mapping[str, Sequence[int]]) -> None:
        self._name = name
        self._buckets = LengthBuckets(name, {length: buckets[length] for length in buckets if length != BATCH})
        self.names = tuple(self._buckets.sizes)
        self.specs: list[TensorSpec] | None = None
        self._layouts: dict[Any, Layout] = {}
        self._dtypes: tuple[np.dtype[Any], ...] = ()  # of specs
        self._fixed: list[Any] | None = None  # the shapes of specs, if these have lengths for all dimensions
        self._structure: Any = None
        self._known: set[np.dtype[Any]] = set()  # dtypes that devices have, as far as they have come
        if specs is None:
            if self.names:
                raise ValueError(
                    f"{name}: there are buckets for {', '.join(self.names)}; give specs, which say what axes have "
                    "these lengths"
                )
            return
        leaves, self._structure = trees.flatten(specs)
        self.specs = [self._spec(leaf) for leaf in leaves]
        self._dtypes = tuple([spec.dtype for spec in self.specs])
        self._paths = [_path(path) for path in trees.paths(specs)]
        self._axes = [[(axis, n) for axis, n in enumerate(spec.shape) if isinstance(n, str)] for spec in self.specs]
        used = {length for axes in self._axes for _, length in axes}
        if not used and not any(None in spec.shape for spec in self.specs):
            self._fixed = [spec.shape for spec in self.specs]
        if used != set(self.names):
            raise ValueError(
                f"{name}: the specs have the lengths {sorted(used)}, and buckets are given for {sorted(self.names)}"
            )

    def _spec(self, leaf: Any) -> TensorSpec:
        if isinstance(leaf, TensorSpec):
            return leaf
        if isinstance(leaf, aio.ShapeDtype):
            return TensorSpec(leaf.shape, leaf.dtype)
        raise TypeError(
            f"{self._name}: specs has a {type(leaf).__name__}; describe arrays with aio.serving.TensorSpec or "
            "aio.ShapeDtype"
        )

    def arguments(self, wanted: Mapping[str, str]) -> dict[str, Argument]:
        """How to make each keyword argument of the function from (key, layout, parts, size)."""
        made: dict[str, Argument] = {}
        for name, what in wanted.items():
            if what == "key":
                made[name] = _key
            elif what == BATCH:
                made[name] = _batch_mask
            elif what in self.names:
                made[name] = functools.partial(_mask, self.names.index(what))
            elif what.startswith("len(") and what[4:-1] in self.names:
                made[name] = functools.partial(_lengths, self.names.index(what[4:-1]))
            else:
                known = ["key", BATCH, *self.names, *(f"len({length})" for length in self.names)]
                raise ValueError(f"{self._name}: arguments asks for {what!r}, which is not one of {', '.join(known)}")
        return made

    # One request

    def check(self, x: Any, key: Hashable, batched: bool) -> Checked:
        """``x`` as host arrays, with its group. ``InvalidInputError`` if the model does not take it."""
        if self.specs is None:
            leaves, structure = trees.flatten(x)
            arrays = [self._array(leaf, None, place) for place, leaf in enumerate(leaves)]
        else:
            structure = self._structure
            try:
                leaves = structure.flatten_up_to(x)
            except (ValueError, TypeError) as error:
                raise InvalidInputError(f"{self._name}: the input has not the form of the specs: {error}") from None
            arrays = [
                self._array(leaf, spec, place)
                for place, (leaf, spec) in enumerate(zip(leaves, self.specs, strict=True))
            ]
        if not arrays:
            raise InvalidInputError(f"{self._name}: the input has no arrays")
        rows = self._rows(arrays) if batched else 1
        shapes = [array.shape[batched:] for array in arrays]
        if shapes == self._fixed:
            return Checked(key, self._layout(structure, tuple(shapes), self._dtypes, ()), rows, (), arrays)
        sizes: tuple[int, ...] = ()
        lengths: tuple[int, ...] = ()
        if self.specs is not None:
            shapes, lengths, sizes = self._padded(shapes)
        layout = self._layout(structure, tuple(shapes), tuple([array.dtype for array in arrays]), sizes)
        return Checked(key, layout, rows, lengths, arrays)

    def _layout(
        self,
        structure: Any,
        shapes: tuple[tuple[int, ...], ...],
        dtypes: tuple[np.dtype[Any], ...],
        sizes: tuple[int, ...],
    ) -> Layout:
        # With specs the structure and the dtypes are always the same, and slow to look up.
        look = shapes if self.specs is not None else (structure, shapes, dtypes)
        layout = self._layouts.get(look)
        if layout is None:
            if len(self._layouts) >= LAYOUTS:
                # Requests of an old one and a new one that are alike do not share batches; nothing worse.
                self._layouts.clear()
            layout = self._layouts[look] = Layout(structure, shapes, dtypes, sizes)
        return layout

    def _array(self, leaf: Any, spec: TensorSpec | None, place: int) -> np.ndarray[Any, Any]:
        if type(leaf) is np.ndarray and (leaf.dtype in self._known if spec is None else leaf.dtype == spec.dtype):
            return leaf
        try:
            if spec is None and type(leaf) is np.ndarray:
                return self._of_a_known_dtype(leaf, place)
            if spec is None:
                return np.asarray(aio.asarray(leaf))
            return _converted(leaf, spec.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInputError(f"{self._where(place)}: {error}") from None

    def _of_a_known_dtype(self, array: np.ndarray[Any, Any], place: int) -> np.ndarray[Any, Any]:
        """``array`` in the byte order of this machine. ``TypeError`` for a dtype that no device has."""
        if array.dtype.kind in "OSUMm":
            raise InvalidInputError(f"{self._where(place)} is an array of {array.dtype}, not of numbers")
        native = array.dtype.newbyteorder("=")
        self._known.add(aio.ShapeDtype((), native).dtype)
        return array.astype(native, copy=False)

    def _where(self, place: int) -> str:
        path = self._paths[place] if self.specs is not None else ""
        return f"{self._name}: input {path}" if path else f"{self._name}: the input"

    def _rows(self, arrays: list[np.ndarray[Any, Any]]) -> int:
        rows: int | None = None
        for place, array in enumerate(arrays):
            if array.ndim == 0:
                raise InvalidInputError(f"{self._where(place)} has no dimensions, but batched=True needs a batch axis")
            if rows is not None and array.shape[0] != rows:
                raise InvalidInputError(
                    f"{self._where(place)} has {array.shape[0]} rows, and another array of the input has {rows}"
                )
            rows = array.shape[0]
        assert rows is not None
        return rows

    def _padded(self, shapes: list[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], tuple[int, ...], tuple[int, ...]]:
        """The shapes with named lengths padded; these lengths; and the sizes."""
        assert self.specs is not None
        found: Lengths = {}
        for place, (shape, spec) in enumerate(zip(shapes, self.specs, strict=True)):
            if len(shape) != len(spec.shape) or any(
                isinstance(wanted, int) and wanted != n for n, wanted in zip(shape, spec.shape, strict=True)
            ):
                raise InvalidInputError(f"{self._where(place)} has shape {shape}; an example is {spec}")
        if not self.names:
            return shapes, (), ()
        try:
            for place, shape in enumerate(shapes):
                self._buckets.measure(found, f"the input{self._paths[place]}", shape, self._axes[place])
            sizes = self._buckets.padded(found)
        except ValueError as error:
            raise InvalidInputError(str(error)) from None
        padded = [resized(shape, axes, sizes) for shape, axes in zip(shapes, self._axes, strict=True)]
        return padded, tuple([found[name] for name in self.names]), tuple([sizes[name] for name in self.names])

    # Batches

    def stack(self, layout: Layout, sources: Sequence[Source], size: int) -> list[np.ndarray[Any, Any]]:
        """The leaves of a batch of ``size`` rows: those of the sources, then padding."""
        specs = self.specs
        stacked = []
        for place, (shape, dtype) in enumerate(zip(layout.shapes, layout.dtypes, strict=True)):
            pad = 0 if specs is None else specs[place].pad
            result = empty_aligned((size, *shape), dtype)
            row = 0
            for leaves, start, stop in sources:
                leaf = leaves[place]
                rows = leaf[None] if start < 0 else leaf[start:stop]
                end = row + len(rows)
                pad_into(result[row:end], rows, pad)
                row = end
            if row < size:
                result[row:] = pad
            stacked.append(result)
        return stacked

    def nbytes(self, layout: Layout, size: int) -> int:
        """How much ``stack`` copies."""
        return size * sum(
            math.prod(shape) * dtype.itemsize for shape, dtype in zip(layout.shapes, layout.dtypes, strict=True)
        )

    def elements(self, layout: Layout, parts: Sequence[Part], size: int) -> tuple[int, int]:
        """How many elements of a batch are the requests', and how many are padding."""
        total = size * sum(map(math.prod, layout.shapes))
        if not layout.sizes:
            rows = sum(part.rows for part in parts)
            used = total * rows // size if size else 0
        else:
            used = 0
            for part in parts:
                leaves = part.request.leaves
                used += sum(leaf.size for leaf in leaves) * part.rows // max(part.request.rows, 1)
        return used, total - used

    def layouts(self) -> list[Layout]:
        """The layouts that inputs can have, by the specs: one for each combination of lengths."""
        if self.specs is None:
            raise ValueError(f"{self._name}.warmup: give specs, or an example of an input")
        if any(n is None for spec in self.specs for n in spec.shape):
            raise ValueError(f"{self._name}.warmup: a dimension of the specs is None; give an example of an input")
        layouts = []
        dtypes = tuple(spec.dtype for spec in self.specs)
        for combination in itertools.product(*self._buckets.sizes.values()):
            sizes = dict(zip(self.names, combination, strict=True))
            shapes = tuple(
                tuple([sizes[n] if isinstance(n, str) else n or 0 for n in spec.shape]) for spec in self.specs
            )
            layouts.append(self._layout(self._structure, shapes, dtypes, combination))
        return layouts


def sources_of(parts: Sequence[Part]) -> list[Source]:
    """The rows of parts, as they are now: a request that ends lets go of its input."""
    return [
        (part.request.leaves, -1, -1) if part.request.single else (part.request.leaves, part.start, part.stop)
        for part in parts
    ]


Argument = Callable[[Hashable, Layout, "Sequence[Part]", int], Any]


def _key(key: Hashable, layout: Layout, parts: Sequence[Part], size: int) -> Any:
    return key


def _batch_mask(key: Hashable, layout: Layout, parts: Sequence[Part], size: int) -> Any:
    return np.arange(size) < sum(part.rows for part in parts)


def _lengths(place: int, key: Hashable, layout: Layout, parts: Sequence[Part], size: int) -> Any:
    lengths = np.zeros(size, np.int32)
    row = 0
    for part in parts:
        lengths[row : row + part.rows] = part.request.lengths[place]
        row += part.rows
    return lengths


def _mask(place: int, key: Hashable, layout: Layout, parts: Sequence[Part], size: int) -> Any:
    return np.arange(layout.sizes[place]) < _lengths(place, key, layout, parts, size)[:, None]


def _converted(leaf: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """``leaf`` as an array of ``dtype``: NumPy's where nothing can be lost, Python's numbers where they fit."""
    value = np.asarray(leaf)
    if value.dtype == dtype:
        return value
    if isinstance(leaf, (np.ndarray, np.generic)) or value.dtype.kind not in "biufc":
        if value.dtype.kind in "OSUMm" or not np.can_cast(value.dtype, dtype, "safe"):
            raise TypeError(f"an array of {value.dtype} is given; the dtype is {dtype.name}")
        return value.astype(dtype)
    whole = value.dtype.kind in "biu" and dtype in dtypes.INTEGRAL
    if not (value.size == 0 or whole or np.can_cast(value.dtype, dtype, "same_kind")):
        raise TypeError(f"numbers of the kind {value.dtype} are given; the dtype is {dtype.name}")
    with np.errstate(all="ignore"):
        result = np.asarray(leaf, dtype)
        lost = result.astype(value.dtype) != value if whole else np.isfinite(value) & ~np.isfinite(result)
    if lost.any():
        raise OverflowError(f"{value[lost].flat[0]} is given; the dtype is {dtype.name}, which has no such number")
    return result


def _path(path: tuple[Any, ...]) -> str:
    """Where a leaf is, as one would write it."""
    text = ""
    for step in path:
        for attribute, form in (("key", "[{!r}]"), ("idx", "[{}]"), ("name", ".{}")):
            if hasattr(step, attribute):
                text += form.format(getattr(step, attribute))
                break
    return text
