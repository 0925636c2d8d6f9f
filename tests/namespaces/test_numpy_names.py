"""NUMPY.md: its lists and our public names together are all that the installed NumPy has, and nothing is in both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aioarray as aio

PAGE = Path(__file__).parents[2] / "NUMPY.md"
SPACES: dict[str, tuple[Any, Any]] = {
    "numpy": (np, aio),
    "numpy.linalg": (np.linalg, aio.linalg),
    "numpy.fft": (np.fft, aio.fft),
    "numpy.ndarray": (np.ndarray, aio.Array),
}


def left_out(space: str) -> list[str]:
    (section,) = re.findall(rf"^## {re.escape(space)}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ") and "| why |" not in line]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row[2])]


def public(space: Any) -> set[str]:
    # Array has names that only say what to write instead.
    return {name for name in getattr(space, "__all__", dir(space)) if not name.startswith("_") and hasattr(space, name)}


@pytest.mark.parametrize("space", SPACES)
def test_every_name_is_here_or_listed(space: str) -> None:
    theirs, ours = SPACES[space]
    listed = left_out(space)
    assert len(listed) == len(set(listed))
    assert sorted(public(theirs) - public(ours) - set(listed)) == []
    assert sorted(set(listed) & public(ours)) == []
