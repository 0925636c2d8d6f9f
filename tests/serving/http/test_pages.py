"""The pages in a real browser: their scripts run, show what the server tells, and break no policy."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.serving.clients import LOST, post, tensor
from tests.serving.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"), pytest.mark.timeout(400)]

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
]


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with ServerProcess("tests.serving.clients:several") as process:
        yield process


def render(address: str, folder: Path, width: int) -> str:
    """The page's elements after some seconds of its time, in a window of this width."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={folder}",
            f"--window-size={width},900",
            "--virtual-time-budget=6000",
            "--dump-dom",
            address,
        ],
        capture_output=True,
        text=True,
        timeout=LOST,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # What a script or the policy complains about is said on the console.
    assert not re.search(r"CONSOLE.*(Uncaught|Refused|violates)", done.stderr), done.stderr
    return done.stdout


@pytest.mark.parametrize("width", [1200, 500])
def test_state(server: ServerProcess, tmp_path: Path, width: int) -> None:
    for _ in range(3):
        body = {"inputs": [tensor([1, 2, 3], (1, 3))]}
        assert post(f"{server.url}/v2/models/affine/infer", json=body).status_code == 200
    page = render(f"{server.url}/", tmp_path, width)
    assert '<span id="state" class="state good">ready</span>' in page
    assert page.count('<section class="card">') == 4  # the models, and the loop's lag
    for text in ("affine", "version 2", "letters", "Loop lag, p99", "Batch sizes, in rows", "Event loop lag"):
        assert text in page
    assert "<svg" in page
    assert "<td>1</td>" in page
