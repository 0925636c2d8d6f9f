"""Loading exported functions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio.to_thread

from .. import _xla
from .._base.errors import FormatError
from . import _container
from ._container import ArrayType, Container
from ._function import ExportedFunction
from ._module import Module, read_module
from ._process import ModuleProcess
from ._structure import LEAF, Structure

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_MLIR = b"ML\xefR"


def load(
    file: str | os.PathLike[str] | bytes,
    /,
    *,
    buckets: Mapping[str, Sequence[int]] | None = None,
    allow_custom_calls: Collection[str] = (),
) -> ExportedFunction:
    """The function in a file that ``jax.export`` or ``aio.export.save`` wrote, or in one of StableHLO.

    ``file`` is a path or the contents: a serialised ``jax.export.Exported``, a StableHLO portable artifact, or
    StableHLO as MLIR text or bytecode, whose function "main" it is then. Modules are read in a process of their own,
    which takes some tenths of a second; ``load_async`` does not hold the event loop for that.

    ``buckets`` gives lengths that may vary a few sizes, as ``aio.jit`` does: arguments are padded with zeros to the
    next one, results are cut back. Custom calls other than XLA's own and LAPACK's have to be allowed by name.
    ``FormatError``, saying what is wrong, for files that are damaged, made to do harm, or need what aioarray does not
    have.

    >>> data = aio.export.serialize(aio.jit(lambda x, y: x + y), aio.ShapeDtype((2,), "float32"), 1.0)
    >>> aio.export.load(data)(aio.ones(2), 3.0)
    Array([4., 4.], dtype=float32)
    """
    if isinstance(file, (bytes, bytearray, memoryview)):
        data, source = bytes(file), "load"
    else:
        source = os.fspath(file)
        with open(source, "rb") as opened:
            data = opened.read()
    with ModuleProcess(len(data)) as process:
        return read(data, source, process, buckets=buckets, allow_custom_calls=allow_custom_calls)


async def load_async(
    file: str | os.PathLike[str] | bytes,
    /,
    *,
    buckets: Mapping[str, Sequence[int]] | None = None,
    allow_custom_calls: Collection[str] = (),
) -> ExportedFunction:
    """The function in a file, loaded off the event loop; otherwise as ``load``.

    >>> data = aio.export.serialize(aio.jit(lambda x: x + 1), aio.ShapeDtype((2,), "float32"))
    >>> function = await aio.export.load_async(data)
    >>> await function(aio.ones(2))
    Array([2., 2.], dtype=float32)
    """

    def load_here() -> ExportedFunction:
        return load(file, buckets=buckets, allow_custom_calls=allow_custom_calls)

    return await anyio.to_thread.run_sync(load_here, abandon_on_cancel=True)


def read(
    data: bytes,
    source: str,
    process: ModuleProcess,
    *,
    buckets: Mapping[str, Sequence[int]] | None = None,
    allow_custom_calls: Collection[str] = (),
) -> ExportedFunction:
    """The function in ``data``, whose module ``process`` reads."""
    if data.startswith(_MLIR) or b"\0" not in data[:1024]:
        module = read_module(process, data, source, allow_custom_calls)
        container = _plain(module, source)
        platform = None
    else:
        container = _container.decode(data, source)
        platform = _platform(container, source)
        module = read_module(process, container.module, source, allow_custom_calls)
    return ExportedFunction(
        container.name or "main",
        source,
        module,
        container.in_tree,
        container.in_types,
        container.out_tree,
        container.out_types,
        container.kept,
        container.platforms,
        platform,
        buckets,
    )


def _platform(container: Container, source: str) -> str:
    """Under which of the platform's names the file has a program for the default device."""
    platform = _xla.default_device().platform
    names = {"gpu": ("cuda", "rocm", "gpu")}.get(platform, (platform,))
    for name in names:
        if name in container.platforms:
            return name
    if container.any_platform:
        return container.platforms[0]
    raise FormatError(
        f"{source}: was exported for {', '.join(container.platforms)[:200]}, but the device is a {platform}"
    )


def _plain(module: Module, source: str) -> Container:
    """A module without a description: its arguments are positional, its results a tuple unless there is one."""
    shapes = [value.shape for value in (*module.inputs, *module.outputs)]
    if any(None in shape for shape in shapes):
        raise FormatError(
            f"{source}: has arguments or results of unknown shape; only files of jax.export say what these lengths are"
        )

    def types(values: Sequence[object]) -> tuple[ArrayType, ...]:
        return tuple(ArrayType(value.shape, value.dtype) for value in values)  # type: ignore[attr-defined]

    arguments = Structure("tuple", (LEAF,) * len(module.inputs))
    outputs = LEAF if len(module.outputs) == 1 else Structure("tuple", (LEAF,) * len(module.outputs))
    return Container(
        "main",
        Structure("tuple", (arguments, Structure("dict"))),
        types(module.inputs),
        outputs,
        types(module.outputs),
        (_xla.default_device().platform,),
        b"",
        tuple(range(len(module.inputs))),
    )
