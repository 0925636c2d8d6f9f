"""From what was typed behind ``aioarray serve`` to models."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import anyio

import aioarray as aio

from ..batching.inputs import BATCH, TensorSpec
from . import onnx
from .model import Model

NAMED: Final = {"minilm": "aioarray.serving.models.minilm"}


class ModelOptions(NamedTuple):
    """What the command line says about models."""

    inputs: tuple[str, ...] = ()  # each NAME:DTYPE:SHAPE
    buckets: tuple[str, ...] = ()  # each SIZES or NAME=SIZES
    batcher: Mapping[str, Any] = {}


def parse_input(text: str) -> tuple[str, TensorSpec]:
    """``x:float32:3,4`` as a name and a spec of one example; a length may be a name that has buckets."""
    name, _, rest = text.partition(":")
    dtype, _, shape = rest.partition(":")
    if not name or not dtype:
        raise ValueError(f"--input {text!r}: write NAME:DTYPE:SHAPE, as in x:float32:3,4 (or x:float32: for a number)")
    lengths = [part.strip() for part in shape.split(",") if part.strip()]
    try:
        return name, TensorSpec([int(n) if n.isdigit() else n for n in lengths], dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"--input {text!r}: {error}") from None


def parse_buckets(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """``1,8,32`` for batches, ``tokens=16,32`` for lengths."""
    buckets: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, found, sizes = text.rpartition("=")
        try:
            buckets[name if found else BATCH] = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            raise ValueError(f"--buckets {text!r}: write sizes, as in 1,8,32, or NAME=SIZES") from None
    return buckets


async def resolve(text: str, options: ModelOptions) -> list[Model]:
    """The models that ``text`` stands for.

    It is a name from ``NAMED``, an ONNX file or a folder of them, a file that ``aio.export.save`` or ``jax.export`` has
    written, or MODULE:ATTRIBUTE of a ``Model``, of a function without parameters that makes one or several, or of a
    function of arrays, which needs inputs. Raises ``ValueError`` with what is missing, ``ImportError``, ``OSError``.
    """
    buckets = parse_buckets(options.buckets)
    if text in NAMED:
        module = importlib.import_module(NAMED[text])
        extra = {"batch_sizes": buckets.pop(BATCH)} if BATCH in buckets else {}
        if buckets:
            raise ValueError(f"{text} has its own lengths; --buckets can give sizes of batches alone")
        return [await getattr(module, text)(**extra, **options.batcher)]
    if await anyio.Path(text).is_dir():
        return await onnx.load_folder(text, buckets, options.batcher)
    if await anyio.Path(text).exists() and text.endswith(".onnx"):
        model = await aio.onnx.load(text)
        name = anyio.Path(text).stem
        return [onnx.onnx_model(model, name=name, buckets=buckets or None, **options.batcher)]
    if await anyio.Path(text).exists():
        function = await aio.export.load_async(text)
        return [_exported(anyio.Path(text).stem, function, buckets, options.batcher)]
    module_name, colon, attribute = text.partition(":")
    if not colon or not attribute:
        raise ValueError(f"{text!r} is neither {' nor '.join(NAMED)}, nor a file, nor MODULE:ATTRIBUTE")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    finally:
        sys.path.remove(os.getcwd())
    for name in attribute.split("."):
        found = getattr(found, name)
    return await _models_of(text, attribute, found, options, buckets)


async def _models_of(
    text: str, name: str, found: Any, options: ModelOptions, buckets: dict[str, tuple[int, ...]]
) -> list[Model]:
    if isinstance(found, Model):
        return [found]
    if not callable(found):
        raise ValueError(f"{text} is a {type(found).__name__}; it has to be a function or an aio.serving.Model")
    if options.inputs:
        inputs = dict(map(parse_input, options.inputs))
        extra: dict[str, Any] = {"buckets": buckets} if buckets else {}
        return [Model(name.rpartition(".")[2], found, inputs, **extra, **options.batcher)]
    if _takes_arguments(found):
        raise ValueError(f"{text} takes arguments; say of what kind with --input NAME:DTYPE:SHAPE for each")
    made = found()
    if isinstance(made, Awaitable):
        made = await made
    models = [made] if isinstance(made, Model) else list(made) if isinstance(made, (list, tuple)) else []
    if not models or not all(isinstance(model, Model) for model in models):
        raise ValueError(f"{text}() gave a {type(made).__name__}; it has to give an aio.serving.Model, or several")
    return models


def _takes_arguments(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _exported(name: str, function: Any, buckets: dict[str, tuple[int, ...]], batcher: Mapping[str, Any]) -> Model:
    """The model of a file: all its arguments are arrays, whose first length is that of the batch."""
    args, kwargs = function.in_specs
    specs: dict[str, Any] = {f"input_{place}": spec for place, spec in enumerate(args)} | dict(kwargs)
    lengths = set()
    for key, spec in specs.items():
        if not isinstance(spec, aio.export.ExportedSpec) or not spec.shape:
            raise ValueError(
                f"{name}: argument {key} is no array with a batch axis; wrap the function before saving it"
            )
        lengths.add(spec.shape[0])
    if len(lengths) != 1:
        raise ValueError(f"{name}: the arguments have different first lengths, {sorted(map(str, lengths))}")
    (rows,) = lengths
    inputs = {key: TensorSpec(spec.shape[1:], spec.dtype) for key, spec in specs.items()}
    if isinstance(rows, int):
        buckets = {**buckets, BATCH: (rows,)}
    count = len(args)
    names: Sequence[str] = tuple(kwargs)

    def call(*arrays: Any) -> Any:
        return function(*arrays[:count], **dict(zip(names, arrays[count:], strict=True)))

    extra: dict[str, Any] = {"buckets": buckets} if buckets else {}
    return Model(name, call, inputs, **extra, **batcher)
