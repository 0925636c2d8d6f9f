"""Every option of ``aioarray serve``, declared once.

The command line, the reader of files, that of the environment and the table in the documentation are made of the
fields below. Needs none of the optional packages.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass
from typing import Any, Final

from ..http.limits import Limits

PREFIX: Final = "AIOARRAY_"
LIMITS: Final = Limits()  # whose defaults are the command line's, too


class ConfigurationError(ValueError):
    """An option that is not there, or has a value that it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: its name in Python, in files (``max-body`` too), on the command line and in the environment."""

    name: str
    kind: type  # str, int, float or bool; of each value where there are several
    many: bool
    default: Any
    help: str
    unit: str
    least: float
    most: float
    above: float  # which it must be more than
    choices: tuple[str, ...]
    variable: str
    separator: str  # between several values in the environment

    @property
    def flag(self) -> str:
        """As the command line has it."""
        return f"--{self.name.replace('_', '-')}"

    def of_text(self, text: str, source: str) -> Any:
        """The value that ``text`` stands for, on the command line or in the environment. ``ConfigurationError``."""
        if self.kind is bool:
            if text.lower() not in ("true", "false", "1", "0"):
                raise ConfigurationError(f"{source} is {text!r}; write true or false")
            return text.lower() in ("true", "1")
        if self.kind is str:
            return self.checked(text, source)
        try:
            value: Any = self.kind(text)
        except ValueError:
            raise ConfigurationError(f"{source} is {text!r}; it has to be {self._wanted}") from None
        return self.checked(value, source)

    def of_list(self, text: str, source: str) -> Any:
        """The same for the environment, where several values are in one text."""
        if not self.many:
            return self.of_text(text.strip(), source)
        # Spaces and line ends come from files and shells; none is part of a value.
        return tuple(self.of_text(part.strip(), source) for part in text.split(self.separator) if part.strip())

    def of_file(self, value: Any, source: str) -> Any:
        """The value that stands in a file. ``ConfigurationError``."""
        if self.many:
            values = value if isinstance(value, list) else [value]
            return tuple(self._of_type(each, source) for each in values)
        return self._of_type(value, source)

    def _of_type(self, value: Any, source: str) -> Any:
        right = type(value) is self.kind or (self.kind is float and type(value) is int)
        if not right:
            raise ConfigurationError(f"{source} is {value!r}; it has to be {self._wanted}")
        return self.checked(self.kind(value), source)

    def checked(self, value: Any, source: str) -> Any:
        """``value`` if it is allowed. ``ConfigurationError``."""
        if self.choices and value not in self.choices:
            raise ConfigurationError(f"{source} is {value!r}; it must be one of {', '.join(self.choices)}")
        if self.kind in (int, float):
            inside = self.least <= value <= self.most and value > self.above and math.isfinite(value)
            if not inside:
                raise ConfigurationError(f"{source} is {value}; it must be {self._range}")
        return value

    @property
    def _wanted(self) -> str:
        return {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[self.kind]

    @property
    def _range(self) -> str:
        if self.above > -math.inf:
            return f"above {self.above:g}"
        return f"at least {self.least:g}" if self.most == math.inf else f"from {self.least:g} to {self.most:g}"


def option(
    default: Any,
    help: str,
    *,
    unit: str = "",
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    choices: tuple[str, ...] = (),
    variable: str = "",
    separator: str = ",",
    secret: bool = False,
) -> Any:
    """A field that is an option; its name and its type are the field's."""
    metadata = {
        "help": help,
        "unit": unit,
        "least": least,
        "most": most,
        "above": above,
        "choices": choices,
        "variable": variable,
        "separator": separator,
    }
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


