"""From the text of a module to what jaxlib compiles, with the GIL held for as little as possible.

``compile_and_load`` of text makes a context and parses in it, all with the GIL held: 2 ms for a small program. A
compile thread ranks low, and on busy cores may need 40 ms for them, while no event loop runs. In a context that is
there already, parsing a small program takes 0.05 ms.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, NamedTuple

# A context keeps every type and constant that was in its modules: after so many, or so many bytes of text, a new one
# is made.
MODULES = 64
TEXT_BYTES = 4 << 20


class _Context(threading.local):
    """This thread's context."""

    current: Any = None
    modules = 0
    text_bytes = 0


_context = _Context()


def parse(text: bytes) -> Any:
    """The module in ``text``, as ``compile_and_load`` takes it; the text itself if it is not in order.

    Then it is for ``compile_and_load`` to say what is wrong, by an error of the kind that it has for all else.
    """
    ir = _bindings().ir
    context = _context.current
    if context is None:
        context = _context.current = _make()
        _context.modules = _context.text_bytes = 0
    _context.modules += 1
    _context.text_bytes += len(text)
    try:
        with context:
            return ir.Module.parse(text)
    except ir.MLIRError:
        return text
    finally:
        if _context.modules >= MODULES or _context.text_bytes >= TEXT_BYTES:
            _context.current = None


class _Bindings(NamedTuple):
    ir: Any
    jax: Any
    dialects: tuple[Any, ...]


@functools.cache
def _bindings() -> _Bindings:
    """MLIR's Python modules, loaded at the first compile.

    Kept, since a test runner may restore ``sys.modules``, and loading the extension again ends the process.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _stablehlo

    return _Bindings(ir, _jax_mlir_ext, (_stablehlo, _chlo))


def _make() -> Any:
    ir, jax, dialects = _bindings()
    context = ir.Context()
    context.enable_multithreading(False)  # it would start threads of its own
    registry = ir.DialectRegistry()
    jax.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in dialects:
        dialect.register_dialect(context, load=True)
    return context
