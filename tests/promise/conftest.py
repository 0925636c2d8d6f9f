"""Every test here begins with a device that has nothing to do: what another test left would be measured too."""

from __future__ import annotations

import gc

import pytest

from tests.promise.work import idle


@pytest.fixture(autouse=True)
def _idle_device() -> None:
    gc.collect()
    idle()
