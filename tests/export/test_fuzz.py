"""Damaged files, a hundred of each kind; ``python -m tests.export.fuzz`` goes through many more of them."""

from __future__ import annotations

import collections
import os
import random
from pathlib import Path

import pytest

from aioarray.errors import FormatError
from aioarray.export import _container, _process
from tests.export import fuzz
from tests.support.damage import damaged


def test_damaged_descriptions_are_refused_or_read() -> None:
    outcomes: collections.Counter[str] = collections.Counter()
    files = fuzz.originals("jax.export")
    for number in range(5000):
        draw = random.Random(number)
        try:
            container = _container.decode(damaged(draw.choice(files), draw), "file")
        except FormatError:
            outcomes["refused"] += 1
        else:
            assert container.in_tree.count() == len(container.in_types)
            outcomes["read"] += 1
    assert outcomes["refused"] > 500
    assert outcomes["read"] > 500


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_damaged_files_are_refused_or_programs(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "SECONDS", 3.0)
    outcomes = fuzz.run(kind, 0, 25)
    assert outcomes.total() == 25
    assert outcomes["refused"] > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system copies no processes")
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_more_damaged_files(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "SECONDS", 3.0)
    monkeypatch.setattr(_process, "_PROGRAM", str(Path(fuzz.__file__).with_name("forking_reader.py")))
    outcomes = fuzz.run(kind, 25, 125)
    assert outcomes.total() == 100
    assert outcomes["refused"] > 40
