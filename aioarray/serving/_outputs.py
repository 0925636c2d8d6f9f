"""What a model returned, taken apart for the requests of the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._requests import Part, Request


def check_rows(name: str, leaves: Sequence[Any], size: int, rows: int) -> None:
    """``RuntimeError`` unless all leaves have a row for each row of the batch."""
    if not leaves:
        raise RuntimeError(f"{name}: the function returned no arrays")
    for leaf in leaves:
        if not isinstance(leaf, np.ndarray):
            raise RuntimeError(
                f"{name}: the function returned a {type(leaf).__name__}; it has to return arrays with one row for each "
                "row of the batch"
            )
        if leaf.ndim == 0 or leaf.shape[0] not in (size, rows):
            raise RuntimeError(
                f"{name}: the function returned an array of shape {leaf.shape} for a batch of {size} rows; the first "
                f"dimension of every result has to be {size}"
            )


def finite_rows(leaves: Sequence[np.ndarray[Any, Any]], rows: int) -> np.ndarray[Any, Any]:
    """For each row, whether it is free of NaNs and infinities in every leaf."""
    finite = np.ones(rows, bool)
    for leaf in leaves:
        if leaf.dtype.kind not in "iub":
            finite &= np.isfinite(leaf[:rows]).reshape(rows, -1).all(axis=1)
    return finite


def take_part(part: Part, row: int, leaves: Sequence[np.ndarray[Any, Any]]) -> bool:
    """Give ``part`` its rows, from ``row`` on, as views; True if its request has them all then."""
    request = part.request
    if request.single:
        request.results.append((0, [leaf[row] for leaf in leaves]))
    else:
        request.results.append((part.start, [leaf[row : row + part.rows] for leaf in leaves]))
    request.unanswered -= part.rows
    return request.unanswered == 0 and not request.queued


def joined(request: Request) -> list[Any]:
    """The leaves of the result of a request, from the parts it was computed in."""
    if len(request.results) == 1:
        return request.results[0][1]  # type: ignore[no-any-return]
    parts = sorted(request.results, key=lambda result: result[0])
    return [np.concatenate(leaves) for leaves in zip(*(leaves for _, leaves in parts), strict=True)]
