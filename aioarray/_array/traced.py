"""Arrays without a value: what a function that is being traced computes with.

A ``Recording`` belongs to one call of a Python function, on one thread; its ``TracedArray`` objects wrap nodes. Arrays
that the function closes over become further inputs, found by identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .._base import dtypes
from .._base.errors import TracedValueError
from .._dispatch.scalars import checked_scalar, is_scalar, scalar_dtypes
from .._engine import engine, location, origin
from .._graph import ArraySpec, Definition, Node, array_spec, constant, input_node
from .._ops._rules import digits, number
from .array import Array, ArrayLike, as_array
from .subscripts import MASK
from .tracing import tracing

if TYPE_CHECKING:
    from .._base.dtypes import DType, Scalar
    from .._engine import Pending
    from .._xla import Device
    from .tracing import Trace


class Recording:
    """The trace of one function, or of the body of one of its loops. One thread; ``with`` it, the function runs."""

    __slots__ = ("captured", "closed", "device", "inputs", "name", "parent")

    def __init__(self, name: str, device: Device) -> None:
        self.name = name
        self.device = device
        self.inputs: list[Node] = []
        # Arrays from outside, with the input that stands for each; by the identity of the Array, or of the node of a
        # traced one.
        self.captured: dict[int, tuple[Array, Node]] = {}
        self.closed = False
        self.parent: Trace[Array] | None = None

    def __enter__(self) -> Recording:
        self.parent = tracing.recording
        tracing.recording = self
        engine.scheduler.begin_trace()
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True
        tracing.recording = self.parent
        engine.scheduler.end_trace()

    def argument(self, spec: ArraySpec) -> TracedArray:
        """A traced array for an argument of the function."""
        node = input_node(spec)
        self.inputs.append(node)
        return TracedArray(self, number(node) if spec.weak else node)

    def call(self, definition: Definition[Any], arrays: tuple[ArrayLike | None, ...], static: tuple[Any, ...]) -> Any:
        """``definition`` on nodes: inlined into the recording."""
        output = definition(*self._nodes(definition.name, arrays), *static)
        if isinstance(output, (tuple, list)):
            return tuple(TracedArray(self, node) for node in output)
        return TracedArray(self, output)

    def _nodes(self, function: str, arrays: tuple[ArrayLike | None, ...]) -> list[Node | None]:
        nodes: list[Any] = [
            x if x is None or is_scalar(x) else self.node(function, x)  # numbers take the dtype of the others
            for x in arrays
        ]
        scalars = [x for x in nodes if is_scalar(x)]
        if scalars:
            found = iter(scalar_dtypes(function, scalars, [x.dtype for x in nodes if isinstance(x, Node)]))
            return [scalar_constant(x, next(found)) if is_scalar(x) else x for x in nodes]
        return nodes

    def traced(self, function: str, x: ArrayLike) -> TracedArray:
        """``x`` as a traced array of this recording."""
        return TracedArray(self, self.node(function, x))

    def number(self, value: Scalar) -> TracedArray:
        """A Python number as an array of no dimensions, weak in promotion."""
        rank = dtypes.scalar_rank(value)
        checked = checked_scalar(value, dtypes.default_for_rank(rank))
        return TracedArray(self, number(constant(np.asarray(checked, dtypes.widest_for_rank(rank)), weak=True)))

    def constant(self, value: np.ndarray, weak: bool = False) -> TracedArray:
        """A host value as a part of the recording; later changes of ``value`` are not seen."""
        return TracedArray(self, constant(np.array(value, dtypes.as_dtype(value.dtype)), weak))

    def node(self, function: str, x: ArrayLike) -> Node:
        """The node that stands for ``x`` in this recording."""
        if is_scalar(x):
            return scalar_constant(x, dtypes.default_for_rank(dtypes.scalar_rank(x)))
        array = as_array(function, x)
        key = id(array)
        if isinstance(array, TracedArray):
            if array._trace is self and not self.closed:
                return array._node
            self._check_enclosing(function, array._trace)
            # A copy, as `x[i] = v` might give that one another node.
            array = TracedArray(array._trace, digits(array._node))
            key = id(array._node)
        elif array.device != self.device:
            raise ValueError(
                f"{self.name}: uses an array on {array.device}, but runs on {self.device}; move it with to_device()"
            )
        found = self.captured.get(key)
        if found is None:
            found = self.captured[key] = (array, input_node(array._spec))
        return number(found[1]) if found[1].weak else found[1]

    def _check_enclosing(self, function: str, other: Recording) -> None:
        recording: Trace[Array] | None = None if self.closed else self.parent
        while recording is not None and recording is not other:
            recording = recording.parent
        if recording is None:
            raise TracedValueError(
                f"{function}: got an array traced by {other.name!r} outside of that call; a traced array has no "
                "value, so it must not be kept. Return it from the function instead of storing it"
            )


def scalar_constant(value: Scalar, dtype: DType) -> Node:
    """A Python number as a node of ``dtype``; ``OverflowError`` for integers that it does not hold."""
    return constant(np.asarray(checked_scalar(value, dtype)).astype(dtype), weak=True)


_REMEDY = (
    "Use aio.where or aio.lax.cond to choose by it, size= of aio.nonzero, aio.unique_values and the like or a static "
    "argument for what shapes depend on, or compute it outside"
)
_MASKED = (
    "Keep the shape with aio.where(mask, x, other), or make it known with x[aio.nonzero(mask, size=n, fill_value=0)]"
)


class TracedArray(Array):
    """Stands for a value inside a traced function: shape and dtype are known, the contents are not."""

    __slots__ = ("_node", "_trace")

    _trace: Recording  # type: ignore[misc]

    def __init__(self, trace: Recording, node: Node) -> None:
        super().__init__(array_spec(node.shape, node.dtype, trace.device, node.weak), None)
        self._trace = trace
        self._node = node

    def _no_value(self, what: str) -> NoReturn:
        where = origin()
        place = f" at {location(where)}" if where else ""
        if self._trace.closed:
            raise TracedValueError(
                f"{what}{place}: this array {self._spec} was kept from a call of {self._trace.name!r} in which it was "
                "traced, and never had a value; return it from the function instead of storing it"
            )
        raise TracedValueError(
            f"{what}{place}: inside {self._trace.name!r}, which is being traced, this array {self._spec} has no value "
            f"yet. {_MASKED if what == MASK else _REMEDY}"
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

    def __copy__(self) -> TracedArray:
        return TracedArray(self._trace, self._node)

    def _replace(self, other: Array) -> None:
        if self._trace is not tracing.recording:
            raise TracedValueError(
                f"update in place of an array of {self._trace.name!r} outside of it, or in the body of a loop or "
                "branch; there, make it a part of what the body takes and returns"
            )
        self._node = self._trace.node("setitem", other)
        self._spec = array_spec(self._node.shape, self._node.dtype, self._trace.device, self._node.weak)
