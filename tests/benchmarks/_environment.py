"""The environment that the benchmarks run in: the checkout's own requirements, and the libraries it is compared with.

It lies in the user's cache folder and is used again; the interpreter and jaxlib's version are part of its name, so that
the contenders always stand on the same jaxlib.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def cache_folder() -> Path:
    """Where environments are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "aioarray-benchmarks"


def requirements(torch: bool) -> list[str]:
    """What is installed: jax of the version that jaxlib has here or, where there is none, the newest allowed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    try:
        jaxlib = importlib.metadata.version("jaxlib")
    except importlib.metadata.PackageNotFoundError:
        wanted.append("jax")
    else:
        wanted += [f"jaxlib=={jaxlib}", f"jax<={jaxlib}"]
    wanted += [line for line in project["optional-dependencies"]["test"] if line.startswith("uvloop")]
    return [*wanted, "torch"] if torch else wanted


def environment(torch: bool) -> tuple[Path, list[str]]:
    """The interpreter of the environment, which is made if it is not there, and what could not be installed in it."""
    wanted = requirements(torch)
    digest = hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]
    folder = cache_folder() / f"python{sys.version_info[0]}.{sys.version_info[1]}-{digest}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    complete = folder / "complete"  # lists what could not be installed
    if not complete.exists():
        print(f"making an environment in {folder} ...", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        complete.write_text("\n".join(_install(python, wanted)), encoding="utf-8")
    return python, complete.read_text(encoding="utf-8").split("\n") if complete.stat().st_size else []


def _install(python: Path, wanted: list[str]) -> list[str]:
    """Install all; if that fails, what can be: jaxlib and our own requirements are needed, contenders are not."""
    if _pip(python, wanted):
        return []
    contenders = [line for line in wanted if line.startswith(("jax<", "jax>", "torch", "uvloop")) or line == "jax"]
    if not _pip(python, [line for line in wanted if line not in contenders]):
        raise SystemExit(f"the requirements of aioarray cannot be installed in {python.parent.parent}")
    return [line for line in contenders if not _pip(python, [line])]


def _pip(python: Path, wanted: list[str]) -> bool:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    return subprocess.run(command, stdout=sys.stderr).returncode == 0
