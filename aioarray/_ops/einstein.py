"""``einsum``: subscripts, read and carried out as contractions, two operands at a time."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._graph import Node, definition
from ._primitives import equal, iota, multiply, reshape, select, transpose
from ._rules import broadcast_to, convert, result_dtype
from .products import contract
from .statistical import any as _any
from .statistical import sum as _sum

if TYPE_CHECKING:
    from collections.abc import Sequence

# An operand under way: its node, and the label of each of its axes. The axes of "..." have labels of their own,
# negative numbers that count from the last.
_Labels = tuple[str | int, ...]


@definition
def einsum(*arguments: Any) -> Node:
    """``einsum(*operands, subscripts, precision)``, as NumPy's."""
    operands: tuple[Node, ...] = arguments[:-2]
    subscripts, precision = arguments[-2:]
    if not operands:
        raise ValueError("einsum: no operands given; it takes one for every term of the subscripts")
    shapes = [node.shape for node in operands]
    inputs, output = _parse(subscripts, shapes)
    dtype = result_dtype("einsum", *operands)
    lengths = _lengths(subscripts, shapes, inputs)
    terms = [_diagonals(convert(node, dtype), labels, lengths) for node, labels in zip(operands, inputs, strict=True)]
    order: list[tuple[int, ...]] = [(0, 1)]  # two operands leave no choice
    if len(terms) > 2:
        order, _ = _contraction_path([labels for _, labels in terms], output, lengths, "auto")
    for first, second in order if len(terms) > 1 else ():
        others = [term for i, term in enumerate(terms) if i not in (first, second)]
        needed = set(output).union(*(labels for _, labels in others))
        terms = [*others, _pair(terms[first], terms[second], needed, lengths, precision)]
    node, labels = _summed(terms[0], set(output))
    return transpose(node, tuple(labels.index(label) for label in output))


def _parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[_Labels], _Labels]:
    text = subscripts.replace(" ", "")
    if not re.fullmatch(r"(?:[A-Za-z]|\.\.\.|,)*(?:->(?:[A-Za-z]|\.\.\.)*)?", text):
        raise ValueError(
            f"einsum: subscripts {subscripts!r}; they are letters, ',', '...' and one '->', as in 'ij,jk->ik'"
        )
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: subscripts {subscripts!r} have {len(terms)} terms for {len(shapes)} operands")
    inputs = [_expand(subscripts, term, shape) for term, shape in zip(terms, shapes, strict=True)]
    hidden = tuple(sorted({label for labels in inputs for label in labels if isinstance(label, int)}))
    if arrow:
        output: _Labels = tuple(
            label for part in re.findall(r"\.\.\.|[A-Za-z]", right) for label in (hidden if part == "..." else (part,))
        )
    else:
        counts = Counter(label for labels in inputs for label in labels)
        once = sorted(label for label, count in counts.items() if isinstance(label, str) and count == 1)
        output = (*hidden, *once)
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not set(output) <= known:
        raise ValueError(f"einsum: the result of {subscripts!r} may name each label of the operands once, and no other")
    if hidden and not set(hidden) <= set(output):
        raise ValueError(f"einsum: subscripts {subscripts!r} have '...' on the left only; the result must have it too")
    return inputs, output


def _expand(subscripts: str, term: str, shape: tuple[int, ...]) -> _Labels:
    parts = re.findall(r"\.\.\.|[A-Za-z]", term)
    letters = len([part for part in parts if part != "..."])
    ellipses = len(parts) - letters
    if ellipses > 1 or letters > len(shape) or (not ellipses and letters != len(shape)):
        raise ValueError(f"einsum: the term {term!r} of {subscripts!r} does not fit an operand of shape {shape}")
    count = len(shape) - letters
    return tuple(label for part in parts for label in (range(-count, 0) if part == "..." else (part,)))


def _lengths(subscripts: str, shapes: Sequence[tuple[int, ...]], inputs: Sequence[_Labels]) -> dict[str | int, int]:
    lengths: dict[str | int, int] = {}
    for shape, labels in zip(shapes, inputs, strict=True):
        for label, n in zip(labels, shape, strict=True):
            known = lengths.setdefault(label, n)
            if known == 1:
                lengths[label] = n
            elif n not in (1, known):
                name = f"label {label!r}" if isinstance(label, str) else f"axis {label} of '...'"
                raise ValueError(
                    f"einsum: {name} of {subscripts!r} has lengths {known} and {n}; they must be equal or 1"
                )
    return lengths


