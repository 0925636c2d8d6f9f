"""From a Python function to a graph: the function runs once, on arrays without values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .._array import Recording
from .._xla import trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._array import Array
    from .._graph import ArraySpec, Node
    from .._xla import Device
    from .._xla.trees import TreeDef


class Traced(NamedTuple):
    """A function as nodes."""

    inputs: tuple[Node, ...]  # one for each argument, then one for each captured Array
    outputs: tuple[Node, ...]
    captured: tuple[Array, ...]  # what the function closes over
    structure: TreeDef  # of the result
    device: Device


def trace(
    name: str,
    function: Callable[[list[Any]], Any],
    specs: Sequence[ArraySpec],
    device: Device,
    known: Sequence[Array] = (),
) -> Traced:
    """The graph of ``function(arrays)``, where the arrays have ``specs``; it returns a tree of arrays.

    The last arrays are ``known``: the function finds these Arrays elsewhere, too.
    """
    with Recording(name, device) as recording:
        arguments = [recording.argument(spec) for spec in specs]
        for array, node in zip(known, recording.inputs[len(specs) - len(known) :], strict=True):
            recording.captured[id(array)] = array, node
        result = function(arguments)
        leaves, structure = trees.flatten(result)
        outputs = tuple([_output(recording, leaves, index, result) for index in range(len(leaves))])
    captured = list(recording.captured.values())[len(known) :]
    return Traced(
        (*recording.inputs, *[node for _, node in captured]),
        outputs,
        tuple([array for array, _ in captured]),
        structure,
        device,
    )


def _output(recording: Recording, leaves: list[Any], index: int, result: Any) -> Node:
    try:
        return recording.node(recording.name, leaves[index])
    except TypeError as error:
        place = trees.path_text(trees.paths(result)[index])
        raise type(error)(f"the result of {recording.name}, at result{place}: {error}") from None
