"""What the figures were measured on. Works without any of the contenders."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("jaxlib", "jax", "numpy", "torch", "uvloop")


def machine() -> dict[str, object]:
    """The computer."""
    return {
        "processor": _processor(),
        "cores": available_cores(),
        "memory": memory_bytes(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """The software: what is not installed is left out."""
    found = {"python": platform.python_version(), "aioarray": _revision()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_bytes() -> int:
    """The memory that the machine has, or that this container may use."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(text)) if text.isdigit() else total


def resident_bytes() -> int:
    """The memory that this process has now; Linux only."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _revision() -> str:
    """The version of the checkout and, in a git repository, its commit."""
    for line in (ROOT / "aioarray" / "__init__.py").read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__"):
            version = line.partition("=")[2].strip().strip('"')
    try:
        done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return version
    return f"{version} ({done.stdout.strip()})" if done.returncode == 0 else version
