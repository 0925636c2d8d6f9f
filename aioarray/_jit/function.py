"""``jit``: the compiled function, and what a call of it does."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from .._array import Array, as_array, enqueue, tracing, trees
from .._base import config, dtypes
from .._base.errors import CompileBudgetError
from .._dispatch.launch import fast_entry, launch, launch_all
from .._dispatch.operands import common_device
from .._dispatch.programs import make_program
from .._dispatch.scalars import is_scalar, scalar_operand
from .._engine import engine
from .._engine.budget import exceeded
from .._graph import ArraySpec, Graph, array_spec
from .ahead import Compiled, Lowered
from .buckets import Axes, Buckets, Padded
from .donation import give_up
from .entries import Entry, differ_in_shape_alone, explain, leaf_names
from .objects import State, is_tree, state_of
from .shapes import ShapeDtype
from .signature import Names, Positions, argument_names, mark, parameters_of, select
from .tracing import Traced, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .._array import Trace
    from .._array.trees import TreeDef

P = ParamSpec("P")
R = TypeVar("R")

_scheduler = engine.scheduler


# A function called with so many shapes is told of once.
MANY_SHAPES: Final = 32


class Arguments(NamedTuple):
    """The arguments of one call, taken apart."""

    leaves: list[Any]  # of what is dynamic
    tree: Any  # that
    structure: TreeDef  # of that
    static: tuple[tuple[int | str, Any, Any], ...]
    instance: Any  # whose method it is, if that is no tree itself
    state: State | None
    plain: bool  # ``tree`` is the positional arguments, and these are all there is; otherwise it is (args, kwargs)


class JitFunction(Generic[P, R]):
    """A function that runs as one compiled program; made by ``jit``. Calls may be made on any thread."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        static_argnums: Positions,
        static_argnames: Names,
        donate_argnums: Positions,
        donate_argnames: Names,
        max_programs: int | None,
        buckets: Mapping[str, Sequence[int]] | None,
        bucket_axes: Mapping[str, Axes] | None,
        bucket_masks: Mapping[str, str] | None,
        name: str | None,
    ) -> None:
        # Where it is the method of an object: these classes have it. A static method has none.
        self._owners: tuple[type, ...] = ()
        self._binds = not isinstance(function, staticmethod)
        if isinstance(function, staticmethod):
            function = function.__func__
        if isinstance(function, classmethod):
            raise TypeError("jit: a classmethod cannot be called; write @classmethod above @aio.jit, not below it")
        if not callable(function):
            raise TypeError(f"jit: {function!r} cannot be called; it takes a function")
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(
                f"jit: {_name_of(function)} is a coroutine or generator function; jit takes a plain function, whose "
                "call gives pending Arrays that can be awaited"
            )
        functools.update_wrapper(self, function)
        self.name: str = name or _name_of(function)
        # Key -> entry: of all its programs, and of those that may be launched on the spot. The cache of programs, which
        # evicts from both, knows this function by these names.
        self.programs: dict[Any, Entry] = {}
        self.fast: dict[Any, Entry] = {}
        self._function = function
        self._parameters = parameters_of(function)
        self._static = select("static", self._parameters, static_argnums, static_argnames)
        self._donated = select("donate", self._parameters, donate_argnums, donate_argnames)
        both = (self._static.positions & self._donated.positions) or (self._static.names & self._donated.names)
        if both:
            raise ValueError(
                f"jit: {', '.join(map(str, sorted(both)))} of {self.name} is static and donated; a static argument has "
                "no memory to give up, so leave it out of one of them"
            )
        self._max_programs = max_programs
        self._built = 0  # programs, evicted ones too
        self._told = False  # that they are many
        # Replaced when there is a program, and so jaxlib has been loaded.
        self._flatten: Callable[[Any], tuple[list[Any], TreeDef]] = trees.flatten
        self._buckets: Buckets | None = None
        if buckets is not None:
            self._buckets = Buckets(self.name, self._parameters, buckets, bucket_axes, bucket_masks)
            both = self._donated.names & set(bucket_axes or {})
            if both:
                raise ValueError(f"jit: {', '.join(sorted(both))} is padded to buckets, so it cannot be donated")

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return Method(self, instance) if self._binds and instance is not None else self

    def __set_name__(self, owner: type, name: str) -> None:
        if self._binds:
            self._owners += (owner,)

    def bound(self, args: Any, instance: object) -> tuple[Any, object]:
        """``args`` and whose method it is, for ``B.f(instance, ...)`` too, which the first argument tells.

        An object that is a tree is an argument like any other, unless it is declared static; others are known by their
        state. So is the class of a class method, which Python passes like that.
        """
        if instance is None and args:
            first = args[0]
            if isinstance(first, self._owners) or (isinstance(first, type) and _has_method(first, self)):
                args, instance = args[1:], first
            else:
                return args, None
        elif instance is None:
            return args, None
        if 0 not in self._static.positions and is_tree(instance):
            return (instance, *args), None
        return (None, *args), instance

    def __repr__(self) -> str:
        return f"<jit of {self.name}>"

    # Calls

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs:
            return self._call(args, kwargs)  # type: ignore[no-any-return]
        # From here on, the fast path: see `launch`. It is written out, since each call more would be felt.
        leaves, structure = self._flatten(args)
        try:
            entry = self.fast[structure, tuple([x._spec for x in leaves])]
        except (KeyError, AttributeError):
            return self._call(args, kwargs)  # type: ignore[no-any-return]
        fast = entry.fast
        buffers = [x._buffer for x in leaves]
        if entry.captured:
            buffers += [x._buffer for x in entry.captured]
        for buffer in buffers:
            if buffer is None:
                fast = None
        if fast is None or not _scheduler.open:
            return self._call(args, kwargs)  # type: ignore[no-any-return]
        if entry.leaf:
            return Array(fast.spec, launch(fast, buffers))  # type: ignore[return-value]
        return entry.structure.unflatten(map(Array, fast.program.out_specs, launch_all(fast, buffers)))  # type: ignore[no-any-return]

    def _call(self, args: Any, kwargs: Any, instance: object = None) -> Any:
        args, instance = self.bound(args, instance)
        recording = tracing.recording
        if self._buckets is not None:
            if recording is None:
                return self._call_padded(self._buckets, args, kwargs, instance)
            args, kwargs, _, _ = self._buckets.unpadded(args, kwargs)
        arguments = self._take_apart(args, kwargs, instance)
        arrays = self._arrays(arguments)
        if recording is not None:
            return self._inline(recording, arrays, arguments)
        return self._call_program(self._key(arguments, [x._spec for x in arrays]), arguments, arrays)

    def _call_padded(self, buckets: Buckets, args: Any, kwargs: Any, instance: object) -> Any:
        padded = buckets.pad(args, kwargs)
        arguments = self._take_apart(padded.args, padded.kwargs, instance)
        arrays = self._arrays(arguments)
        key = self._key(arguments, [x._spec for x in arrays])

        def trace(other: Padded) -> Traced:
            return self._trace_only(self._take_apart(other.args, other.kwargs, instance))

        plan = buckets.plan(padded, key, trace)
        return buckets.cut(self._call_program(key, arguments, arrays), padded, plan)

    def _call_program(self, key: tuple[Any, ...], arguments: Arguments, arrays: list[Array]) -> Any:
        entry = self.programs.get(key)
        if entry is None:
            entry = self._build(key, arguments, self._trace(key, arguments))
            self._tell_of_many_shapes(key)
        elif entry.program is not None:
            entry.program.used = True
        return self._run(entry, key, arrays)

    def _run(self, entry: Entry, key: tuple[Any, ...], arrays: list[Array]) -> Any:
        program = entry.program
        if program is None:
            return entry.result(())
        arrays += entry.captured
        operands = [x._operand(self.name) for x in arrays]
        if entry.donated:
            names = functools.partial(self._describe, key, entry)
            give_up(arrays, operands, entry.donated, names)
        results = enqueue(program, operands)
        if len(key) == 2 and not entry.donated:
            entry.fast = fast_entry(program)
            if entry.fast is None:
                self.fast.pop(key, None)
            else:
                self.fast[key] = entry
        for index in entry.donated:
            arrays[index].delete()
        return entry.result(results)

    # Ahead of time

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program for arguments of these shapes and dtypes (Arrays or ``aio.ShapeDtype``), not yet compiled.

        >>> lowered = aio.jit(lambda x: x + 1).lower(aio.ShapeDtype((2, 3), "float32"))
        >>> "stablehlo.add" in lowered.as_text()
        True
        """
        return self.lower_for(None, args, kwargs)

    async def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """Compile the program for arguments of these shapes and dtypes, off the loop, before a call has to wait for it.

        Raises ``CompileError``.

        >>> f = aio.jit(lambda x: x + 1)
        >>> compiled = await f.compile(aio.ShapeDtype((2, 3), "float32"))
        >>> compiled.cost().flops
        6.0
        """
        return await self.lower(*args, **kwargs).compile()

    def lower_for(self, instance: object, args: Any, kwargs: Any) -> Lowered:
        """``lower`` of a method of ``instance``, if that is not None."""
        args, owner = self.bound(args, instance)
        if self._buckets is not None:
            args, kwargs, _, _ = self._buckets.pad(args, kwargs)
        arguments = self._take_apart(args, kwargs, owner)
        key = self._key(arguments, self._specs(arguments))
        traced = self._trace(key, arguments)
        entry = self.programs.get(key)
        if entry is None:
            entry = self._build(key, arguments, traced)
        if entry.program is not None:
            entry.program.used = True
        call = functools.partial(self._call_compiled, entry, key, instance)
        return Lowered(self.name, Graph(self.name, traced.inputs, traced.outputs), entry.program, call)

    def _trace_only(self, arguments: Arguments) -> Traced:
        return self._trace(self._key(arguments, self._specs(arguments)), arguments)

    def _call_compiled(self, entry: Entry, key: tuple[Any, ...], instance: object, /, *args: Any, **kwargs: Any) -> Any:
        args, owner = self.bound(args, instance)
        arguments = self._take_apart(args, kwargs, owner)
        arrays = self._arrays(arguments)
        given = self._key(arguments, [x._spec for x in arrays])
        if given != key:
            raise TypeError(f"{self.name} was compiled for other arguments: {explain(self._parameters, given, [key])}")
        if entry.program is not None:
            entry.program.used = True
        return self._run(entry, key, arrays)

    # From the arguments to a key

    def _take_apart(self, args: Any, kwargs: Any, instance: object = None) -> Arguments:
        static: list[tuple[int | str, Any, Any]] = []
        if self._static:
            args, kwargs, static = self._split(args, kwargs, instance)
        state = None if instance is None else state_of(instance)
        plain = not kwargs and not static and state is None
        tree = args if plain else (args, kwargs)
        leaves, structure = trees.flatten(tree)
        return Arguments(leaves, tree, structure, tuple(static), instance, state, plain)

    def _split(self, args: Any, kwargs: Any, instance: object) -> tuple[Any, Any, list[tuple[int | str, Any, Any]]]:
        """The arguments with None in place of the static ones; and those."""
        static: list[tuple[int | str, Any, Any]] = []
        dynamic = list(args)
        for position in sorted(self._static.positions):
            if position == 0 and instance is not None:
                continue  # its state says all about it
            if position < len(args):
                static.append((position, args[position], mark(args[position])))
                dynamic[position] = None
        if kwargs:
            kwargs = dict(kwargs)
            for name in sorted(self._static.names & kwargs.keys()):
                value = kwargs.pop(name)
                static.append((name, value, mark(value)))
        for where, value, _ in static:
            if isinstance(value, Array):
                raise TypeError(
                    f"{self.name}: static argument {self._static_name(where)} is an Array, and a program cannot depend "
                    "on its value; leave it out of the static arguments, or pass int(array) or the like"
                )
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"{self.name}: static argument {self._static_name(where)} is a {type(value).__name__}, which "
                    "cannot be hashed; pass a tuple for a list, or leave it out of the static arguments"
                ) from None
        return tuple(dynamic), kwargs, static

    def _static_name(self, where: int | str) -> str:
        parameters = self._parameters or []
        return parameters[where].name if isinstance(where, int) and where < len(parameters) else repr(where)

    def _arrays(self, arguments: Arguments) -> list[Array]:
        """The leaves of the arguments as Arrays; Python numbers weak. Then the Arrays of the object."""
        arrays: list[Array] = []
        for index, leaf in enumerate(arguments.leaves):
            if isinstance(leaf, Array):
                arrays.append(leaf)
            elif is_scalar(leaf):
                arrays.append(_weak(leaf))
            elif isinstance(leaf, (np.ndarray, np.generic)):
                arrays.append(as_array(self.name, leaf))
            else:
                raise self._no_array(arguments, index)
        if arguments.state is not None:
            arrays += arguments.state.arrays
        return arrays

    def _specs(self, arguments: Arguments) -> list[ArraySpec]:
        """The specs of the arguments, among which there may be ``ShapeDtype``."""
        device = next((x.device for x in arguments.leaves if isinstance(x, Array)), None) or engine.device()
        specs: list[ArraySpec] = []
        for index, leaf in enumerate(arguments.leaves):
            if isinstance(leaf, Array):
                specs.append(leaf._spec)
            elif is_scalar(leaf):
                specs.append(array_spec((), dtypes.widest_for_rank(dtypes.scalar_rank(leaf)), device, True))
            elif isinstance(leaf, (ShapeDtype, np.ndarray, np.generic)):
                specs.append(array_spec(leaf.shape, dtypes.as_dtype(leaf.dtype), device))
            else:
                raise self._no_array(arguments, index)
        if arguments.state is not None:
            specs += [x._spec for x in arguments.state.arrays]
        return specs

    def _no_array(self, arguments: Arguments, index: int) -> TypeError:
        tree = (arguments.tree, {}) if arguments.plain else arguments.tree
        argument = argument_names(self._parameters, trees.paths(tree))[index]
        leaf = arguments.leaves[index]
        return TypeError(
            f"{self.name}: argument {argument} is a {type(leaf).__name__}, which is no array, number or tree of them; "
            "name it in static_argnames if the program may depend on its value"
        )

    def _key(self, arguments: Arguments, specs: Sequence[ArraySpec]) -> tuple[Any, ...]:
        key = arguments.structure, tuple(specs)
        if arguments.plain and not config.overridden():
            return key
        state = None if arguments.state is None else arguments.state.key
        structure = arguments.structure if not arguments.plain else trees.flatten((arguments.tree, {}))[1]
        defaults = config.current() if config.overridden() else None
        return structure, key[1], arguments.static, state, defaults

    # From a key to a program

    def _apply(self, arguments: Arguments, arrays: list[Any]) -> Any:
        """Call the function itself."""
        filled = arguments.structure.unflatten(arrays[: len(arguments.leaves)])
        args, kwargs = (filled, {}) if arguments.plain else filled
        if arguments.static or arguments.state is not None:
            args = list(args)
            if arguments.state is not None:
                args[0] = arguments.instance
            for where, value, _ in arguments.static:
                if isinstance(where, int):
                    args[where] = value
                else:
                    kwargs[where] = value
        return self._function(*args, **kwargs)

    def _inline(self, recording: Trace[Array], arrays: list[Array], arguments: Arguments) -> Any:
        """A call inside another trace: it becomes a part of that."""
        return self._apply(arguments, [recording.traced(self.name, x) for x in arrays[: len(arguments.leaves)]])

    def _trace(self, key: tuple[Any, ...], arguments: Arguments) -> Traced:
        specs = key[1]
        known = [] if arguments.state is None else arguments.state.arrays
        return trace(
            self.name, functools.partial(self._apply, arguments), specs, common_device(self.name, specs), known
        )

    def _build(self, key: tuple[Any, ...], arguments: Arguments, traced: Traced) -> Entry:
        if self._max_programs is not None and self._built >= self._max_programs:
            raise CompileBudgetError(
                f"{self.name} needs a new program, number {self._built + 1} under "
                f"jit(max_programs={self._max_programs}): {self._explain(key)}"
            )
        donated = self._donated_leaves(arguments)
        program = None
        if traced.outputs:
            program = make_program(
                self.name, traced.inputs, traced.outputs, traced.device, single=False, donated=frozenset(donated)
            )
        captured = () if program is None else traced.captured
        entry = Entry(program, captured, donated, traced.structure)
        added: Entry = engine.programs.add(entry, self, key, program, functools.partial(self._explain, key))
        self._built += added is entry
        self._flatten = trees.flattener()
        return added

    def _tell_of_many_shapes(self, key: tuple[Any, ...]) -> None:
        """Warn, once, where calls have made many programs that differ in shapes alone."""
        if self._told or self._buckets is not None or self._built % MANY_SHAPES:
            return
        alike = sum(1 for other in list(self.programs) if differ_in_shape_alone(other, key))
        if alike >= MANY_SHAPES:
            self._told = True
            exceeded(
                "warn",
                f"{self.name} has been compiled for {alike} shapes of its arguments, each of which takes time and "
                "memory: let jit pad them to a few sizes, jit(buckets=..., bucket_axes=...), or give it arguments of "
                "few shapes; jit(max_programs=...) makes it an error",
            )

    def _donated_leaves(self, arguments: Arguments) -> tuple[int, ...]:
        if not self._donated:
            return ()
        numbered = arguments.structure.unflatten(range(len(arguments.leaves)))
        args, kwargs = (numbered, {}) if arguments.plain else numbered
        given = [args[position] for position in self._donated.positions if position < len(args)]
        given += [kwargs[name] for name in self._donated.names if name in kwargs]
        return tuple(sorted(trees.flatten(given)[0]))

    def _explain(self, key: tuple[Any, ...]) -> str:
        return explain(self._parameters, key, list(self.programs))

    def _describe(self, key: tuple[Any, ...], entry: Entry, index: int) -> str:
        names = leaf_names(self._parameters, key)
        if index < len(names):
            return f"{self.name}: argument {names[index]}"
        return f"{self.name}: an Array that the function closes over"


class Method(Generic[P, R]):
    """A jitted function bound to an object: an argument like any other if it is a tree; otherwise its Arrays are."""

    __slots__ = ("_function", "_instance")

    def __init__(self, function: JitFunction[Any, R], instance: object) -> None:
        self._function = function
        self._instance = instance

    def __repr__(self) -> str:
        return f"<method {self._function!r}>"

    def _take_apart(self, args: Any, kwargs: Any) -> Arguments:
        args, instance = self._function.bound(args, self._instance)
        return self._function._take_apart(args, kwargs, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function._call(args, kwargs, self._instance)  # type: ignore[no-any-return]

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """As ``JitFunction.lower``."""
        return self._function.lower_for(self._instance, args, kwargs)

    async def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """As ``JitFunction.compile``."""
        return await self.lower(*args, **kwargs).compile()

    def _trace_only(self, arguments: Arguments) -> Traced:
        return self._function._trace_only(arguments)


def _has_method(cls: type, function: JitFunction[Any, Any]) -> bool:
    """Whether ``function`` is a class method of ``cls``."""
    held = (vars(base).get(_name_of(function)) for base in cls.__mro__)
    return any(isinstance(method, classmethod) and method.__func__ is function for method in held)


def _weak(value: Any) -> Array:
    if tracing.recording is not None:
        return tracing.recording.number(value)  # type: ignore[no-any-return]
    dtype = dtypes.widest_for_rank(dtypes.scalar_rank(value))
    return Array(*scalar_operand(value, dtype), True)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


@overload
def jit(
    function: Callable[P, R],
    /,
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    donate_argnums: Positions = None,
    donate_argnames: Names = None,
    max_programs: int | None = None,
    buckets: Mapping[str, Sequence[int]] | None = None,
    bucket_axes: Mapping[str, Axes] | None = None,
    bucket_masks: Mapping[str, str] | None = None,
    name: str | None = None,
) -> JitFunction[P, R]: ...
@overload
def jit(
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    donate_argnums: Positions = None,
    donate_argnames: Names = None,
    max_programs: int | None = None,
    buckets: Mapping[str, Sequence[int]] | None = None,
    bucket_axes: Mapping[str, Axes] | None = None,
    bucket_masks: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    function: Callable[P, R] | None = None,
    /,
    *,
    static_argnums: Positions = None,
    static_argnames: Names = None,
    donate_argnums: Positions = None,
    donate_argnames: Names = None,
    max_programs: int | None = None,
    buckets: Mapping[str, Sequence[int]] | None = None,
    bucket_axes: Mapping[str, Axes] | None = None,
    bucket_masks: Mapping[str, str] | None = None,
    name: str | None = None,
) -> JitFunction[P, R] | Callable[[Callable[P, R]], JitFunction[P, R]]:
    """Compile a function of Arrays, or of trees of them: each call runs as one program, and returns at once.

    The function is traced for each new combination of shapes, dtypes and static arguments, so it must be pure. Arrays
    that it closes over are passed along at each call. Python numbers are dynamic arguments, weak in promotion; static
    arguments, by position or name, are hashable. The memory of donated arguments goes to the results, and the Arrays
    are deleted. Raises ``TracedValueError`` at the call where the function needs a value, ``CompileBudgetError``
    instead of making more than ``max_programs`` programs.

    ``buckets`` names lengths and the sizes that programs are made for; ``bucket_axes`` says which axes of which
    arguments have these lengths: ``{"x": (None, "tokens")}`` for the second axis of ``x``. Arguments are padded with
    zeros to the next size, and results cut back. ``bucket_masks`` names parameters that get a boolean mask of what is
    no padding.

    >>> @aio.jit
    ... def step(weights, x):
    ...     return {"y": x @ weights["w"] + weights["b"]}
    >>> step({"w": aio.ones((2, 2)), "b": 1.0}, aio.ones(2))
    {'y': Array([3., 3.], dtype=float32)}
    >>> @aio.jit(buckets={"n": (4, 8)}, bucket_axes={"x": ("n",)}, bucket_masks={"mask": "n"})
    ... def mean(x, mask):
    ...     return aio.sum(x * mask) / aio.sum(mask, dtype=x.dtype)
    >>> mean(aio.asarray([1.0, 2.0, 6.0]))
    Array(3., dtype=float32)
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "max_programs": max_programs,
        "buckets": buckets,
        "bucket_axes": bucket_axes,
        "bucket_masks": bucket_masks,
        "name": name,
    }
    if function is None:
        return lambda f: JitFunction(f, **options)
    return JitFunction(function, **options)
