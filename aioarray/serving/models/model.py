"""``Model``: a batcher with the names and data types by which clients know it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..._base.errors import InvalidInputError
from ..batching.batcher import Batcher
from ..batching.inputs import BATCH, TensorSpec
from . import tensors

if TYPE_CHECKING:
    from collections.abc import Hashable

    import anyio

    import aioarray as aio

    from ..batching.statistics import BatcherStats
    from .tensors import HostArray

Progress = Callable[[int, int, str], object]

_NAME_LIMIT: Final = 128


class Model:
    """A version of a model as a server offers it: ``fn`` behind a ``Batcher``, with named inputs and outputs.

    ``fn`` takes the batches of the ``inputs`` (name to ``TensorSpec`` or ``aio.ShapeDtype`` of one example), in their
    order, and gives an Array, a tuple of them or a dict. ``outputs`` names the results, which a dict does itself; their
    data types and shapes are found when the model is started. ``options`` are those of ``Batcher``. A model is started
    once, by the server that it is given to.

    Raises ``ValueError`` for names that do not fit into an address, ``TypeError`` for dtypes that the protocol lacks.

    >>> aio.serving.Model("double", lambda x: x * 2, {"x": aio.ShapeDtype((3,), "float32")}, max_batch_size=8)
    <Model double, version 1>
    """

    platform = "aioarray"

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        inputs: Mapping[str, TensorSpec | aio.ShapeDtype],
        *,
        outputs: Sequence[str] | None = None,
        version: str = "1",
        **options: Any,
    ) -> None:
        for what, text in (("name", name), ("version", version)):
            if not text or len(text) > _NAME_LIMIT or not all(c.isalnum() or c in "-_.:" for c in text):
                raise ValueError(f"Model: {what} is {text!r}; letters, digits and any of -_.: are allowed")
        if not inputs:
            raise ValueError(f"{name}: inputs is empty; name at least one")
        self.name = name
        self.version = version
        self.inputs: dict[str, TensorSpec] = {
            key: spec if isinstance(spec, TensorSpec) else TensorSpec(spec.shape, spec.dtype)
            for key, spec in inputs.items()
        }
        for key, spec in self.inputs.items():
            tensors.datatype(spec.dtype)
            if None in spec.shape:
                raise ValueError(f"{name}: input {key!r} is {spec}; name its lengths, and give buckets for the names")
        self._fn = fn
        self._output_names = None if outputs is None else tuple(outputs)
        self.options = options
        self.max_rows: int = int(options.get("max_queue", 1024))
        # The loop's thread only, from `start` on.
        self.batcher: Batcher | None = None
        self.outputs: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}  # data type and shape of one example

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, version {self.version}>"

    def again(self) -> Model:
        """The same model, not started: a batcher serves once."""
        other = copy.copy(self)
        other.batcher = None
        other.outputs = {}
        return other

    # Life; one task runs `serve`, which is where cancel scopes have to be left again

    async def serve(self, ready: Callable[[], object], stop: anyio.Event, progress: Progress | None = None) -> None:
        """Start, warm up, call ``ready``, and go on until ``stop``; then answer what was accepted, and end."""
        batcher = Batcher(self._call, name=self.name, specs=self.inputs, **self.options)
        async with batcher:
            self.batcher = batcher
            await batcher.warmup(progress=progress)
            await self._find_outputs(batcher)
            ready()
            await stop.wait()

    def _call(self, batch: dict[str, Any], **arguments: Any) -> Any:
        return self._fn(*(batch[name] for name in self.inputs), **arguments)

    def _named(self, result: Any) -> dict[str, Any]:
        if isinstance(result, Mapping):
            return dict(result)
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        names = self._output_names
        if names is None:
            names = ("output",) if len(results) == 1 else tuple(f"output_{k}" for k in range(len(results)))
        if len(names) != len(results):
            raise ValueError(f"{self.name}: there are {len(results)} results, and outputs names {len(names)}")
        return dict(zip(names, results, strict=True))

    async def _find_outputs(self, batcher: Batcher) -> None:
        """Run examples that differ in one length each: axes that are as long are cut back to what a request has."""
        buckets = self._buckets()
        shortest = {name: min(sizes) for name, sizes in buckets.items()}
        first = await batcher.try_out(self._example(shortest))
        small = self._named(first)
        axes: dict[str, list[int | str]] = {name: list(array.shape) for name, array in small.items()}
        told: dict[str, list[int]] = {name: list(array.shape) for name, array in small.items()}
        for length, sizes in buckets.items():
            if length == BATCH or max(sizes) == min(sizes):
                continue
            large = self._named(await batcher.try_out(self._example({**shortest, length: max(sizes)})))
            for name, array in small.items():
                for axis, (n, m) in enumerate(zip(array.shape, large[name].shape, strict=True)):
                    if n != m:
                        told[name][axis] = -1
                    if (n, m) == (min(sizes), max(sizes)):
                        axes[name][axis] = length
        for name, array in small.items():
            tensors.datatype(array.dtype)
            self.outputs[name] = (array.dtype, tuple(told[name]))
        specs = {name: TensorSpec(axes[name], array.dtype) for name, array in small.items()}
        if isinstance(first, Mapping):
            batcher.cut_results(specs)
        else:
            batcher.cut_results(tuple(specs.values()))

    def _example(self, lengths: Mapping[str, int]) -> dict[str, HostArray]:
        return {
            name: np.zeros([lengths[n] if isinstance(n, str) else n or 0 for n in spec.shape], spec.dtype)
            for name, spec in self.inputs.items()
        }

    def _buckets(self) -> Mapping[str, Sequence[int]]:
        buckets = self.options.get("buckets")
        return buckets if isinstance(buckets, Mapping) else {}

    # A request

    async def infer(
        self,
        inputs: Mapping[str, HostArray],
        *,
        timeout: float | None = None,
        priority: int = 0,
        client: Hashable = None,
    ) -> dict[str, HostArray]:
        """The outputs for ``inputs``, which have a batch axis. Raises what ``Batcher`` does."""
        rows = self.check(inputs)
        assert self.batcher is not None
        if rows == 0:
            return {name: np.zeros((0, *_fixed(shape)), dtype) for name, (dtype, shape) in self.outputs.items()}
        result = await self.batcher(
            {name: inputs[name] for name in self.inputs},
            batched=True,
            timeout=timeout,
            priority=priority,
            client=client,
        )
        return self._named(result)

    def priority_of(self, asked: int | None) -> int:
        """The batcher's priority for that of the protocol, where 1 goes first, and 0 or none asks for the default."""
        levels = int(self.options.get("priority_levels", 1))
        return min(asked - 1, levels - 1) if asked else 0

    def check(self, inputs: Mapping[str, HostArray]) -> int:
        """How many rows there are. ``InvalidInputError`` unless names, data types and shapes are those of the model."""
        if inputs.keys() != self.inputs.keys():
            raise InvalidInputError(f"{self.name}: the inputs are {_listed(inputs)}; it takes {_listed(self.inputs)}")
        rows: int | None = None
        for name, array in inputs.items():
            self.check_tensor(name, tensors.datatype(array.dtype), array.shape)
            if rows is not None and array.shape[0] != rows:
                raise InvalidInputError(
                    f"{self.name}: input {name!r} has {array.shape[0]} rows, and another input has {rows}"
                )
            rows = array.shape[0]
        assert rows is not None
        return rows

    def check_tensor(self, name: str, datatype: str, shape: tuple[int, ...]) -> None:
        """``InvalidInputError`` unless the model has an input of this name, data type and shape. Any thread."""
        spec = self.inputs.get(name)
        if spec is None:
            raise InvalidInputError(f"{self.name}: there is no input {name[:60]!r}; it takes {_listed(self.inputs)}")
        if datatype != tensors.datatype(spec.dtype):
            raise InvalidInputError(
                f"{self.name}: input {name!r} is {datatype}; it has to be {tensors.datatype(spec.dtype)}"
            )
        if len(shape) != len(spec.shape) + 1 or any(
            n != wanted for n, wanted in zip(shape[1:], spec.shape, strict=True) if isinstance(wanted, int)
        ):
            raise InvalidInputError(
                f"{self.name}: input {name!r} has shape {list(shape)}; it has to be {self.shape_of(spec)}"
            )
        if shape[0] > self.max_rows:
            raise InvalidInputError(f"{self.name}: {shape[0]} rows are more than max_queue={self.max_rows}")

    # What is told about it

    @staticmethod
    def shape_of(spec: TensorSpec) -> list[int]:
        """A shape with the batch axis, in which -1 stands for any length."""
        return [-1, *(n if isinstance(n, int) else -1 for n in spec.shape)]

    def metadata(self) -> dict[str, Any]:
        """Inputs and outputs in the protocol's form, for this version."""
        return {
            "name": self.name,
            "versions": [self.version],
            "platform": self.platform,
            "inputs": [
                {"name": name, "datatype": tensors.datatype(spec.dtype), "shape": self.shape_of(spec)}
                for name, spec in self.inputs.items()
            ],
            "outputs": [
                {"name": name, "datatype": tensors.datatype(dtype), "shape": [-1, *shape]}
                for name, (dtype, shape) in self.outputs.items()
            ],
        }

    def stats(self) -> BatcherStats | None:
        """Those of its batcher; None before it was started."""
        return None if self.batcher is None else self.batcher.stats()


def _fixed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(max(n, 0) for n in shape)


def _listed(names: Mapping[str, Any]) -> str:
    texts = [name[:60] for name in list(names)[:10]]
    return f"{texts}{' and more' if len(names) > 10 else ''}"
