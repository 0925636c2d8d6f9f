"""The broad benchmark has a row for every public function, and each row's call works."""

from __future__ import annotations

import pytest

import aioarray as aio
from tests.benchmarks._calls import SMALL, WITHOUT, Call, arguments, calls
from tests.benchmarks.breadth import contender, libraries

CALLS = calls()


@pytest.fixture(scope="module")
def variables() -> dict[str, object]:
    names = libraries()["aioarray"]
    return {**names, **arguments(SMALL, aio.asarray)}


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if SMALL in call.sizes])
def test_each_call_works(name: str, variables: dict[str, object]) -> None:
    aio.block_until_ready(eval(CALLS[name].code(), variables))


def test_what_has_no_row_is_public() -> None:
    public = {*aio.__all__, *aio.linalg.__all__, *aio.fft.__all__}
    assert set(WITHOUT) - {"priority"} <= public


def test_a_library_without_the_function_is_left_out() -> None:
    assert contender(Call("xp.no_such_function(a)"), SMALL, "numpy", {"xp": aio, "array": aio.asarray}) is None
