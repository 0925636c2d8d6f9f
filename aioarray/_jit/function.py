"""``jit``: the compiled function, and what a call of it does."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from .. import _config, _dtypes, _trees
from .._array import Array, as_array, run
from .._engine import engine
from .._graph import ArraySpec, Definition
from .._operands import SCALARS, common_device, make_program, scalar_operand
from .._traced import TracedArray
from .signature import Names, Positions, argument_names, mark, parameters_of, select
from .tracing import trace

if TYPE_CHECKING:
    from .._engine import Program
    from .._trees import TreeDef

P = ParamSpec("P")
R = TypeVar("R")

_flatten = _trees.flatten
_scheduler = engine.scheduler


class Entry:
    """A program of a function, and what it takes besides the arguments and gives back."""

    __slots__ = ("captured", "program", "structure")

    def __init__(self, program: Program | None, captured: tuple[Array, ...], structure: TreeDef) -> None:
        self.program = program  # None if the function has no results
        self.captured = captured
        self.structure = structure


class JitFunction(Generic[P, R]):
    """A function that runs as one compiled program; made by ``jit``."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        static_argnums: Positions,
        static_argnames: Names,
        name: str | None,
    ) -> None:
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"jit: {_name_of(function)} is a coroutine or generator function; jit takes a plain function, whose call "
                "gives pending Arrays that can be awaited"
            )
        functools.update_wrapper(self, function)
        self._function = function
        self._name = name or _name_of(function)
        self._parameters = parameters_of(function)
        self._static = select("static", self._parameters, static_argnums, static_argnames)
        # Its programs, by the same keys as in ``entries``; what the engine evicts goes from both.
        self._definition = Definition(self._name, function)
        self._entries: dict[Any, Entry] = self._definition.fast  # type: ignore[assignment]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self._name}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        static: tuple[Any, ...] = ()
        dynamic: Any = args, kwargs
        if self._static:
            dynamic, static = self._split(args, kwargs)
        leaves, structure = _flatten(dynamic)
        arrays = self._arrays(leaves, dynamic)
        for x in arrays:
            if x._trace is not None:
                return self._inline(arrays, structure, static)
        key: Any = structure, tuple([x._spec for x in arrays]), static
        if _config.overridden():
            key = *key, _config.current()
        entry = self._entries.get(key)
        if entry is None:
            entry = self._build(key, structure, static)
        if entry.program is None:
            return entry.structure.unflatten(())  # type: ignore[no-any-return]
        entry.program.used = True
        results = run(entry.program, [*arrays, *entry.captured])
        return entry.structure.unflatten(results)  # type: ignore[no-any-return]

    def _split(self, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, ...]]:
        """The arguments with None in place of the static ones; and those."""
        positions, names = self._static.positions, self._static.names
        static: list[tuple[int | str, Any, Any]] = []
        dynamic = list(args)
        for position in positions:
            if position < len(args):
                static.append((position, args[position], mark(args[position])))
                dynamic[position] = None
        if kwargs:
            kwargs = dict(kwargs)
            for name in sorted(names & kwargs.keys()):
                static.append((name, kwargs[name], mark(kwargs[name])))
                del kwargs[name]
        for where, value, _ in static:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{self._name}: static argument {where!r} is a {type(value).__name__}, which cannot be hashed; pass a "
                    "tuple for a list, or leave it out of the static arguments"
                ) from None
        return (tuple(dynamic), kwargs), tuple(static)

    def _arrays(self, leaves: list[Any], dynamic: Any) -> list[Array]:
        """The leaves of the arguments as Arrays; Python numbers weak."""
        arrays: list[Array] = []
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, Array):
                arrays.append(leaf)
            elif isinstance(leaf, SCALARS) and not isinstance(leaf, np.generic):
                dtype = _dtypes.default_for_rank(_dtypes.scalar_rank(leaf))
                arrays.append(Array(*scalar_operand(leaf, dtype, engine.device()), None, True))
            elif isinstance(leaf, (np.ndarray, np.generic)):
                arrays.append(as_array(self._name, leaf))
            else:
                argument = argument_names(self._parameters, _trees.paths(dynamic))[index]
                raise TypeError(
                    f"{self._name}: argument {argument} is a {type(leaf).__name__}, which is no array, number or tree of "
                    "them; name it in static_argnames if the program may depend on its value"
                )
        return arrays

    def _apply(self, structure: TreeDef, static: tuple[Any, ...], arrays: list[Any]) -> Any:
        """Call the function itself."""
        args, kwargs = structure.unflatten(arrays)
        if static:
            args = list(args)
            for where, value, _ in static:
                if isinstance(where, int):
                    args[where] = value
                else:
                    kwargs[where] = value
        return self._function(*args, **kwargs)

    def _inline(self, arrays: list[Array], structure: TreeDef, static: tuple[Any, ...]) -> R:
        """A call inside another trace: it becomes a part of that."""
        recording = next(x._trace for x in arrays if isinstance(x, TracedArray))
        traced = [TracedArray(recording, recording.node(self._name, x)) for x in arrays]
        return self._apply(structure, static, traced)  # type: ignore[no-any-return]

    def _build(self, key: Any, structure: TreeDef, static: tuple[Any, ...]) -> Entry:
        specs: tuple[ArraySpec, ...] = key[1]
        device = common_device(self._name, specs)
        traced = trace(self._name, functools.partial(self._apply, structure, static), specs, device)
        if not traced.outputs:
            return Entry(None, (), traced.structure)
        program = make_program(self._name, traced.inputs, traced.outputs, device, single=False)
        program = engine.programs.add(program, self._definition, key)
        return self._entries.setdefault(key, Entry(program, traced.captured, traced.structure))


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


@overload
def jit(
    function: Callable[P, R],
    /,
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    name: str | None = None,
) -> JitFunction[P, R]: ...
@overload
def jit(
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    name: str | None = None,
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    name: str | None = None,
) -> JitFunction[P, R] | Callable[[Callable[P, R]], JitFunction[P, R]]:
    """Compile a function of Arrays, or of trees of them: each call runs as one program, and returns at once.

    The function is traced for each new combination of shapes, dtypes and static arguments; it must be pure. Arrays that it
    closes over are passed along at each call. Python numbers are dynamic arguments, weak in promotion.

    >>> @aio.jit
    ... def step(weights, x):
    ...     return {"y": x @ weights["w"] + weights["b"]}
    >>> step({"w": aio.ones((2, 2)), "b": 1.0}, aio.ones(2))
    {'y': Array([3., 3.], dtype=float32)}
    """
    if function is None:
        return lambda f: jit(f, static_argnums=static_argnums, static_argnames=static_argnames, name=name)
    return JitFunction(function, static_argnums=static_argnums, static_argnames=static_argnames, name=name)
