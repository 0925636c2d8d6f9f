"""Shape buckets: a few programs for any length, with inputs padded up to the next size and results cut back.

Padding and cutting are copies on the host, queued like launches: there is nothing to compile for each length.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._array import Array, as_array, enqueue, trees
from .._base.buckets import LengthBuckets, Lengths, pad_into, resized
from .._engine.host_program import host_program
from .._graph import array_spec
from .._xla import empty_aligned
from .shapes import ShapeDtype

if TYPE_CHECKING:
    from .tracing import Traced

# The names of axes, from the first on; or {axis: name}; or for a dict argument, such by its keys.
Axes: TypeAlias = Sequence[str | None] | Mapping[Any, Any]

# For each result, the length that each axis has; "" for one that depends on none.
Plan: TypeAlias = list[tuple[str, ...]]

# Plans for cutting are kept for so many combinations of shapes.
PLANS = 1024


class Padded(NamedTuple):
    """The arguments of a call, padded."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
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
        self._masks = dict(masks or {})
        self._positional = [
            p.name
            for p in parameters or ()
            if p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        ]
        known = {p.name for p in parameters or ()}
        for option, names in (("bucket_axes", self._axes), ("bucket_masks", self._masks)):
            for argument in names:
                if argument not in known:
                    raise ValueError(
                        f"jit: {option} names {argument!r}, but the parameters are {', '.join(sorted(known))}"
                    )
        unknown = set(self._masks.values()) - self._buckets.sizes.keys()
        if unknown:
            raise ValueError(f"jit: bucket_masks wants {', '.join(sorted(unknown))}, for which there are no buckets")
        if not self._axes:
            raise ValueError("jit: buckets need bucket_axes, which says what axes of what arguments have these lengths")
        self._plans: dict[Any, Plan] = {}  # any thread

    # Before the call

    def pad(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Padded:
        """The arguments padded to the next sizes, and masks added. ``ValueError`` where no size is large enough."""
        given = self._by_name(args, kwargs)
        actual = self._lengths(given)
        sizes = self._buckets.padded(actual)
        padded = {
            argument: _visit(value, self._axes[argument], lambda leaf, axes: _pad(self._name, leaf, axes, sizes))
            for argument, value in given.items()
        }
        return self._replaced(args, kwargs, padded, actual, sizes)

    def unpadded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Padded:
        """The arguments as they are, with masks: what a call inside another trace takes."""
        given = self._by_name(args, kwargs)
        actual = self._lengths(given)
        return self._replaced(args, kwargs, given, actual, actual)

    def _lengths(self, given: dict[str, Any]) -> Lengths:
        actual: Lengths = {}
        for argument, value in given.items():
            measure = functools.partial(self._measure, argument, actual)
            _visit(value, self._axes[argument], measure)
        return actual

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = {**dict(zip(self._positional, args, strict=False)), **kwargs}
        return {argument: given[argument] for argument in self._axes if argument in given}

    def _replaced(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], values: dict[str, Any], actual: Lengths, sizes: Lengths
    ) -> Padded:
        positional = list(args)
        keywords = dict(kwargs)
        for argument, value in values.items():
            if argument in keywords:
                keywords[argument] = value
            else:
                positional[self._positional.index(argument)] = value
        for argument, bucket in self._masks.items():
            if bucket in actual:
                keywords[argument] = np.arange(sizes[bucket]) < actual[bucket]
        return Padded(tuple(positional), keywords, actual, sizes)

    def _measure(self, argument: str, actual: Lengths, leaf: Any, axes: dict[int, str]) -> Any:
        named = [(axis, bucket) for axis, bucket in axes.items() if bucket in self._buckets.sizes]
        self._buckets.measure(actual, f"argument {argument}", _shape(leaf), named)
        return leaf

    # After the call

    def plan(self, padded: Padded, key: Any, trace: Callable[[Padded], Traced]) -> Plan:
        """How the results of the padded call under ``key`` are cut. ``ValueError`` where that cannot be."""
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            found = self._plans[key] = self._make_plan(padded, trace)
        return found

    def cut(self, result: Any, padded: Padded, plan: Plan) -> Any:
        """The result of the padded call as that of the call itself."""
        missing = {bucket: padded.sizes[bucket] - length for bucket, length in padded.actual.items()}
        if not any(missing.values()):
            return result
        leaves, structure = trees.flatten(result)
        cut = []
        for array, names in zip(leaves, plan, strict=True):
            shape = tuple([n - missing.get(name, 0) for n, name in zip(array.shape, names, strict=True)])
            cut.append(_cut(self._name, array, shape))
        return structure.unflatten(cut)

    def _make_plan(self, padded: Padded, trace: Callable[[Padded], Traced]) -> Plan:
        """Find which axes of the results have which lengths: by tracing at other lengths of the same buckets."""
        lowest = {bucket: self._buckets.shortest(bucket, size) for bucket, size in padded.sizes.items()}
        full = _traced_shapes(trace, self._resized(padded, padded.sizes))
        names: list[list[str]] = [[""] * len(shape) for shape in full]
        for bucket, low in lowest.items():
            size = padded.sizes[bucket]
            for length in {low, (low + size) // 2} - {size}:
                shapes = _traced_shapes(trace, self._resized(padded, {**padded.sizes, bucket: length}))
                for place, (now, then) in enumerate(zip(full, shapes, strict=True)):
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

    def _resized(self, padded: Padded, lengths: Lengths) -> Padded:
        """The specs of the arguments at other lengths."""
        given = self._by_name(padded.args, padded.kwargs)
        values = {
            argument: _visit(value, self._axes[argument], lambda leaf, axes: _spec(leaf, axes, lengths))
            for argument, value in given.items()
        }
        return self._replaced(padded.args, padded.kwargs, values, lengths, lengths)


def _visit(value: Any, axes: Axes, function: Callable[[Any, dict[int, str]], Any]) -> Any:
    """``value`` with ``function(leaf, {axis: name})`` for each leaf that ``axes`` is about."""
    if isinstance(axes, Mapping) and any(isinstance(key, str) for key in axes):
        return {key: _visit(item, axes[key], function) if key in axes else item for key, item in value.items()}
    leaves, structure = trees.flatten(value)
    results = []
    for leaf in leaves:
        ndim = len(_shape(leaf))
        if isinstance(axes, Mapping):
            named = {axis % ndim if -ndim <= axis < 0 else axis: name for axis, name in axes.items()}
        else:
            named = {axis: name for axis, name in enumerate(axes) if name is not None}
        results.append(function(leaf, named))
    return structure.unflatten(results)


def _shape(leaf: Any) -> tuple[int, ...]:
    return leaf.shape if hasattr(leaf, "shape") else np.shape(leaf)


def _pad(name: str, leaf: Any, axes: dict[int, str], sizes: Lengths) -> Any:
    padded = resized(_shape(leaf), axes.items(), sizes)
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


def _spec(leaf: Any, axes: dict[int, str], lengths: Lengths) -> ShapeDtype:
    return ShapeDtype(resized(leaf.shape, axes.items(), lengths), leaf.dtype)


def _traced_shapes(trace: Callable[[Padded], Traced], padded: Padded) -> list[tuple[int, ...]]:
    return [node.shape for node in trace(padded).outputs]
