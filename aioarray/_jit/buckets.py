"""Shape buckets: a few programs for any length, with inputs padded up to the next size and results cut back.

Padding and cutting are copies on the host, queued like launches: there is nothing to compile for each length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from .._array import Array, as_array, enqueue
from .._base.buckets import LengthBuckets, Lengths, pad_into, resized
from .._engine.host_program import host_program
from .._graph import array_spec
from .._xla import empty_aligned, trees
from .shapes import ShapeDtype

if TYPE_CHECKING:
    import inspect

    from .._graph import ArraySpec
    from .tracing import Traced

# The names of axes, from the first on; or {axis: name}; or for a dict argument, such by its keys.
Axes: TypeAlias = Sequence[str | None] | Mapping[Any, Any]

# For each result, the length that each axis has; "" for one that depends on none.
Plan: TypeAlias = list[tuple[str, ...]]


class Padding(NamedTuple):
    """How the arguments of a call are padded."""

    axes: list[dict[int, str]]  # which lengths the axes of each leaf and mask have
    masks: list[str]  # the parameters that get one
    actual: Lengths
    sizes: Lengths  # the buckets


class Buckets:
    """What ``jit(buckets=..., bucket_axes=..., bucket_masks=...)`` says, and what follows for a call."""

    def __init__(
        self,
        name: str,
        parameters: list[inspect.Parameter] | None,
        buckets: Mapping[str, Sequence[int]],
        axes: Mapping[str, Axes] | None,
        masks: Mapping[str, str] | None,
    ) -> None:
        self._name = name
        self._buckets = LengthBuckets(name, buckets)
        self._axes = dict(axes or {})
        self.masks = dict(masks or {})
        known = {p.name for p in parameters or ()}
        for option, names in (("bucket_axes", self._axes), ("bucket_masks", self.masks)):
            for argument in names:
                if argument not in known:
                    raise ValueError(
                        f"jit: {option} names {argument!r}, but the parameters are {', '.join(sorted(known))}"
                    )
        unknown = set(self.masks.values()) - self._buckets.sizes.keys()
        if unknown:
            raise ValueError(f"jit: bucket_masks wants {', '.join(sorted(unknown))}, for which there are no buckets")
        if not self._axes:
            raise ValueError("jit: buckets need bucket_axes, which says what axes of what arguments have these lengths")

    # Before the call

    def pad(
        self, leaves: list[Any], places: list[tuple[str, tuple[Any, ...]]], padded: bool
    ) -> tuple[list[Any], Padding]:
        """The leaves of the arguments at ``places``, padded to the next sizes, and after them the masks.

        With ``padded=False`` they stay as they are: in a call inside another trace, and for the shapes of results.
        Raises ``ValueError`` where no size is large enough.
        """
        axes = [
            self._named(leaf, argument, path) if argument in self._axes else {}
            for leaf, (argument, path) in zip(leaves, places, strict=True)
        ]
        actual: Lengths = {}
        for leaf, named, (argument, path) in zip(leaves, axes, places, strict=True):
            if named:
                where = f"argument {argument}{trees.path_text(path)}"
                self._buckets.measure(actual, where, _shape(leaf), named.items())
        sizes = self._buckets.padded(actual) if padded else actual
        filled = [
            _pad(self._name, leaf, resized(_shape(leaf), named.items(), sizes)) if named else leaf
            for leaf, named in zip(leaves, axes, strict=True)
        ]
        masks = {parameter: bucket for parameter, bucket in self.masks.items() if bucket in actual}
        for bucket in masks.values():
            filled.append(np.arange(sizes[bucket]) < actual[bucket])
            axes.append({0: bucket})
        return filled, Padding(axes, list(masks), actual, sizes)

    def _named(self, leaf: Any, argument: str, path: tuple[Any, ...]) -> dict[int, str]:
        """Which axes of a leaf have lengths that there are buckets for."""
        axes = self._axes[argument]
        for key in path:
            if not _by_keys(axes):
                break
            axes = axes.get(getattr(key, "key", None), ())
        if _by_keys(axes):
            raise TypeError(f"{self._name}: argument {argument}{trees.path_text(path)} is no dict, as bucket_axes says")
        ndim = len(_shape(leaf))
        pairs = axes.items() if isinstance(axes, Mapping) else enumerate(axes)
        known = self._buckets.sizes
        return {axis % ndim if -ndim <= axis < 0 else axis: name for axis, name in pairs if name in known}

    # After the call

    def cut(self, arrays: Sequence[Array], padding: Padding, plan: Plan) -> Sequence[Array]:
        """The results of the padded call as those of the call itself."""
        missing = {bucket: padding.sizes[bucket] - length for bucket, length in padding.actual.items()}
        if not any(missing.values()):
            return arrays
        cut = []
        for array, names in zip(arrays, plan, strict=True):
            shape = tuple([n - missing.get(name, 0) for n, name in zip(array.shape, names, strict=True)])
            cut.append(_cut(self._name, array, shape))
        return cut

    def plan(self, padding: Padding, specs: Sequence[ArraySpec], trace: Callable[[list[ArraySpec]], Traced]) -> Plan:
        """Which axes of the results have which lengths: found by tracing at other lengths of the same buckets.

        ``trace(specs)`` traces the function for arguments of such specs. Raises ``ValueError`` for results that cannot
        be cut back.
        """

        def shapes(lengths: Lengths) -> list[tuple[int, ...]]:
            given = list(specs)
            for place, (spec, axes) in enumerate(zip(specs, padding.axes, strict=False)):
                given[place] = array_spec(
                    resized(spec.shape, axes.items(), lengths), spec.dtype, spec.device, spec.weak
                )
            return [node.shape for node in trace(given).outputs]

        full = shapes(padding.sizes)
        names: list[list[str]] = [[""] * len(shape) for shape in full]
        for bucket, size in padding.sizes.items():
            low = self._buckets.shortest(bucket, size)
            for length in {low, (low + size) // 2} - {size}:
                changed = shapes({**padding.sizes, bucket: length})
                for place, (now, then) in enumerate(zip(full, changed, strict=True)):
                    for axis, (n, m) in enumerate(zip(now, then, strict=True)):
                        if n == m and names[place][axis] != bucket:
                            continue
                        if n - m != size - length or names[place][axis] not in ("", bucket):
                            raise ValueError(
                                f"{self._name}: result number {place} has length {n} along axis {axis} where "
                                f"{bucket!r} is {size}, and {m} where it is {length}. Only axes that are as long as "
                                f"{bucket!r}, or longer or shorter by a constant, can be cut back; return the array "
                                "before it is reshaped, or without a bucket"
                            )
                        names[place][axis] = bucket
        return [tuple(axes) for axes in names]


def _by_keys(axes: Axes) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(axes, Mapping) and any(isinstance(key, str) for key in axes)


def _shape(leaf: Any) -> tuple[int, ...]:
    return leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)


def _pad(name: str, leaf: Any, padded: tuple[int, ...]) -> Any:
    if isinstance(leaf, ShapeDtype):
        return ShapeDtype(padded, leaf.dtype)
    array = leaf if isinstance(leaf, Array) else as_array(name, leaf)
    if array.shape == padded:
        return array

    def copy(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        result = empty_aligned(padded, value.dtype)
        pad_into(result, value)
        return result

    return _on_host(f"{name} (padding)", copy, array, padded)


def _cut(name: str, array: Array, shape: tuple[int, ...]) -> Array:
    if array.shape == shape:
        return array
    region = tuple(map(slice, shape))

    def copy(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        result = empty_aligned(shape, value.dtype)
        result[...] = value[region]
        return result

    return _on_host(f"{name} (cutting)", copy, array, shape)


def _on_host(
    name: str, function: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], array: Array, shape: tuple[int, ...]
) -> Array:
    program = host_program(name, function, (array._spec,), array_spec(shape, array.dtype, array.device))
    return enqueue(program, [array._operand(name)])[0]
