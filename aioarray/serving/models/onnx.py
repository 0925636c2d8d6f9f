"""Models from ONNX files behind a server: inputs, outputs, dtypes and dimensions are what the file says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

import aioarray as aio

from ..batching.inputs import BATCH, TensorSpec
from .model import Model

if TYPE_CHECKING:
    from ...onnx import Model as OnnxModel
    from ...onnx import ValueInfo


def onnx_model(
    model: OnnxModel,
    /,
    *,
    name: str | None = None,
    version: str = "1",
    batch: str | None = None,
    buckets: Mapping[str, Sequence[int]] | Sequence[int] | None = None,
    **options: Any,
) -> Model:
    """A model from an ONNX file as one to serve; ``options`` are those of ``Batcher``.

    The batch is the first axis of all inputs; ``batch`` names its dimension, which is looked up otherwise. Where the
    file gives it a length, batches have that many rows. Other lengths that vary need ``buckets`` by their names, an
    unnamed one as ``"input_axis"``: ``{"batch": (1, 8), "tokens": (16, 64), "x_2": (224,)}``. Rows are padded to them
    with zeros. Programs are traced and compiled off the loop. ``ValueError`` for a model without such a batch.

    >>> import onnx
    >>> proto = onnx.parser.parse_model('''
    ...     <ir_version: 8, opset_import: ["": 17]>
    ...     double (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }''')
    >>> aio.serving.onnx_model(await aio.onnx.load(proto), max_batch_size=8)
    <Model double, version 1>
    """
    rows = _rows(model, batch)
    inputs = {info.name: _spec(info, rows) for info in model.inputs}
    sizes: Any = buckets
    if isinstance(buckets, Mapping):
        sizes = {BATCH if key == rows else key: value for key, value in buckets.items()}
    if isinstance(rows, int):
        sizes = {**(sizes if isinstance(sizes, Mapping) else {}), BATCH: (rows,)}
    named = {n for spec in inputs.values() for n in spec.shape if isinstance(n, str)}
    missing = sorted(named - (sizes.keys() if isinstance(sizes, Mapping) else set()))
    if missing:
        raise ValueError(
            f"{model.name}: the lengths {', '.join(missing)} vary; give each its sizes in buckets, as in "
            f"buckets={{{missing[0]!r}: (16, 64)}}, or --buckets {missing[0]}=16,64"
        )
    compiled: set[tuple[tuple[int, ...], ...]] = set()  # the loop's thread only

    async def call(*arrays: Any) -> Any:
        shapes = tuple(x.shape for x in arrays)
        if shapes not in compiled:
            await model.compile(*arrays)
            compiled.add(shapes)
        return model(*arrays)

    extra = {} if sizes is None else {"buckets": sizes}
    return Model(
        name or _fitting(model.name),
        call,
        inputs,
        outputs=[info.name for info in model.outputs],
        version=version,
        **extra,
        **options,
    )


def _fitting(name: str) -> str:
    """A name as it may stand in an address."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:128] or "model"


def _rows(model: OnnxModel, batch: str | None) -> str | int | None:
    """The first length of all inputs: the dimension's name, or how long it is, or None for one without a name."""
    firsts: dict[str, Any] = {}
    for info in model.inputs:
        if not info.shape:
            raise ValueError(
                f"{model.name}: the input {info.name!r} has the shape {info.shape}, and so no batch axis; serve a "
                "function that gives it a value"
            )
        firsts[info.name] = info.shape[0]
    if not firsts:
        raise ValueError(f"{model.name}: has no inputs")
    if batch is not None:
        other = [name for name, first in firsts.items() if first != batch]
        if other:
            raise ValueError(f"{model.name}: {batch!r} is not the first dimension of {', '.join(other)}; {firsts}")
        return batch
    found = set(firsts.values())
    if len(found) != 1:
        raise ValueError(f"{model.name}: the inputs have different first dimensions, {firsts}; so there is no batch")
    (first,) = found
    return first  # type: ignore[no-any-return]


def _spec(info: ValueInfo, rows: str | int | None) -> TensorSpec:
    assert info.shape is not None
    if info.dtype is None:
        raise ValueError(f"the input {info.name!r} is no tensor")
    rest = [f"{info.name}_{axis}" if n is None else n for axis, n in enumerate(info.shape)][1:]
    if rows is not None and rows in rest and isinstance(rows, str):
        raise ValueError(f"the dimension {rows!r} is the batch, and also another one of {info.name!r}, {info.shape}")
    return TensorSpec(rest, info.dtype)


async def load_folder(folder: str, buckets: Mapping[str, Sequence[int]], options: Mapping[str, Any]) -> list[Model]:
    """The models of a repository: ``folder/NAME/VERSION/*.onnx``, ``folder/NAME/*.onnx`` or ``folder/NAME.onnx``."""
    found = []
    for path in await anyio.to_thread.run_sync(_files, Path(folder)):
        parts = path.relative_to(folder).parts
        name = path.stem if len(parts) == 1 else parts[0]
        version = parts[1] if len(parts) == 3 else "1"
        model = await aio.onnx.load(path)
        names = {BATCH, *(n for info in model.inputs for n in _names(info))}
        own = {key: sizes for key, sizes in buckets.items() if key in names}
        found.append(onnx_model(model, name=_fitting(name), version=version, buckets=own or None, **options))
    return found


def _names(info: ValueInfo) -> list[str]:
    return [n if isinstance(n, str) else f"{info.name}_{axis}" for axis, n in enumerate(info.shape or ())]


def _files(folder: Path) -> list[Path]:
    found = [path for pattern in ("*.onnx", "*/*.onnx", "*/*/*.onnx") for path in sorted(folder.glob(pattern))]
    if not found:
        raise ValueError(f"{folder}: has no .onnx files; it takes NAME/VERSION/model.onnx, NAME/model.onnx, NAME.onnx")
    return found
