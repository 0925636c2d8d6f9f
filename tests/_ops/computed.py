"""Results of the functions of one array, each compiled once for all tests that look at them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tests._ops.definitions import elementwise
from tests._ops.evaluate import evaluate
from tests._ops.numbers import special, spread


@cache
def _computed(name: str, dtype: str) -> tuple[np.ndarray, Any]:
    x = np.concatenate([special(dtype), spread(dtype, 1)])
    got = evaluate(getattr(elementwise, name), x)
    x.flags.writeable = False
    return x, got


def on_special(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """``special(dtype)`` and what the function gives there."""
    x, got = _computed(name, dtype)
    count = special(dtype).size
    return x[:count], got[:count]


def on_spread(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all magnitudes and what the function gives there."""
    x, got = _computed(name, dtype)
    count = special(dtype).size
    return x[count:], got[count:]