def options_of(settings: type) -> dict[str, Option]:
    """The options among the fields of ``settings``, by their names."""
    hints = typing.get_type_hints(settings)
    found = {}
    for field in dataclasses.fields(settings):
        if field.metadata:
            kind, many = _kind(hints[field.name])
            variable = field.metadata["variable"] or PREFIX + field.name.upper()
            values = {**field.metadata, "variable": variable}
            found[field.name] = Option(name=field.name, kind=kind, many=many, default=field.default, **values)
    return found


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of one value, and whether there may be several."""
    if isinstance(hint, types.UnionType):
        (hint,) = [part for part in typing.get_args(hint) if part is not type(None)]
    if typing.get_origin(hint) is tuple:
        return typing.get_args(hint)[0], True
    assert isinstance(hint, type)
    return hint, False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Options of a model. Behind a MODEL on the command line they are its own, in front of all of them every one's."""

    input: tuple[str, ...] = option(
        (), "an argument of the function, for one example, as in x:float32:3,4", unit="name:dtype:shape", separator=";"
    )
    buckets: tuple[str, ...] = option(
        (),
        "sizes that are compiled: of batches, as in 1,8,32, or of a named length, as in tokens=16,32,64",
        unit="sizes",
        separator=";",
    )
    max_delay: float | None = option(None, "how long a batch may wait for more requests", unit="seconds", least=0)
    max_queue: int | None = option(None, "how many rows may wait before requests are turned away", unit="rows", least=1)
    max_wait: float | None = option(None, "how long they may wait, by what batches take", unit="seconds", above=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model and its options."""

    model: str
    settings: ModelSettings = ModelSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """What a server is told. It goes to other processes."""

    models: tuple[ModelChoice, ...] = ()

    host: str = option("127.0.0.1", "address to listen at; the default is for this machine alone", unit="address")
    port: int = option(8000, "port to listen at; 0 takes a free one", least=0, most=65535)
    workers: int = option(1, "processes that share the address", least=1)

    timeout: float = option(LIMITS.timeout, "for a request", unit="seconds", above=0)
    max_body: int = option(LIMITS.max_body, "of a request", unit="bytes", least=1)
    max_json: int = option(LIMITS.max_json, "of the JSON in a request", unit="bytes", least=1)
    max_bytes: int = option(LIMITS.max_bytes, "of the bodies of all requests at once", unit="bytes", least=1)
    max_concurrency: int = option(LIMITS.max_concurrency, "requests at once", unit="requests", least=1)
    max_connections: int = option(4096, "connections at once", unit="connections", least=1)
    head_timeout: float = option(10.0, "for a request's head", unit="seconds", above=0)
    stuck_after: float = option(
        LIMITS.stuck_after, "a batch that runs for so long has the server count as dead", unit="seconds", above=0
    )
    lag_limit: float = option(
        LIMITS.lag_limit, "an event loop that is held up for so long is logged, with where", unit="seconds", above=0
    )

    api_key: tuple[str, ...] = option(
        (),
        "a key that clients have to send; better in the environment, where other users do not see it, or in a file",
        unit="key",
        variable=f"{PREFIX}API_KEYS",
        secret=True,
    )
    allowed_host: tuple[str, ...] = option(
        (),
        "a name that requests may be sent to; by default any, and for a server of this machine alone that has no keys "
        "its local ones",
        unit="name",
    )
    certfile: str | None = option(None, "serve HTTPS with the certificate in this PEM file", unit="file")
    keyfile: str | None = option(None, "... whose private key is in this one", unit="file")
    root_path: str = option("", "what a proxy in front takes off addresses, as in /models", unit="path")

    cache_dir: str | None = option(None, "keep compiled programs there for the next start", unit="folder")
    grace: int = option(30, "for accepted requests after SIGTERM", unit="seconds", least=0)
    log_level: str = option("warning", "what is logged", choices=("debug", "info", "warning", "error"))


SERVER_OPTIONS: Final = options_of(ServeSettings)
MODEL_OPTIONS: Final = options_of(ModelSettings)
OPTIONS: Final = {**SERVER_OPTIONS, **MODEL_OPTIONS}


def table() -> str:
    """All options, in Markdown."""
    rows = ["| option | in the environment | unit | default | |", "|---|---|---|---|---|"]
    for each in OPTIONS.values():
        given = "" if each.default in (None, (), "") else f"`{shown(each.default)}`"
        choices = f" ({', '.join(f'`{choice}`' for choice in each.choices)})" if each.choices else ""
        several = ", several times" if each.many else ""
        unit = each.unit + several
        rows.append(f"| `{each.flag}` | `{each.variable}` | {unit} | {given} | {each.help}{choices} |")
    return "\n".join(rows)


def shown(value: Any) -> str:
    """As files and command lines have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
