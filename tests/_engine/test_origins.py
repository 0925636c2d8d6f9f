"""asyncio's debug mode has the stack kept by which work was enqueued."""

from __future__ import annotations

import asyncio

import pytest

import aioarray as aio
from aioarray import testing
from aioarray._engine import origin
from aioarray._engine.failure import STACK_DEPTH, OriginWithStack
from aioarray.errors import CompileError, DeviceError
from tests.promise.work import start_python


def inner(x: aio.Array) -> aio.Array:
    return x + 1


def outer(x: aio.Array) -> aio.Array:
    return inner(x)


def notes_of(compiling: bool, debug: bool) -> list[str]:
    """The notes of an error of work that was enqueued on a loop."""

    async def main() -> list[str]:
        x = await aio.ones(3)
        injection = (
            testing.inject("INTERNAL: broken", match_compile="add")
            if compiling
            else testing.inject("INTERNAL: broken", match="add")
        )
        with injection:
            y = outer(x)
        notes: list[list[str]] = []
        for _ in range(2):
            with pytest.raises((DeviceError, CompileError)) as caught:
                await y
            notes.append(getattr(caught.value, "__notes__", []))
        assert notes[0] == notes[1]
        return notes[0]

    return asyncio.run(main(), debug=debug)


@pytest.mark.parametrize("compiling", [False, True])
def test_errors_show_the_stack_in_debug_mode(compiling: bool) -> None:
    (note,) = notes_of(compiling, debug=True)
    assert note.startswith("Enqueued at (most recent call last):")
    assert note.index("in outer") < note.index("in inner")
    assert "return x + 1" in note
    assert note.count("File ") <= STACK_DEPTH


def test_there_is_none_otherwise() -> None:
    assert notes_of(False, debug=False) == []
    assert type(origin()) is tuple


def test_loops_in_debug_mode_are_told_from_others() -> None:
    async def kind() -> type:
        return type(origin())

    assert asyncio.run(kind(), debug=True) is OriginWithStack
    assert asyncio.run(kind(), debug=False) is tuple


@pytest.mark.parametrize("begin", ["import os; os.environ['PYTHONASYNCIODEBUG'] = '1'; ", ""], ids=["on", "off"])
def test_the_environment_turns_it_on_for_all_threads(begin: str) -> None:
    process = start_python(f"{begin}from aioarray._engine import origin; print(type(origin()).__name__)")
    output, errors = process.communicate()
    assert output.split() == ["OriginWithStack" if begin else "tuple"], errors
