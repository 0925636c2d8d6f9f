"""A batch's result, taken apart for its requests and joined for those that were split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._xla import trees
from .function import WrongResultError
from .inputs import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .requests import Part, Request


class Outputs:
    """Takes results apart, and cuts them along the named lengths in ``specs``, as far as there are any."""

    def __init__(self, name: str, specs: Any, lengths: tuple[str, ...]) -> None:
        self._name = name
        # For each leaf, the axes that are cut, behind the batch axis: (axis, place of its length); None cuts nothing.
        self._cuts: list[list[tuple[int, int]]] | None = None
        if specs is None:
            return
        cuts: list[list[tuple[int, int]]] = []
        for spec in trees.flatten(specs)[0]:
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"{name}: outputs has a {type(spec).__name__}; use aio.serving.TensorSpec")
            named = [(axis, n) for axis, n in enumerate(spec.shape) if isinstance(n, str)]
            unknown = [n for _, n in named if n not in lengths]
            if unknown:
                raise ValueError(f"{name}: outputs has the length {unknown[0]!r}, for which there are no buckets")
            cuts.append([(axis, lengths.index(n)) for axis, n in named])
        self._cuts = cuts

    def give(self, part: Part, row: int, leaves: Sequence[np.ndarray[Any, Any]], structure: Any) -> bool:
        """Give ``part`` its rows, from ``row`` on, as views; True if its request has all of them then."""
        request = part.request
        if request.single:
            rows = [leaf[row] for leaf in leaves]
        else:
            rows = [leaf[row : row + part.rows] for leaf in leaves]
        if self._cuts is not None:
            rows = self._cut(request, rows)
        request.results.append((part.start, rows))
        request.structure = structure
        part.answered = True
        request.unanswered -= part.rows
        return request.unanswered == 0 and not request.queued

    def _cut(self, request: Request, rows: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
        assert self._cuts is not None
        if len(rows) != len(self._cuts):
            raise WrongResultError(
                f"{self._name}: the function returned {len(rows)} arrays; the specs of outputs have {len(self._cuts)}"
            )
        cut = []
        for array, cuts in zip(rows, self._cuts, strict=True):
            region = [slice(None)] * array.ndim
            for axis, length in cuts:
                region[axis + (not request.single)] = slice(request.lengths[length])
            cut.append(array[tuple(region)])
        return cut


def joined(request: Request) -> Any:
    """The result of a request, from the parts it was computed in, which it does not hold any more then."""
    results, request.results = request.results, []
    if len(results) == 1:
        leaves = results[0][1]
    else:
        results.sort(key=lambda result: result[0])
        leaves = [np.concatenate(parts) for parts in zip(*(leaves for _, leaves in results), strict=True)]
    return request.structure.unflatten(leaves)
