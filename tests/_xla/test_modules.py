"""Modules are parsed in a context that is kept for some of them, and what cannot be parsed is left to jaxlib."""

from __future__ import annotations

import threading

import pytest

from aioarray import _xla
from aioarray._xla import modules
from tests._xla.programs import program, put, run, run_python

SMALL = b"func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"


def contexts(texts: list[bytes]) -> list[int]:
    """Which context each text is parsed in, by the number of contexts made before it; on a thread of its own."""
    made: list[object] = []
    seen: list[int] = []

    def parse_all() -> None:
        for text in texts:
            context = modules.parse(text).context
            if not made or made[-1] != context:
                made.append(context)
            seen.append(len(made) - 1)

    thread = threading.Thread(target=parse_all)
    thread.start()
    thread.join()
    return seen


def test_a_context_is_used_for_so_many_modules() -> None:
    seen = contexts([SMALL] * (2 * modules.MODULES + 1))
    assert seen == [0] * modules.MODULES + [1] * modules.MODULES + [2]


def test_a_context_is_used_for_so_much_text() -> None:
    large = SMALL + b" " * (modules.TEXT_BYTES // 2)
    assert contexts([large, large, SMALL, SMALL]) == [0, 0, 1, 1]


@pytest.mark.parametrize("text", [b"garbage", b"\xff", b"", SMALL.replace(b"return %x", b"return %y")])
def test_what_cannot_be_parsed_is_an_error_of_jaxlibs(text: bytes) -> None:
    with pytest.raises(_xla.ForeignError):
        _xla.compile(text, _xla.default_device())


def test_programs_outlive_the_context_they_were_parsed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "MODULES", 1)
    buffer, spec = put([1.0, 2.0])
    doubling = _xla.compile(program("stablehlo.add", 2, (2,)), _xla.default_device())
    _xla.compile(program("stablehlo.multiply", 2, (2,)), _xla.default_device())
    (result,) = run(doubling, [buffer, buffer], spec)
    assert _xla.to_numpy(result, spec).tolist() == [2.0, 4.0]


def test_the_extension_is_loaded_once_also_where_sys_modules_is_restored() -> None:
    """As pytest's ``pytester`` does; a second time would end the process."""
    run_python(
        f"""
import sys, threading
from aioarray._xla import modules
before = set(sys.modules)
modules.parse({SMALL!r})
assert "jaxlib.mlir.ir" in sys.modules
for name in set(sys.modules) - before:
    del sys.modules[name]
parsed = []
thread = threading.Thread(target=lambda: parsed.append(modules.parse({SMALL!r}).operation.verify()))
thread.start()
thread.join()
assert parsed == [True]
"""
    )
