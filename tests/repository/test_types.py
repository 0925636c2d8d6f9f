"""The public API is completely typed, as pyright sees it in the installed package."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest


def installed() -> bool:
    try:
        distribution("aioarray")
    except PackageNotFoundError:
        return False
    return True


@pytest.mark.skipif(
    shutil.which("node") is None or importlib.util.find_spec("pyright") is None or not installed(),
    reason="takes pyright, node, and the package installed: pip install -e . pyright",
)
@pytest.mark.timeout(300)
def test_public_api_is_completely_typed(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pyright", "--outputjson", "--verifytypes", "aioarray", "--ignoreexternal"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)["typeCompleteness"]
    unknown = [symbol["name"] for symbol in report["symbols"] if symbol["isExported"] and not symbol["isTypeKnown"]]
    assert unknown == []
    assert report["completenessScore"] == 1
