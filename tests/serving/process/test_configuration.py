"""Options from the command line, the environment and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aioarray.serving.process.configuration import configure
from aioarray.serving.process.settings import (
    MODEL_OPTIONS,
    OPTIONS,
    ConfigurationError,
    ModelChoice,
    ModelSettings,
    ServeSettings,
    table,
)

ROOT = Path(__file__).resolve().parents[3]


def settings_of(*arguments: str, environment: dict[str, str] | None = None) -> ServeSettings:
    return configure(arguments, environment or {})[0]


def write(folder: Path, text: str) -> str:
    path = folder / "serve.toml"
    path.write_text(text)
    return str(path)


def test_defaults() -> None:
    assert settings_of("minilm") == ServeSettings(models=(ModelChoice(model="minilm"),))


def test_options_of_models_belong_to_the_model_in_front_of_them() -> None:
    arguments = ["--max-delay", "0.5", "--buckets=1,2", "a", "--buckets", "3", "--buckets", "4", "b", "--port", "0"]
    settings = settings_of(*arguments, "--max-delay", "0.25", "--", "--c")
    assert settings.port == 0
    assert settings.models == (
        ModelChoice(model="a", settings=ModelSettings(buckets=("3", "4"), max_delay=0.5)),
        ModelChoice(model="b", settings=ModelSettings(buckets=("1,2",), max_delay=0.25)),
        ModelChoice(model="--c", settings=ModelSettings(buckets=("1,2",), max_delay=0.5)),
    )


@pytest.mark.parametrize(
    ("places", "port"),
    [((), 8000), (("file",), 1), (("file", "environment"), 2), (("file", "environment", "command line"), 3)],
)
def test_precedence(places: tuple[str, ...], port: int, tmp_path: Path) -> None:
    path = write(tmp_path, "port = 1" if "file" in places else "")
    typed = ["--port", "3"] if "command line" in places else []
    environment = {"AIOARRAY_CONFIG": path, **({"AIOARRAY_PORT": "2"} if "environment" in places else {})}
    assert settings_of("m", *typed, environment=environment).port == port
    assert settings_of("m", *typed, "--config", path, environment={**environment, "AIOARRAY_CONFIG": "x"}).port == port


def test_every_option_is_had_everywhere(tmp_path: Path) -> None:
    """And comes to the same value from each place."""
    for option in OPTIONS.values():
        value: Any = {int: 7, float: 7.5, str: "x", bool: not option.default}[option.kind]
        if option.choices:
            value = option.choices[-1]
        text = str(value).lower() if option.kind is bool else str(value)
        typed = [f"{option.flag}={text}", "m"]
        in_file = f'"{value}"' if option.kind is str else text
        more = {"keyfile": "certfile"}.get(option.name)
        environment = {option.variable: text, **({OPTIONS[more].variable: "x"} if more else {})}
        path = write(tmp_path, f"{option.flag.lstrip('-')} = {in_file}\n" + (f'{more} = "x"\n' if more else ""))
        found = [
            settings_of(*typed, *(["--certfile", "x"] if more else [])),
            settings_of("m", environment=environment),
            settings_of("m", "--config", path),
        ]
        for settings in found:
            owner = settings.models[0].settings if option.name in MODEL_OPTIONS else settings
            assert getattr(owner, option.name) == ((value,) if option.many else value), option.name


def test_a_file_with_models(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        max_delay = 0.5
        api-key = ["one", "two"]
        [[models]]
        model = "a"
        max-delay = 1
        [[models]]
        model = "b"
        buckets = ["1,8", "tokens=16,32"]
        """,
    )
    settings = settings_of("--config", path)
    assert settings.api_key == ("one", "two")
    a, b = settings.models
    assert (a.model, a.settings.max_delay) == ("a", 1.0)
    assert (b.model, b.settings.max_delay, b.settings.buckets) == ("b", 0.5, ("1,8", "tokens=16,32"))
    # Models that are typed stand for those of the file, whose tables tell of them all the same.
    (a,) = settings_of("a", "--config", path, "--max-queue", "3").models
    assert a.settings == ModelSettings(max_delay=1.0, max_queue=3)
    environment = {"AIOARRAY_MODEL": "b, c", "AIOARRAY_MAX_DELAY": "0.125"}
    b, c = settings_of("--config", path, environment=environment).models
    assert b.settings == ModelSettings(max_delay=0.125, buckets=("1,8", "tokens=16,32"))
    assert c.settings == ModelSettings(max_delay=0.125)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no MODEL is named"),
        (("m", "--prot", "1"), "there is no option --prot; did you mean --port?"),
        (("m", "-p", "1"), "there is no option -p"),
        (("m", "--port"), "--port needs a value"),
        (("m", "--port", "x"), "--port is 'x'; it has to be a whole number"),
        (("m", "--port", "65536"), "--port is 65536; it must be from 0 to 65535"),
        (("m", "--workers", "0"), "--workers is 0; it must be at least 1"),
        (("m", "--timeout", "0"), "--timeout is 0.0; it must be above 0"),
        (("m", "--timeout", "nan"), "--timeout is nan; it must be above 0"),
        (("m", "--timeout", "inf"), "--timeout is inf; it must be above 0"),
        (("m", "--log-level", "loud"), "--log-level is 'loud'; it must be one of debug, info, warning, error"),
        (("m", "--keyfile", "k"), "--keyfile needs --certfile"),
    ],
)
def test_what_is_wrong_on_the_command_line(arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_of(*arguments)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prot = 1", "there is no option prot; did you mean port?"),
        ('port = "1"', "port is '1'; it has to be a whole number"),
        ("port = true", "port is True; it has to be a whole number"),
        ("port = 70000", "it must be from 0 to 65535"),
        ("port =", "serve.toml: "),
        ("[models]", "has to be tables"),
        ("[[models]]", "needs a text model"),
        ('[[models]]\nmodel = "m"\nbuckts = "1"', "[[models]]: there is no option buckts; did you mean buckets?"),
        ('[[models]]\nmodel = "m"\nport = 1', "[[models]]: there is no option port"),
        ("model = 1", "it has to be a text, or a list of texts"),
    ],
)
def test_what_is_wrong_in_a_file(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_of("m", "--config", write(tmp_path, text))
    assert reason in str(caught.value)
    with pytest.raises(FileNotFoundError):
        settings_of("m", "--config", str(tmp_path / "nothing"))


def test_the_environment() -> None:
    for name, text, reason in [
        ("AIOARRAY_API_KEY", "k", "did you mean AIOARRAY_API_KEYS?"),
        ("AIOARRAY_MAXBODY", "1", "did you mean AIOARRAY_MAX_BODY?"),
        ("AIOARRAY_PORT", "x", "AIOARRAY_PORT is 'x'"),
        ("AIOARRAY_API_KEYS", " , ", "there is nothing in it"),
    ]:
        with pytest.raises(ConfigurationError) as caught:
            settings_of("m", environment={name: text})
        assert reason in str(caught.value)
    others = {
        # What Kubernetes sets for a service that is called aioarray, and what is somebody else's.
        "AIOARRAY_PORT": "tcp://10.0.0.1:8000",
        "AIOARRAY_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "AIOARRAY_PORT_8000_TCP_ADDR": "10.0.0.1",
        "AIOARRAY_SERVICE_HOST": "10.0.0.1",
        "AIOARRAY_SERVICE_PORT": "8000",
        "AIOARRAY_SERVICE_PORT_HTTP": "8000",
        "AIOARRAY_STRICT_TIMINGS": "1",
        "PORT": "3",
    }
    assert settings_of("m", environment=others) == settings_of("m")
    lists = {"AIOARRAY_BUCKETS": "1,8; tokens=16", "AIOARRAY_ALLOWED_HOST": "a, b\n"}
    settings = settings_of("m", environment=lists)
    assert settings.models[0].settings.buckets == ("1,8", "tokens=16")
    assert settings.allowed_host == ("a", "b")


def test_keys_are_not_shown() -> None:
    assert "secret" not in repr(settings_of("m", "--api-key", "secret"))


def test_the_documentation_has_every_option() -> None:
    text = (ROOT / "aioarray" / "serving" / "OPTIONS.md").read_text(encoding="utf-8")
    assert table() in text, "write the table anew: python -m tests.serving.process.options"
