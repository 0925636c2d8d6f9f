"""Damaged files, a few hundred of each kind; ``python -m tests.io.fuzz`` goes through many more of them."""

from __future__ import annotations

import pytest

from tests.io import fuzz


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_damaged_files_are_refused_or_read(kind: str) -> None:
    outcomes = fuzz.run(kind, 0, 400)
    assert outcomes.total() == 400
    assert outcomes["refused"] > 100
    assert outcomes["read"] > 5
