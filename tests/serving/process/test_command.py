"""The command line."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

import aioarray as aio
from aioarray.__main__ import main
from aioarray.serving.process import command
from aioarray.serving.process.settings import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["serve"], ["nothing"], ["serve", "minilm", "--workers", "0"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert aio.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("port", ["65536", "-1", "99999"])
def test_ports_that_are_none(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["serve", "nothing", "--port", port])
    assert caught.value.code == 2
    assert "--port" in capsys.readouterr().err


def test_a_cache_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert main(["serve", "nothing", "--port", "0", "--cache-dir", str(file)]) == 2
    assert str(file) in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", " ", ",", "\n"])
def test_keys_that_are_set_and_empty(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AIOARRAY_API_KEYS", text)
    with pytest.raises(SystemExit) as caught:
        main(["serve", "nothing", "--port", "0"])
    assert caught.value.code == 2
    assert "AIOARRAY_API_KEYS is set, and there is nothing in it" in capsys.readouterr().err
    monkeypatch.delenv("AIOARRAY_API_KEYS")
    assert main(["serve", "nothing", "--port", "0", "--api-key", " "]) == 2
    assert "there is no key" in capsys.readouterr().err


def test_keys_and_names_as_they_are_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIOARRAY_API_KEYS", " one,two\n")
    seen: list[Any] = []
    monkeypatch.setattr(command, "serve_here", lambda options, listener, say: seen.append(options) or 0)
    assert main(["serve", "nothing", "--port", "0"]) == 0
    assert seen[0].api_key == ("one", "two")
    assert seen[0].allowed_host == ()
    monkeypatch.delenv("AIOARRAY_API_KEYS")
    assert main(["serve", "nothing", "--port", "0"]) == 0
    assert seen[1].allowed_host == ("127.0.0.1", "localhost", "::1")


def test_a_server_that_is_open_to_all_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AIOARRAY_API_KEYS", raising=False)
    monkeypatch.setattr(command, "serve_here", lambda options, listener, say: 0)
    assert main(["serve", "nothing", "--host", "0.0.0.0", "--port", "0"]) == 0
    assert "anybody who reaches 0.0.0.0" in capsys.readouterr().err
    assert main(["serve", "nothing", "--host", "0.0.0.0", "--port", "0", "--api-key", "k"]) == 0
    assert capsys.readouterr().err == ""


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(option.flag in text for option in OPTIONS.values())


def test_check_says_all_that_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        wrong = ["--certfile", str(file), "--port", port]
        assert main(["serve", "--check", "tests.serving.clients:nothing", *wrong]) == 2
        text = capsys.readouterr().err
        assert "SSL" in text
        assert "nothing" in text
        assert f"127.0.0.1, port {port}" in text
        assert main(["serve", "--check", "tests.serving.clients:double", "--port", port]) == 1
    assert main(["serve", "--check", "tests.serving.clients:several", "--port", "0"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-4:] == ["affine, version 1", "affine, version 2", "letters, version 1", "nothing is wrong"]


def test_two_models_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--check", "tests.serving.clients:double", "tests.serving.clients:double"]) == 2
    assert "2 models are called double, version 1" in capsys.readouterr().err
