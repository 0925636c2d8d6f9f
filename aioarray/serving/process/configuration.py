"""The settings of a server, from where they are given: the command line, the environment, a file, in this order.

Needs none of the optional packages.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .settings import (
    MODEL_OPTIONS,
    OPTIONS,
    PREFIX,
    SERVER_OPTIONS,
    ConfigurationError,
    ModelChoice,
    ModelSettings,
    ServeSettings,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MODEL: Final = "model"  # in files and in the environment: what to serve
MODELS: Final = "models"  # in files: tables, each with a model and options of its own
CONFIG: Final = "config"
CHECK: Final = "--check"
# Variables that Kubernetes sets for every service, after its name.
OF_SERVICES: Final = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$")
# How like an option a variable is that is taken for a slip of the pen, of 1; others are somebody else's.
LIKE: Final = 0.75

Values = dict[str, Any]  # by names of options


@dataclass(slots=True)
class Given:
    """What one of the sources says."""

    values: Values = field(default_factory=dict)  # of the server, and of all models
    models: list[tuple[str, Values]] = field(default_factory=list)  # each with what is said of it alone
    config: str | None = None
    check: bool = False
    help: bool = False


def configure(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[ServeSettings, Given]:
    """The settings, and what the command line says. Raises ``ConfigurationError``, and ``OSError`` of a file."""
    typed = read_arguments(arguments)
    if typed.help:
        return ServeSettings(), typed
    around = read_environment(environment)
    path = typed.config or around.config
    file = Given() if path is None else read_file(Path(path))
    server = {name: value for name, value in _merged(file, around, typed).items() if name in SERVER_OPTIONS}
    named = next((given.models for given in (typed, around, file) if given.models), [])
    in_file = dict(file.models)
    everywhere = [_of_models(file.values), {}, _of_models(around.values), _of_models(typed.values), {}]
    models = []
    for model, values in named:
        # What a file says of this model is nearer to it than what the file says of all.
        everywhere[1] = in_file.get(model, {})
        everywhere[4] = values if typed.models else {}
        merged = {name: value for each in everywhere for name, value in each.items()}
        models.append(ModelChoice(model=model, settings=ModelSettings(**merged)))
    settings = ServeSettings(models=tuple(models), **server)
    _check(settings)
    return settings, typed


def _merged(*sources: Given) -> Values:
    return {name: value for source in sources for name, value in source.values.items()}


def _of_models(values: Values) -> Values:
    return {name: value for name, value in values.items() if name in MODEL_OPTIONS}


def _check(settings: ServeSettings) -> None:
    if not settings.models:
        raise ConfigurationError("no MODEL is named; `aioarray serve --help` tells what it can be")
    if settings.keyfile is not None and settings.certfile is None:
        raise ConfigurationError("--keyfile needs --certfile")


# The command line


def read_arguments(arguments: Sequence[str]) -> Given:
    """What the command line says. Options of models are those of the MODEL in front of them, or else of all."""
    given = Given()
    rest = list(reversed(arguments))
    while rest:
        word = rest.pop()
        if word in ("-h", "--help"):
            given.help = True
        elif word == CHECK:
            given.check = True
        elif word == "--":
            given.models += [(model, {}) for model in reversed(rest)]
            rest.clear()
        elif word.startswith("-") and word != "-":
            _read_option(given, word, rest)
        else:
            given.models.append((word, {}))
    return given


def _read_option(given: Given, word: str, rest: list[str]) -> None:
    flag, equals, text = word.partition("=")
    if flag == f"--{CONFIG}":
        given.config = text if equals else _next(flag, rest)
        return
    flags = {option.flag: option for option in OPTIONS.values()}
    negated = flag.startswith("--no-") and flags.get("--" + flag.removeprefix("--no-"))
    if negated and negated.kind is bool and not equals:
        given.values[negated.name] = False
        return
    option = flags.get(flag)
    if option is None:
        raise ConfigurationError(f"there is no option {flag}{_nearest(flag, [*flags, f'--{CONFIG}', CHECK])}")
    if option.kind is bool and not equals:
        value: Any = True
    else:
        value = option.of_text(text if equals else _next(flag, rest), flag)
    values = given.models[-1][1] if option.name in MODEL_OPTIONS and given.models else given.values
    values[option.name] = (*values.get(option.name, ()), value) if option.many else value


def _next(flag: str, rest: list[str]) -> str:
    if not rest:
        raise ConfigurationError(f"{flag} needs a value")
    return rest.pop()


# The environment


def read_environment(environment: Mapping[str, str]) -> Given:
    """What variables say. One that is nearly an option is an error: the slip may be in the name of the keys."""
    given = Given()
    variables = {option.variable: option for option in OPTIONS.values()}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or OF_SERVICES.search(name):
            continue
        option = variables.get(name)
        if name == f"{PREFIX}{CONFIG.upper()}":
            given.config = text
        elif name == f"{PREFIX}{MODEL.upper()}":
            given.models = [(model.strip(), {}) for model in text.split(",") if model.strip()]
        elif option is None:
            known = [each.removeprefix(PREFIX) for each in variables] + [CONFIG.upper(), MODEL.upper()]
            close = difflib.get_close_matches(name.removeprefix(PREFIX), known, 1, LIKE)
            if close:
                raise ConfigurationError(f"there is no variable {name}; did you mean {PREFIX}{close[0]}?")
        elif option.name == "port" and text.startswith(("tcp://", "udp://")):
            continue  # of a service of Kubernetes that is called aioarray
        else:
            given.values[option.name] = option.of_list(text, name)
            if option.many and not given.values[option.name]:
                raise ConfigurationError(f"{name} is set, and there is nothing in it; give it a value, or unset it")
    return given


# A file


def read_file(path: Path) -> Given:
    """What a file of TOML says: options by their names, and a table ``[[models]]`` for each model."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    given = Given()
    for name, value in content.items():
        if name == MODELS:
            given.models = _tables(path, value)
        elif name == MODEL:
            given.models += [(model, {}) for model in _names(path, value)]
        else:
            key = _known(name, OPTIONS, (MODEL, MODELS), str(path))
            given.values[key] = OPTIONS[key].of_file(value, f"{path}: {name}")
    return given


def _names(path: Path, value: Any) -> list[str]:
    models = value if isinstance(value, list) else [value]
    if not all(isinstance(model, str) for model in models):
        raise ConfigurationError(f"{path}: {MODEL} is {value!r}; it has to be a text, or a list of texts")
    return models


def _tables(path: Path, value: Any) -> list[tuple[str, Values]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise ConfigurationError(f"{path}: {MODELS} has to be tables, each below a line [[{MODELS}]]")
    found = []
    for table in value:
        if not isinstance(table.get(MODEL), str):
            raise ConfigurationError(f"{path}: a table [[{MODELS}]] needs a text {MODEL}")
        values = {}
        for name, each in table.items():
            if name != MODEL:
                key = _known(name, MODEL_OPTIONS, (MODEL,), f"{path}: [[{MODELS}]]")
                values[key] = MODEL_OPTIONS[key].of_file(each, f"{path}: [[{MODELS}]]: {name}")
        found.append((table[MODEL], values))
    return found


def _known(name: str, options: Mapping[str, Any], others: Iterable[str], source: str) -> str:
    key = name.replace("-", "_")
    if key not in options:
        known = [*(each.replace("_", "-") for each in options), *others]
        raise ConfigurationError(f"{source}: there is no option {name}{_nearest(name.replace('_', '-'), known)}")
    return key


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
