"""``fused``: a function written with public functions runs as one program."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np

from .._base.marks import mark
from .._engine import engine
from .._graph import Definition
from .array import Array, call
from .traced import Recording, TracedArray

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


@overload
def fused(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def fused(
    *, arrays: tuple[str, ...] = (), sequences: tuple[str, ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def fused(
    function: Callable[P, R] | None = None, /, *, arrays: tuple[str, ...] = (), sequences: tuple[str, ...] = ()
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function written with public functions run as one program.

    Its positional-only parameters are arrays, and those named in ``arrays``. In a parameter named in ``sequences`` a
    tuple or list stands for several arrays, elsewhere for one array of numbers. All others are static. It may return an
    array or a tuple of arrays.
    """
    if function is None:
        return lambda f: _fuse(f, arrays, frozenset(sequences))
    return _fuse(function, arrays, frozenset(sequences))


def _fuse(function: Callable[P, R], arrays: tuple[str, ...], sequences: frozenset[str]) -> Callable[P, R]:
    signature = inspect.signature(function)
    names = list(signature.parameters)
    dynamic = {
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY or name in arrays
    }
    definition = Definition(function.__name__, functools.partial(_body, function, names, dynamic))
    arguments_of = _binder(signature)
    dynamic_places = [place for place, name in enumerate(names) if name in dynamic]
    several = frozenset(place for place, name in enumerate(names) if name in sequences)
    static_places = [place for place, name in enumerate(names) if name not in dynamic]
    # What the arguments given by position are.
    kinds = [
        (_SEQUENCE if parameter.name in sequences else _ARRAY) if parameter.name in dynamic else _OPTION
        for parameter in signature.parameters.values()
        if parameter.kind in _BY_PLACE
    ]
    leading = next((place for place, kind in enumerate(kinds) if kind != _ARRAY), len(kinds))
    # What is made of the arguments below, by how they are given.
    seen: dict[Any, tuple[tuple[Any, ...], tuple[Any, Any, Any]]] = {}

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        given: tuple[Any, ...] = args
        key: Any = None
        operands: tuple[Any, ...] = given
        if len(given) <= leading and not [x for x in given if type(x) is not Array]:
            key = _keyword_key(len(given), kwargs) if kwargs else len(given)
        if key is None:
            key, operands = _key(kinds, dynamic, given, kwargs)
        if key is not None:
            found = seen.get(key)
            if found is not None:
                defaults, rest = found
                return call(definition, operands + defaults if defaults else operands, *rest)  # type: ignore[no-any-return]
        arguments = arguments_of(given, kwargs)
        values: list[Any] = []
        # How many array arguments each dynamic parameter stands for; None for one that is no sequence.
        counts: list[int | None] = []
        for place in dynamic_places:
            value = arguments[place]
            if place in several and isinstance(value, (tuple, list)):
                values.extend(value)
                counts.append(len(value))
            elif value is None:
                counts.append(_LEFT_OUT)
            else:
                values.append(value)
                counts.append(None)
        static: list[Any] = []
        marks: list[Any] = []
        for place in static_places:
            value = arguments[place]
            if isinstance(value, list):
                value = tuple(value)
            static.append(value)
            marks.append(mark(value))
        rest = tuple(counts), tuple(static), tuple(marks)
        if key is not None and len(seen) < _SEEN:
            seen[key] = tuple(values[len(operands) :]), rest
        return call(definition, tuple(values), *rest)  # type: ignore[no-any-return]

    return wrapper


# How many ways of giving arguments are kept for a function.
_SEEN = 64
# The count of a parameter that is None.
_LEFT_OUT = -1
_BY_PLACE = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
# What a parameter is.
_OPTION, _ARRAY, _SEQUENCE = range(3)
_ARRAYS = frozenset({Array, bool, int, float, np.ndarray})
# Options that are told apart by type and value.
_SIMPLE = frozenset({int, bool, str, type(None)})


def _key(
    kinds: list[int], dynamic: set[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...]]:
    """How arguments are given, None where that is not simple; and those that are arrays."""
    if len(args) > len(kinds):
        return None, ()
    marks: list[Any] = []
    operands: list[Any] = []
    for value, kind in zip(args, kinds, strict=False):
        given = type(value)
        if kind == _OPTION or value is None:
            option = _option_key(value)
            if option is None:
                return None, ()
            marks.append(option)
        elif given in _ARRAYS:
            operands.append(value)
            marks.append(Array)
        elif (
            kind == _SEQUENCE and (given is list or given is tuple) and not [x for x in value if type(x) not in _ARRAYS]
        ):
            operands.extend(value)
            marks.append(len(value))
        else:
            return None, ()
    for name, value in kwargs.items():
        option = None if name in dynamic else _option_key(value)
        if option is None:
            return None, ()
        marks.append((name, option))
    return tuple(marks), tuple(operands)


def _keyword_key(count: int, kwargs: dict[str, Any]) -> Any:
    """What ``_key`` gives, in less time, beside so many Arrays and nothing else by position."""
    kinds = tuple(map(type, kwargs.values()))
    return (count, *kwargs, *kwargs.values(), *kinds) if _SIMPLE.issuperset(kinds) else None


def _option_key(value: Any) -> Any:
    """The key of an option that is simple, or None."""
    kind = type(value)
    if kind in _SIMPLE:
        return kind, value
    if kind is tuple and not [x for x in value if type(x) is not int]:
        return value
    return None


def _binder(signature: inspect.Signature) -> Callable[[tuple[Any, ...], dict[str, Any]], list[Any]]:
    """What ``signature.bind`` with defaults does, as a list in the order of the parameters, in a tenth of its time."""
    parameters = list(signature.parameters.values())
    defaults = [parameter.default for parameter in parameters]
    places = {p.name: i for i, p in enumerate(parameters) if p.kind is not inspect.Parameter.POSITIONAL_ONLY}
    most = sum(parameter.kind is not inspect.Parameter.KEYWORD_ONLY for parameter in parameters)
    required = frozenset(i for i, default in enumerate(defaults) if default is inspect.Parameter.empty)
    least = sum(i < most for i in required)  # those without a default come first

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        given = len(args)
        arguments = [*args, *defaults[given:]]
        missing = given < least or len(required) > least
        for name, value in kwargs.items():
            place = places.get(name, -1)
            missing = missing or place < given
            arguments[place] = value
        if missing or given > most:  # perhaps, or what is wrong otherwise: this knows, and says so
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return list(bound.arguments.values())
        return arguments

    return bind


def _body(function: Callable[..., Any], names: list[str], dynamic: set[str], *arguments: Any) -> Any:
    *nodes, counts, static, _ = arguments
    recording = _recording(function.__name__)
    values = iter([TracedArray(recording, node) for node in nodes])
    sizes = iter(counts)
    constants = iter(static)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    parameters = inspect.signature(function).parameters
    for name in names:
        if name not in dynamic:
            value: Any = next(constants)
        else:
            size = next(sizes)
            if size == _LEFT_OUT:
                value = None
            else:
                value = next(values) if size is None else [next(values) for _ in range(size)]
        if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[name] = value
        else:
            positional.append(value)
    with recording:
        result = function(*positional, **keywords)
        several = isinstance(result, (tuple, list))
        outputs = [recording.node(recording.name, x) for x in (result if several else (result,))]
    if recording.captured:
        raise AssertionError(f"{function.__name__} closes over Arrays; it must take them as arguments")
    return tuple(outputs) if several else outputs[0]


def _recording(name: str) -> Recording:
    return Recording(name, engine.device())
