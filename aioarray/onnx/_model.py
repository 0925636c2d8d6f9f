"""``Model``: what ``load`` gives, to be called like a jitted function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import aioarray as aio

from ..errors import TracedValueError
from ._evaluate import Evaluation, NeedsValue, Segment, Splitting
from ._values import Tensor, as_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._graph import ValueInfo
    from ._read import Program


# Inputs by name whose values are a part of the program.
Known: TypeAlias = tuple[tuple[str, int], ...]


class Model:
    """A model from an ONNX file. Calling it does not block; its results are pending Arrays, known by shape and dtype.

    Made by ``load``. ``inputs`` and ``outputs`` are ``ValueInfo``, ``dimensions`` the names of lengths that may vary,
    ``opsets`` the versions of the operators by domain, ``metadata`` what the file says besides. It may be called
    inside ``aio.jit``. Any thread may use it.

    >>> import onnx
    >>> proto = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["": 17]>
    ...     double (float[n] x) => (float[n] y) { y = Add(x, x) }''')
    >>> model = await aio.onnx.load(proto)
    >>> model.inputs[0].shape
    ('n',)
    >>> await model([1.0, 2.0])
    Array([2., 4.], dtype=float32)
    """

    def __init__(self, program: Program, constants: Mapping[int, Mapping[str, Tensor]], precision: str | None) -> None:
        graph = program.graph
        self.name: str = graph.name or "model"
        self.doc: str = program.doc
        self.producer: str = program.producer
        self.opsets: dict[str, int] = dict(program.opsets)
        self.metadata: dict[str, str] = dict(program.metadata)
        # In old files constants are inputs too; those need not be given.
        self.inputs: tuple[ValueInfo, ...] = tuple(x for x in graph.inputs if x.name not in graph.constants)
        self.outputs: tuple[ValueInfo, ...] = graph.outputs
        self._optional = {x.name: x for x in graph.inputs if x.name in graph.constants}
        self._all = {x.name: x for x in graph.inputs}
        self._program, self._constants, self._precision = program, constants, precision
        names: dict[str, None] = {}
        for info in self.inputs:
            names.update(dict.fromkeys(n for n in info.shape or () if isinstance(n, str)))
        self.dimensions: tuple[str, ...] = tuple(names)
        self._segments: dict[Any, Segment] = {}  # of ``run``; entries are only added
        self._jit: Any = aio.jit(self._apply, static_argnames="known", name=self.name)

    def __repr__(self) -> str:
        return f"<ONNX model {self.name!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output, or a tuple of them, in one launch.

        Inputs are given by position or by name: Arrays, NumPy arrays or nested sequences of the dtype that the file
        says. An integer or boolean given as a Python number becomes a part of the program, so that shapes and
        branches may depend on it: there is another program for each. The first call with new shapes traces the model
        on this thread; ``compile`` does that off the loop. ``TypeError``, ``ValueError`` where inputs do not fit;
        ``TracedValueError`` if a shape depends on values, which ``run`` is for.
        """
        given, known = self._bind(args, kwargs)
        try:
            return self._result(self._jit(given, known))
        except NeedsValue as error:
            raise TracedValueError(f"{error}. Use `await model.run(...)`, which makes several programs of it") from None

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        """The output, or a tuple of them, of a model in which shapes may depend on values.

        It runs as several programs: up to an operator that has to know a value (``NonZero``, a ``Reshape`` to a shape
        that was computed), and on from there. Values are waited for on another thread, so no loop is held, and what it
        gives is ready. Inputs and errors as for a call.

        >>> import onnx
        >>> proto = onnx.parser.parse_model('''
        ...     <ir_version: 8, opset_import: ["": 17]>
        ...     places (float[n] x) => (int64[1, m] y) { y = NonZero(x) }''')
        >>> model = await aio.onnx.load(proto)
        >>> await model.run([0.0, 2.0, 3.0])
        Array([[1, 2]], dtype=int64)
        """
        given, known = self._bind(args, kwargs)
        return self._result(await aio.ready(await aio.run_sync(self._split, given, known)))

    def run_sync(self, *args: Any, **kwargs: Any) -> Any:
        """As ``run``; this thread is held until the output is there."""
        return self._result(aio.block_until_ready(self._split(*self._bind(args, kwargs))))

    async def compile(self, *args: Any, **dimensions: Any) -> None:
        """Trace and compile it for these lengths of its named dimensions, off the loop, so that no call has to wait.

        Inputs that calls will give as Python numbers are given here too. Instead of lengths there may be examples of
        all inputs, as a call takes them, or an ``aio.ShapeDtype`` for each. ``TypeError`` for a dimension that the
        model does not have, or one that is missing. Raises ``CompileError``.

        >>> import onnx
        >>> proto = onnx.parser.parse_model('''
        ...     <ir_version: 8, opset_import: ["": 17]>
        ...     double (float[n] x) => (float[n] y) { y = Add(x, x) }''')
        >>> model = await aio.onnx.load(proto)
        >>> await model.compile(n=3)
        """
        lowered = await aio.run_sync(lambda: self.lower(*args, **dimensions))
        await lowered.compile()

    def lower(self, *args: Any, **dimensions: Any) -> Any:
        """The program for these lengths of the named dimensions, not yet compiled; ``as_text()`` shows it.

        Arguments and errors as for ``compile`` and for a call.
        """
        if args:
            return self._lowered(*self._bind(args, dimensions))
        scalars = {x.name: x for x in self.inputs if x.name in dimensions and x.name not in self.dimensions}
        known = tuple((name, self._number(info, dimensions[name])) for name, info in scalars.items())
        unknown = dimensions.keys() - {*self.dimensions, *scalars}
        missing = [name for name in self.dimensions if name not in dimensions]
        if unknown or missing:
            raise TypeError(
                f"{self.name}: lengths given for {sorted(dimensions) or 'nothing'}; the model has the named dimensions "
                f"{', '.join(self.dimensions) or 'none'}, and needs all of them"
            )
        return self._lowered({x.name: self._shape(x, dimensions) for x in self.inputs if x.name not in scalars}, known)

    def _lowered(self, shapes: Mapping[str, Any], known: Known) -> Any:
        try:
            return self._jit.lower(shapes, known)
        except NeedsValue as error:
            raise TracedValueError(f"{error}. Use `await model.run(...)`, which makes several programs of it") from None

    def _shape(self, info: ValueInfo, dimensions: Mapping[str, int]) -> Any:
        lengths = [dimensions[n] if isinstance(n, str) else n for n in info.shape or ()]
        if info.shape is None or info.dtype is None or None in lengths:
            raise TypeError(
                f"{self.name}: the file does not name all lengths of {info.name!r}, which has the shape {info.shape}; "
                "call the model with an array instead"
            )
        return aio.ShapeDtype([n for n in lengths if n is not None], info.dtype)

    def _bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], Known]:
        """The inputs by name: Arrays, and those that become a part of the program."""
        names = [info.name for info in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"{self.name}: takes {len(names)} inputs, {', '.join(names)}; {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in self._all:
                raise TypeError(f"{self.name}: has no input {name!r}; it has {', '.join(self._all) or 'none'}")
            if name in given:
                raise TypeError(f"{self.name}: the input {name!r} was given twice")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: the inputs {', '.join(missing)} are missing")
        lengths: dict[str, tuple[int, str]] = {}
        arrays: dict[str, Any] = {}
        known: list[tuple[str, int]] = []
        for name, value in given.items():
            if isinstance(value, int):
                known.append((name, self._number(self._all[name], value)))
            else:
                arrays[name] = self._input(self._all[name], value, lengths)
        return arrays, tuple(known)

    def _number(self, info: ValueInfo, value: int) -> int:
        """A Python number for an input, which has to hold it."""
        if info.dtype is None or info.shape not in ((), (1,), None) or info.dtype.kind not in "iub":
            wanted = "none" if info.dtype is None else f"{info.dtype.name} of shape {info.shape}"
            raise TypeError(f"{self.name}: the input {info.name!r} is the number {value}; it takes {wanted}")
        np.asarray(value, info.dtype)  # OverflowError where it is out of range
        return value

    def _input(self, info: ValueInfo, value: Any, lengths: dict[str, tuple[int, str]]) -> Any:
        if info.dtype is None:
            # A sequence or an optional value.
            if value is None or isinstance(value, (list, tuple)):
                return None if value is None else [as_array(x) for x in value]
            return as_array(value)
        if not isinstance(value, (aio.Array, aio.ShapeDtype)):
            if hasattr(value, "dtype"):
                value = aio.asarray(value)
            else:
                value = aio.asarray(value, dtype=info.dtype)
        if value.dtype != info.dtype:
            raise TypeError(
                f"{self.name}: the input {info.name!r} has the dtype {value.dtype.name}; it takes {info.dtype.name}"
            )
        if info.shape is None:
            return value
        fits = len(info.shape) == len(value.shape)
        for length, wanted in zip(value.shape, info.shape, strict=fits):
            if isinstance(wanted, str):
                first = lengths.setdefault(wanted, (length, info.name))
                if first[0] != length:
                    raise ValueError(
                        f"{self.name}: {wanted!r} is {length} in input {info.name!r}, and {first[0]} in {first[1]!r}"
                    )
            elif wanted is not None and wanted != length:
                fits = False
        if not fits:
            raise ValueError(
                f"{self.name}: the input {info.name!r} has the shape {value.shape}; it takes "
                f"({', '.join('?' if n is None else str(n) for n in info.shape)})"
            )
        return value

    def _values(self, given: Mapping[str, Any], known: Known) -> list[Tensor]:
        values = dict(self._constants[id(self._program.graph)])
        values.update(given)
        for name, number in known:
            info = self._all[name]
            values[name] = np.full(info.shape or (), number, info.dtype)
        return [values[name] for name in self._all]

    def _apply(self, given: Mapping[str, Any], known: Known) -> tuple[Any, ...]:
        evaluation = Evaluation(self._program, self._constants, self._precision)
        return tuple(_output(x) for x in evaluation.graph(self._program.graph, self._values(given, known)))

    def _split(self, given: Mapping[str, Any], known: Known) -> tuple[Any, ...]:
        splitting = Splitting(self._program, self._constants, self._precision, self._segments)
        return tuple(_output(x) for x in splitting.graph(self._program.graph, self._values(given, known)))

    def _result(self, results: tuple[Any, ...]) -> Any:
        return results[0] if len(results) == 1 else results


def _output(x: Tensor) -> Any:
    if isinstance(x, (list, tuple)):
        return [_output(each) for each in x]
    if x is None:
        return None
    if isinstance(x, np.ndarray) and x.dtype == object:
        raise TypeError("the model gives texts, which Arrays do not have")
    return as_array(x)
