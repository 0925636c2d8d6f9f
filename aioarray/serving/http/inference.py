"""A request to infer, whichever way it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ..models.model import Model
    from ..models.tensors import HostArray
    from .protocol import InferRequest
    from .state import ServerState


async def infer(
    state: ServerState, name: str, version: str | None, asked: InferRequest, timeout: float | None, client: Hashable
) -> tuple[Model, dict[str, HostArray]]:
    """The model that answers ``asked``, and its outputs. ``timeout`` is in seconds."""

    async def compute(model: Model) -> tuple[Model, dict[str, HostArray]]:
        wanted = {output.name for output in asked.outputs or ()}
        if not wanted <= model.outputs.keys():
            unknown = sorted(wanted - model.outputs.keys())[0][:60]
            raise InvalidInputError(f"{name}: there is no output {unknown!r}; it has {list(model.outputs)}")
        outputs = await model.infer(
            asked.inputs,
            timeout=state.limits.time_for(timeout),
            priority=model.priority_of(asked.priority),
            client=client,
        )
        return model, outputs

    return await state.call(name, version, compute)
