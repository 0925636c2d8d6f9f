"""Running a function once for each of its buckets, before anybody has to wait for its compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anyio

from .requests import Part, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from .estimates import Estimates
    from .function import BatchFunction
    from .inputs import Layout

Work = tuple["Hashable", "Layout", "Request | None", int]

# Buckets that are compiled at the same time; each holds its own input and result.
AT_ONCE: Final = 4


async def warm_up(
    function: BatchFunction,
    estimates: Estimates,
    clock: Callable[[], float],
    work: Sequence[Work],
    progress: Callable[[int, int, str], object] | None,
) -> None:
    """Run ``function`` for each (key, layout, sample or None, size); then again one by one, for how long it takes."""
    limiter = anyio.CapacityLimiter(AT_ONCE)
    errors: list[Exception] = []
    done = 0

    async def compile_one(key: Hashable, layout: Layout, sample: Request | None, size: int) -> None:
        nonlocal done
        async with limiter:
            try:
                await function.call(key, layout, _parts(sample, size), size)
            except Exception as error:
                errors.append(error)
                group.cancel_scope.cancel()
                return
        done += 1
        if progress is not None:
            progress(done, len(work), f"{function.name}[{layout.bucket(size)}]")

    async with anyio.create_task_group() as group:
        for item in work:
            group.start_soon(compile_one, *item)
    if errors:
        raise errors[0]
    for key, layout, sample, size in work:
        start = clock()
        await function.call(key, layout, _parts(sample, size), size)
        now = clock()
        estimates.add((key, layout), size, now - start, now, first_counts=True)


def _parts(sample: Request | None, size: int) -> list[Any]:
    return [] if sample is None else [Part(sample, 0, 1)] * size
