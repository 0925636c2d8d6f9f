"""``fused``: a function written with public functions runs as one program."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

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
    # What is made of the arguments below, by those given by keyword, where the others are exactly the dynamic ones.
    usual: dict[Any, tuple[Any, Any, Any]] = {}
    usual_count = len(dynamic_places) if dynamic_places == list(range(len(dynamic_places))) else -1

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        key = None
        given: tuple[Any, ...] = args
        if len(given) == usual_count and not [x for x in given if type(x) is not Array]:
            key = _key(kwargs) if kwargs else ()
            found = usual.get(key)
            if found is not None:
                return call(definition, given, *found)  # type: ignore[no-any-return]
        arguments = arguments_of(given, kwargs)
        values: list[Any] = []
        # How many array arguments each dynamic parameter stands for; None for one that is no sequence.
        counts: list[int | None] = []
        for place in dynamic_places:
            value = arguments[place]
            if place in several and isinstance(value, (tuple, list)):
                values.extend(value)
                counts.append(len(value))
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
            marks.append(_mark(value))
        rest = tuple(counts), tuple(static), tuple(marks)
        if key is not None and len(usual) < _USUAL:
            usual[key] = rest
        return call(definition, tuple(values), *rest)  # type: ignore[no-any-return]

    return wrapper


# How many combinations of static arguments are kept for a function.
_USUAL = 64


def _key(kwargs: dict[str, Any]) -> Any:
    """Keyword arguments that are few and simple, with what `_mark` tells apart; None of others."""
    values = tuple(kwargs.values())
    for value in values:
        kind = type(value)
        if kind is not int and kind is not bool and kind is not str and value is not None:
            return None
    return tuple(kwargs), values, tuple(map(type, values))


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
    values = iter([None if node is None else TracedArray(recording, node) for node in nodes])
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


def _mark(value: Any) -> Any:
    """What tells apart static values that are equal, but may mean different programs: 1 and True, 0.0 and -0.0."""
    kind = type(value)
    if kind is tuple:
        return tuple(_mark(item) for item in value)
    return (kind, str(value)) if kind is complex or (kind is float and value == 0.0) else kind


def _recording(name: str) -> Recording:
    return Recording(name, engine.device())
