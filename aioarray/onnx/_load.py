"""Loading models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import onnx

import aioarray as aio

from ..errors import FormatError
from . import operators as _operators  # declares them
from ._model import Model
from ._optimise import optimised, placed
from ._read import parse, read

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ._read import Program
    from ._values import Tensor

__all__ = ["load", "load_sync"]
assert _operators.CHAPTERS

_NAMES = ("model.onnx",)


async def load(
    file: str | os.PathLike[str] | bytes | onnx.ModelProto, /, *, precision: Literal["bfloat16"] | None = None
) -> Model:
    """The model in a file, read and prepared off the event loop.

    ``file`` is a path, that of a folder with one ``.onnx`` file (and what belongs to it), the contents, or an
    ``onnx.ModelProto``. With ``precision`` "bfloat16" products and convolutions take float32 operands as bfloat16,
    which needs half the memory for their weights. ``FormatError``, saying what is wrong, for files that are damaged,
    made to do harm, or need operators that aioarray does not have: it names all of those.

    >>> import onnx
    >>> proto = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["": 17]>
    ...     f (float[n] x, float[n] y) => (float[n] z) { z = Mul(x, y) }''')
    >>> model = await aio.onnx.load(proto)
    >>> await model(y=[1.0, 2.0], x=[3.0, 4.0])
    Array([3., 8.], dtype=float32)
    """
    return await aio.run_sync(lambda: load_sync(file, precision=precision))


def load_sync(
    file: str | os.PathLike[str] | bytes | onnx.ModelProto, /, *, precision: Literal["bfloat16"] | None = None
) -> Model:
    """The model in a file, as ``load`` gives it; this thread is held until it is there.

    >>> import onnx
    >>> proto = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["": 17]>
    ...     f (float[n] x) => (float[n] y) { y = Relu(x) }''')
    >>> aio.onnx.load_sync(proto)([-1.0, 1.0])
    Array([0., 1.], dtype=float32)
    """
    program, constants = prepare(file, precision)
    return Model(program, constants, precision)


def prepare(
    file: str | os.PathLike[str] | bytes | onnx.ModelProto, precision: str | None
) -> tuple[Program, Mapping[int, Mapping[str, Tensor]]]:
    """The program in a file, with its constants where they will be used."""
    if precision not in (None, "bfloat16"):
        raise ValueError(f'load: precision is {precision!r}; it takes "bfloat16" or None')
    proto, source, folder = _open(file)
    program = read(proto, source, folder)
    del proto
    try:
        program = optimised(program)
        return program, placed(program, precision)
    except RecursionError:
        raise FormatError(f"{source}: its graphs are too deep in each other") from None


def _open(file: Any) -> tuple[onnx.ModelProto, str, Path | None]:
    if isinstance(file, onnx.ModelProto):
        return file, file.graph.name or "model", None
    if isinstance(file, (bytes, bytearray, memoryview)):
        return parse(bytes(file), "load"), "load", None
    path = Path(file)
    if path.is_dir():
        found = sorted(path.glob("*.onnx"))
        named = [each for each in found if each.name in _NAMES]
        if len(named or found) != 1:
            raise FormatError(f"{path}: has {len(found)} .onnx files; name the one to load")
        path = (named or found)[0]
    return parse(path.read_bytes(), str(path)), str(path), path.parent
