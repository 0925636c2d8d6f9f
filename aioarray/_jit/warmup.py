"""``warmup``: many programs compiled before the first call, several at a time."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._engine import current_host

if TYPE_CHECKING:
    from .ahead import Compiled, Lowered
    from .function import JitFunction, Method

logger = logging.getLogger("aioarray")

# Called with how many programs are ready, how many there are, and the name of the latest.
Progress = Callable[[int, int, str], object]


async def warmup(
    programs: Iterable[tuple[JitFunction[Any, Any] | Method[Any, Any], Any]],
    *,
    progress: bool | Progress = False,
) -> list[Compiled]:
    """Compile jitted functions for given arguments, in parallel and off the loop; give the compiled programs.

    ``programs`` are pairs of a function and the tuple of its arguments (Arrays or ``aio.ShapeDtype``); a single
    argument may stand without tuple. With ``progress=True`` a bar is shown, if rich is installed and stderr is a
    terminal, or log messages of level INFO; a function is called with (how many are done, how many there are, name).
    Raises the first ``CompileError``.

    >>> f = aio.jit(lambda x: x + 1)
    >>> await aio.warmup([(f, (aio.ShapeDtype(n, "float32"),)) for n in (2, 4)])
    [<compiled <lambda>>, <compiled <lambda>>]
    """
    lowered: list[Lowered] = []
    for function, specs in programs:
        item = function.lower(*(specs if isinstance(specs, tuple) else (specs,)))
        item.start()
        lowered.append(item)
        await _Round()
    with _reporter(progress) as report:
        compiled = []
        for done, item in enumerate(lowered, 1):
            compiled.append(await item.compile())
            report(done, len(lowered), item.name)
    return compiled


class _Round:
    """Awaiting it lets the loop go round once: tracing takes time."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from current_host().yield_once()


@contextmanager
def _reporter(progress: bool | Progress) -> Iterator[Progress]:
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda *_: None
    elif sys.stderr.isatty() and (bar := _rich_bar()) is not None:
        with bar:
            yield bar.report
    else:
        yield lambda done, total, name: logger.info("compiled %s, %d of %d", name, done, total)


def _rich_bar() -> Any:
    try:
        from ._rich import Bar
    except ImportError:
        return None
    return Bar()
