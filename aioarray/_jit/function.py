"""``jit``: the compiled function, and what a call of it does."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from .._array import Array, tracing
from .._dispatch.launch import launch, launch_all
from .._engine import engine
from .._graph import Graph
from .._xla import trees
from .ahead import Compiled, Lowered
from .arguments import Arguments, take_apart
from .buckets import Axes, Buckets
from .objects import is_tree, state_of
from .programs import Programs
from .signature import Names, Positions, Signature, parameters_of, select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .._xla.trees import TreeDef
    from .programs import Entry
    from .tracing import Traced

P = ParamSpec("P")
R = TypeVar("R")

_scheduler = engine.scheduler


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
        parameters = parameters_of(function)
        static = select("static", parameters, static_argnums, static_argnames)
        donated = select("donate", parameters, donate_argnums, donate_argnames)
        both = (static.positions & donated.positions) or (static.names & donated.names)
        if both:
            raise ValueError(
                f"jit: {', '.join(map(str, sorted(both)))} of {self.name} is static and donated; a static argument has "
                "no memory to give up, so leave it out of one of them"
            )
        padded = None
        if buckets is not None:
            padded = Buckets(self.name, parameters, buckets, bucket_axes, bucket_masks)
            both = donated.names & set(bucket_axes or {})
            if both:
                raise ValueError(f"jit: {', '.join(sorted(both))} is padded to buckets, so it cannot be donated")
        self._signature = Signature(self.name, parameters, static, donated, padded)
        self._function = function
        self._programs = Programs(function, self._signature, max_programs)
        self._fast = self._programs.fast
        # Replaced once jaxlib has been loaded.
        self._flatten: Callable[[Any], tuple[list[Any], TreeDef]] = trees.flatten

    @property
    def programs(self) -> dict[Any, Entry]:
        """What it has been compiled for."""
        return self._programs.programs

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
        if 0 not in self._signature.static.positions and is_tree(instance):
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
            entry = self._fast[structure, tuple([x._spec for x in leaves])]
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
        recording = tracing.recording
        arguments = self._arguments(args, kwargs, instance, padded=recording is None)
        if recording is not None:  # it becomes a part of that trace
            arrays = arguments.arrays[: arguments.of_call]
            return arguments.passed_to(self._function, [recording.traced(self.name, x) for x in arrays])
        self._flatten = trees.flattener()
        return self._programs.run_for(arguments)

    def _arguments(self, args: Any, kwargs: Any, instance: object, **options: bool) -> Arguments:
        args, instance = self.bound(args, instance)
        return take_apart(self._signature, args, kwargs, None if instance is None else state_of(instance), **options)

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
        arguments = self._arguments(args, kwargs, instance, shapes_alone=True)
        traced = self._programs.trace(arguments)
        entry = self.programs.get(arguments.key) or self._programs.build(arguments, traced)
        entry.mark_used()
        call = functools.partial(self._call_compiled, entry, arguments.key, instance)
        return Lowered(self.name, Graph(self.name, traced.inputs, traced.outputs), entry.program, call)

    def _call_compiled(self, entry: Entry, key: tuple[Any, ...], instance: object, /, *args: Any, **kwargs: Any) -> Any:
        arguments = self._arguments(args, kwargs, instance)
        self._programs.check_same(arguments, key)
        entry.mark_used()
        return self._programs.run_entry(entry, arguments)

    def trace(self, args: Any, kwargs: Any, instance: object = None) -> Traced:
        """The function as nodes, for arguments of these shapes."""
        return self._programs.trace(self._arguments(args, kwargs, instance, padded=False, shapes_alone=True))


class Method(Generic[P, R]):
    """A jitted function bound to an object: an argument like any other if it is a tree; otherwise its Arrays are."""

    __slots__ = ("_function", "_instance")

    def __init__(self, function: JitFunction[Any, R], instance: object) -> None:
        self._function = function
        self._instance = instance

    def __repr__(self) -> str:
        return f"<method {self._function!r}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function._call(args, kwargs, self._instance)  # type: ignore[no-any-return]

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """As ``JitFunction.lower``."""
        return self._function.lower_for(self._instance, args, kwargs)

    async def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """As ``JitFunction.compile``."""
        return await self.lower(*args, **kwargs).compile()

    def trace(self, args: Any, kwargs: Any) -> Traced:
        """As ``JitFunction.trace``."""
        return self._function.trace(args, kwargs, self._instance)


def _has_method(cls: type, function: JitFunction[Any, Any]) -> bool:
    """Whether ``function`` is a class method of ``cls``."""
    held = (vars(base).get(_name_of(function)) for base in cls.__mro__)
    return any(isinstance(method, classmethod) and method.__func__ is function for method in held)


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