def _diagonals(node: Node, labels: _Labels, lengths: dict[str | int, int]) -> tuple[Node, _Labels]:
    """Every label once: a label that an operand has twice takes the diagonal of these axes.

    An axis of length 1 that broadcasts is dropped, since it takes no part in the products.
    """
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    for label in repeated:
        node = broadcast_to(
            node, tuple(lengths[x] if x == label else n for x, n in zip(labels, node.shape, strict=True))
        )
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            on_diagonal = equal(iota(node.shape, dtypes.int64, first), iota(node.shape, dtypes.int64, second))
            node = _total(select(on_diagonal, node, 0), second)
            labels = labels[:second] + labels[second + 1 :]
    broadcast = [label for label, n in zip(labels, node.shape, strict=True) if n == 1 and lengths[label] != 1]
    if broadcast:
        node = reshape(node, tuple(n for label, n in zip(labels, node.shape, strict=True) if label not in broadcast))
        labels = tuple(label for label in labels if label not in broadcast)
    return node, labels


def _total(node: Node, *axes: int) -> Node:
    if node.dtype == dtypes.bool_:
        return _any(node, axes, False)
    return _sum(node, axes, node.dtype, False)


def _summed(term: tuple[Node, _Labels], needed: set[str | int]) -> tuple[Node, _Labels]:
    """Without the axes that nothing needs any more."""
    node, labels = term
    axes = tuple(axis for axis, label in enumerate(labels) if label not in needed)
    if not axes:
        return term
    return _total(node, *axes), tuple(label for label in labels if label in needed)


def path(subscripts: str, shapes: Sequence[tuple[int, ...]], optimize: Any) -> tuple[list[Any], str]:
    """The order of contractions in NumPy's form, and a description of it."""
    inputs, output = _parse(subscripts, shapes)
    lengths = _lengths(subscripts, shapes, inputs)
    if isinstance(optimize, (list, tuple)):
        optimize = [tuple(step) for step in optimize if not isinstance(step, str)]
    elif not optimize:
        optimize = [tuple(range(len(shapes)))]
    order, description = _contraction_path(inputs, output, lengths, "greedy" if optimize is True else optimize)
    return ["einsum_path", *order], str(description)


def _contraction_path(
    inputs: Sequence[_Labels], output: _Labels, lengths: dict[str | int, int], optimize: Any
) -> tuple[list[tuple[int, ...]], Any]:
    import opt_einsum

    # It wants a letter also for an axis of "...".
    spare = (letter for letter in map(opt_einsum.get_symbol, itertools.count()) if letter not in lengths)
    names = {label: label if isinstance(label, str) else next(spare) for label in lengths}
    terms = ["".join(names[label] for label in labels) for labels in inputs]
    text = f"{','.join(terms)}->{''.join(names[label] for label in output)}"
    sizes = [tuple(lengths[label] for label in labels) for labels in inputs]
    return opt_einsum.contract_path(text, *sizes, shapes=True, optimize=optimize)  # type: ignore[no-any-return]


def _pair(
    a: tuple[Node, _Labels],
    b: tuple[Node, _Labels],
    needed: set[str | int],
    lengths: dict[str | int, int],
    precision: str | None,
) -> tuple[Node, _Labels]:
    """The product of two operands, summed over the labels that only they have."""
    x, labels_x = _summed(a, needed | set(b[1]))
    y, labels_y = _summed(b, needed | set(labels_x))
    shared = [label for label in labels_x if label in labels_y]
    batch = [label for label in shared if label in needed]
    contracting = [label for label in shared if label not in needed]
    rest_x = [label for label in labels_x if label not in shared]
    rest_y = [label for label in labels_y if label not in shared]
    labels = (*batch, *rest_x, *rest_y)
    if not contracting:
        # Nothing is summed: a product of arrays, which XLA fuses with what is around it.
        shape = tuple(lengths[label] for label in labels)
        return multiply(_spread(x, labels_x, labels, shape), _spread(y, labels_y, labels, shape)), labels
    product = contract(
        x,
        y,
        (tuple(map(labels_x.index, contracting)), tuple(map(labels_y.index, contracting))),
        (tuple(map(labels_x.index, batch)), tuple(map(labels_y.index, batch))),
        precision,
    )
    return product, labels


def _spread(node: Node, labels: _Labels, target: _Labels, shape: tuple[int, ...]) -> Node:
    """``node`` with its axes in the order of ``target``, stretched along those that it has not."""
    present = [label for label in target if label in labels]
    node = transpose(node, tuple(labels.index(label) for label in present))
    lengths = dict(zip(present, node.shape, strict=True))
    return broadcast_to(reshape(node, tuple(lengths.get(label, 1) for label in target)), shape)
