"""HTTPS, and addresses behind a proxy that takes a part off them."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from typing import TYPE_CHECKING

import pytest

from aioarray.__main__ import main
from tests.serving.clients import LOST, get, httpx, post, tensor
from tests.serving.processes import ServerProcess

if TYPE_CHECKING:
    from pathlib import Path

OPENSSL = shutil.which("openssl")
BODY = {"inputs": [tensor([1, 2, 3], (1, 3))]}


@pytest.mark.skipif(OPENSSL is None, reason="openssl, which makes a certificate, is not installed")
def test_https(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    assert OPENSSL is not None
    command = f"{OPENSSL} req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2"
    command += f" -addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}"
    subprocess.run(command.split(), check=True, capture_output=True)
    trusted = ssl.create_default_context(cafile=str(certificate))
    arguments = ("--certfile", str(certificate), "--keyfile", str(key))
    with ServerProcess("tests.serving.clients:double", *arguments) as server, httpx.Client(verify=trusted) as client:
        assert server.url.startswith("https://")
        for _ in range(3):
            answer = client.post(f"{server.url}/v2/models/double/infer", json=BODY, timeout=LOST)
            assert answer.json()["outputs"][0]["data"] == [2.0, 4.0, 6.0]
        # A head without end is refused here, too.
        assert client.get(f"{server.url}/v2", headers={"X": "a" * 100_000}, timeout=LOST).status_code == 431


def test_a_certificate_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("nothing")
    assert main(["serve", "nothing", "--port", "0", "--certfile", str(file)]) == 2
    assert "aioarray serve:" in capsys.readouterr().err


def test_addresses_behind_a_proxy() -> None:
    arguments = ("--root-path", "/models/", "--api-key", "secret")
    with ServerProcess("tests.serving.clients:double", *arguments) as server:
        assert get(f"{server.url}/livez").status_code == 200
        refused = post(f"{server.url}/v1/embeddings", json={})
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
        headers = {"X-API-Key": "secret"}
        answer = post(f"{server.url}/v2/models/double/infer", json=BODY, headers=headers)
        assert answer.status_code == 200
        assert get(f"{server.url}/openapi.json", headers=headers).json()["servers"] == [{"url": "/models"}]
