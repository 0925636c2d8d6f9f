"""Arrays without a value: what a function that is being traced computes with.

A ``Recording`` belongs to one call of a Python function, on one thread; its ``TracedArray`` objects wrap nodes. Arrays that
the function closes over become further inputs, found by identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _dtypes
from ._array import Array, ArrayLike, as_array
from ._errors import TracedValueError
from ._graph import ArraySpec, Definition, Node, array_spec, constant, input_node
from ._operands import SCALARS

if TYPE_CHECKING:
    from ._engine import Pending
    from ._xla import Device


class Recording:
    """The trace of one function. One thread."""

    __slots__ = ("captured", "closed", "device", "inputs", "name")

    def __init__(self, name: str, device: Device) -> None:
        self.name = name
        self.device = device
        self.inputs: list[Node] = []
        # Arrays from outside, by identity, with the input that stands for each.
        self.captured: dict[int, tuple[Array, Node]] = {}
        self.closed = False

    def argument(self, spec: ArraySpec) -> TracedArray:
        """A traced array for an argument of the function."""
        node = input_node(spec)
        self.inputs.append(node)
        return TracedArray(self, node)

    def call(self, definition: Definition, arrays: tuple[ArrayLike | None, ...], static: tuple[Any, ...]) -> Any:
        """``definition`` on nodes: inlined into the recording."""
        nodes = [None if x is None else self.node(definition.name, x) for x in arrays]
        output = definition(*nodes, *static)
        if isinstance(output, (tuple, list)):
            return tuple(TracedArray(self, node) for node in output)
        return TracedArray(self, output)

    def node(self, function: str, x: ArrayLike) -> Node:
        """The node that stands for ``x`` in this recording."""
        if isinstance(x, TracedArray):
            if x._trace is not self or self.closed:
                raise TracedValueError(
                    f"{function}: got an array traced by {x._trace.name!r} outside of that call; a traced array has no "
                    "value, so it must not be kept. Return it from the function instead of storing it"
                )
            return x._node
        if isinstance(x, SCALARS) and not isinstance(x, np.generic):
            dtype = _dtypes.default_for_rank(_dtypes.scalar_rank(x))
            return constant(np.asarray(x).astype(dtype), weak=True)
        array = as_array(function, x)
        found = self.captured.get(id(array))
        if found is None:
            if array.device != self.device:
                raise ValueError(
                    f"{self.name}: uses an array on {array.device}, but runs on {self.device}; move it with to_device()"
                )
            found = self.captured[id(array)] = (array, input_node(array._spec))
        return found[1]


class TracedArray(Array):
    """Stands for a value inside a traced function: shape and dtype are known, the contents are not."""

    __slots__ = ("_node", "_trace")

    _trace: Recording  # type: ignore[misc]

    def __init__(self, trace: Recording, node: Node) -> None:
        super().__init__(array_spec(node.shape, node.dtype, trace.device, node.weak), None)
        self._trace = trace
        self._node = node

    def _no_value(self, what: str) -> NoReturn:
        raise TracedValueError(
            f"{what}: inside {self._trace.name!r}, which is being traced, this array {self._spec} has no value yet. Use "
            "aio.where or aio.lax.cond to choose by it, a static argument for what shapes depend on, or compute it outside"
        )

    def _settle(self, what: str) -> Pending | None:
        self._no_value(what)

    def _failure(self) -> None:
        return None

    def _host_value(self, what: str) -> np.ndarray:
        self._no_value(what)

    def is_ready(self) -> bool:
        """False: it will never be ready."""
        return False

    def is_deleted(self) -> bool:
        """False: there is nothing to delete."""
        return False

    def delete(self) -> None:
        """``TracedValueError``: there is nothing to delete."""
        self._no_value("delete")

    def __repr__(self) -> str:
        return f"TracedArray(shape={self.shape}, dtype={self.dtype.name}, in {self._trace.name!r})"

    __str__ = __repr__

    def __copy__(self) -> Array:
        return TracedArray(self._trace, self._node)

    def _replace(self, other: Array) -> None:
        traced = other if isinstance(other, TracedArray) else TracedArray(self._trace, self._trace.node("setitem", other))
        self._node = traced._node
        self._spec = traced._spec
