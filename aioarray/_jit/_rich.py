"""A progress bar drawn by rich. Loaded only where one is asked for."""

from __future__ import annotations

from typing import Any

from rich.console import Console  # type: ignore[import-not-found,unused-ignore]
from rich.progress import (  # type: ignore[import-not-found,unused-ignore]
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)


class Bar:
    """A bar on stderr, for the time of a ``with``."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("compiling"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._progress.stop()

    def report(self, done: int, total: int, name: str) -> None:
        """Show that ``done`` of ``total`` programs are ready, ``name`` the latest."""
        self._progress.update(self._task, completed=done, total=total, description=name)
