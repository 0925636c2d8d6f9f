"""Sequences and optional values: Python lists and None while a model is traced. Their positions have to be known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._registry import operator
from .._values import Tensor, axes_in_range, namespace
from .movement import pieces

if TYPE_CHECKING:
    from .._evaluate import Call


def _place(call: Call, position: Tensor, count: int) -> int:
    place = int(call.scalar(position, "the position in a sequence"))
    if not -count <= place <= count:
        raise ValueError(f"the position {place} in a sequence of {count}")
    return place + count if place < 0 else place


@operator("SequenceConstruct")
def sequence_construct(call: Call, *values: Tensor) -> Any:
    return list(values)


@operator("SequenceEmpty")
def sequence_empty(call: Call) -> Any:
    return []


@operator("SequenceAt")
def sequence_at(call: Call, sequence: list[Tensor], position: Tensor) -> Tensor:
    return sequence[_place(call, position, len(sequence))]


@operator("SequenceInsert")
def sequence_insert(call: Call, sequence: list[Tensor], value: Tensor, position: Tensor = None) -> Any:
    place = len(sequence) if position is None else _place(call, position, len(sequence))
    return [*sequence[:place], value, *sequence[place:]]


@operator("SequenceErase")
def sequence_erase(call: Call, sequence: list[Tensor], position: Tensor = None) -> Any:
    place = len(sequence) - 1 if position is None else _place(call, position, len(sequence))
    return [*sequence[:place], *sequence[place + 1 :]]


@operator("SequenceLength")
def sequence_length(call: Call, sequence: list[Tensor]) -> Tensor:
    return np.asarray(len(sequence), np.int64)


@operator("ConcatFromSequence")
def concat_from_sequence(call: Call, sequence: list[Tensor]) -> Tensor:
    axis = call.integer("axis")
    xp = namespace(*sequence)
    return xp.stack(sequence, axis=axis) if call.integer("new_axis", 0) else xp.concat(sequence, axis=axis)


@operator("SplitToSequence")
def split_to_sequence(call: Call, x: Tensor, lengths: Tensor = None) -> Any:
    axis = axes_in_range([call.integer("axis", 0)], x.ndim)[0]
    total = x.shape[axis]
    if lengths is None:
        parts = list(pieces(x, [1] * total, axis))
        return parts if call.integer("keepdims", 1) else [namespace(part).squeeze(part, axis=axis) for part in parts]
    value = call.host(lengths, "the lengths")
    if value.ndim == 0:
        each = int(value)
        if each < 1:
            raise ValueError(f"pieces of {each} elements")
        sizes = [min(each, total - start) for start in range(0, total, each)]
    else:
        sizes = value.tolist()
    return list(pieces(x, sizes, axis))


@operator("SequenceMap")
def sequence_map(call: Call, sequence: list[Tensor], *others: Any) -> tuple[Any, ...]:
    body = call.graph("body")
    columns: list[list[Tensor]] = [[] for _ in body.outputs]
    for place, value in enumerate(sequence):
        row = [value, *(other[place] if isinstance(other, list) else other for other in others)]
        results: list[Tensor] = call.evaluate(body, row)
        for column, result in zip(columns, results, strict=True):
            column.append(result)
    return tuple(columns)


@operator("Optional")
def optional(call: Call, value: Any = None) -> Any:
    return value


@operator("OptionalHasElement")
def optional_has_element(call: Call, value: Any = None) -> Tensor:
    return np.asarray(value is not None)


@operator("OptionalGetElement")
def optional_get_element(call: Call, value: Any) -> Any:
    if value is None:
        raise ValueError("an optional value that has no element")
    return value
