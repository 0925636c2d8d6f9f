"""The same service on trio: scores arrive in the order in which the device has them.

Run it: `python trio_program.py`. Tested in `test_trio_program.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from service import FEATURES, Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence


async def score_all(scorer: Scorer, batches: Sequence[Sequence[Sequence[float]]]) -> dict[int, list[float]]:
    """The scores of each batch by its number; all batches are under way at the same time."""
    results: dict[int, list[float]] = {}

    async def score(number: int) -> None:
        results[number] = await scorer.score(batches[number])

    async with trio.open_nursery() as nursery:
        for number in range(len(batches)):
            nursery.start_soon(score, number)
    return results


async def main() -> None:
    """Score three batches."""
    scorer = Scorer([0.5, -0.25, 0.0, 1.0])
    results = await score_all(scorer, [[[float(i)] * FEATURES] * (i + 1) for i in range(3)])
    for number, scores in sorted(results.items()):
        print(number, [round(score, 4) for score in scores])


if __name__ == "__main__":
    trio.run(main)
