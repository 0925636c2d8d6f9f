"""Which models a server has, in which versions; loading and unloading them while it runs.

A request keeps the model that it found: unloading takes a model out of the table first, so that nobody finds it any
more, and then lets it answer what it has accepted.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal

import anyio

from ..._base.errors import AioArrayError
from ..batching.cancellation import an_error_of
from ..batching.settings import name_of
from ..batching.statistics import merged_stats
from .model import Model

if TYPE_CHECKING:
    from types import TracebackType

    from anyio.abc import TaskGroup

    from ..batching.statistics import BatcherStats
    from .model import Progress

logger = logging.getLogger("aioarray.serving")

# A model, or a function that makes one (again at every load); it may be a coroutine function.
Source = Model | Callable[[], "Model | Awaitable[Model]"]
State = Literal["LOADING", "READY", "UNLOADING", "UNAVAILABLE"]


class UnknownModelError(AioArrayError, LookupError):
    """No model of this name, or no such version of it, is there."""


class NotReadyError(AioArrayError, RuntimeError):
    """A model is there, but is loading, or could not be loaded."""


class _WithdrawnError(NotReadyError):
    """It was replaced or unloaded before it was ready, which is nobody's failure."""


class _Entry:
    """One version of a model. Loop thread only."""

    def __init__(self, model: Model, missed: bool) -> None:
        self.model = model
        self.missed = missed  # while it is loading: it stands for one that has failed
        self.state: State = "LOADING"
        self.reason = ""
        self.error: Exception | None = None
        self.stop = anyio.Event()
        self.scope = anyio.CancelScope()  # of loading: nothing is lost when that is given up
        self.settled = anyio.Event()  # it is ready, or failed
        self.ended = anyio.Event()


class Registry:
    """The models of a server. Loop thread only; ``async with`` starts those it was made with, in the background.

    ``sources`` are models, or a mapping of names to models or functions that make one: these can be loaded by name
    again after they were unloaded.
    """

    def __init__(self, sources: Iterable[Model] | Mapping[str, Source] = (), progress: Progress | None = None) -> None:
        # Two versions of a model can be given in a list: a mapping has one source for a name.
        self._first: list[tuple[str, Source]] = (
            list(sources.items()) if isinstance(sources, Mapping) else [(model.name, model) for model in sources]
        )
        self.sources: dict[str, Source] = dict(self._first)
        self._progress = progress
        self._entries: dict[str, dict[str, _Entry]] = {}
        self._group: TaskGroup | None = None
        self.settled: anyio.Event = anyio.Event()  # all models that it was made with are ready, or failed
        self.starting: int = 0  # of the models it was made with, how many are not settled
        self.failures: dict[str, str] = {}  # why models that it was made with are not there, until they are
        self._closing = False
        self._serving: list[_Entry] = []  # those that were ready and have not ended, also those nobody finds any more
        self._counted: dict[tuple[str, str], BatcherStats] = {}  # by those that have ended

    # Life

    async def __aenter__(self) -> Registry:
        # As it was made: it may have run before, on another loop.
        self._closing = False
        self._entries.clear()
        self.failures.clear()
        self._counted.clear()
        self.settled = anyio.Event()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self.starting = len(self._first)
        for name, source in self._first:
            self._group.start_soon(self._start_first, name, source)
        if not self._first:
            self.settled.set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._group is not None
        group = self._group
        self._closing = True
        for entry in self._all():
            self._retire(entry)
        if kind is None:
            for entry in self._all():
                await entry.ended.wait()
        group.cancel_scope.cancel()
        await group.__aexit__(None, None, None)

    async def _start_first(self, name: str, source: Source) -> None:
        try:
            await self._load(source, name)
        except Exception as failure:
            if not (self._closing or isinstance(failure, _WithdrawnError)):
                # A server with a broken model goes on with the others, is not ready, and says why.
                logger.exception("a model could not be loaded")
                self.failures[name] = str(failure)
        finally:
            self.starting -= 1
            if not self.starting:
                self.settled.set()

    def _all(self) -> list[_Entry]:
        return [entry for versions in self._entries.values() for entry in versions.values()]

    # Loading

    async def load(self, source: str | Source) -> Model:
        """Start a model and warm it up; it takes requests once this returns, instead of one of its name and version.

        ``source`` may be the name of one that was known from the start. Raises ``UnknownModelError``, ``NotReadyError``
        with what the model raised as its cause, and what a function raises that should make one.
        """
        if not isinstance(source, str):
            return await self._load(source, None)
        if source not in self.sources:
            raise UnknownModelError(f"there is no model {source[:60]!r} to load; there are {sorted(self.sources)}")
        return await self._load(self.sources[source], source)

    async def _load(self, source: Source, name: str | None) -> Model:
        if self._group is None or self._closing:
            raise NotReadyError(
                "the registry was not started; use `async with`" if self._group is None else "the server is going down"
            )
        if isinstance(source, Model):
            model = source if source.batcher is None else source.again()
        else:
            made = source()
            with an_error_of(name_of(source)):
                model = await made if inspect.isawaitable(made) else made
        if name is not None and model.name != name:
            raise ValueError(f"the model {model.name!r} is called {name!r} in the mapping of models; give it one name")
        previous = self._entries.setdefault(model.name, {}).get(model.version)
        entry = _Entry(model, missed=previous is not None and previous.state == "UNAVAILABLE")
        if previous is None or previous.state not in ("READY", "LOADING"):
            self._entries[model.name][model.version] = entry
        self._group.start_soon(self._run, entry)
        try:
            await entry.settled.wait()
        except BaseException:
            self._retire(entry)  # nobody waits for it any more
            self._remove(entry)
            raise
        if entry.state != "READY":
            self._remove(entry)
            if not entry.reason:
                raise _WithdrawnError(f"{model.name}: it was replaced or unloaded while it was loading")
            raise NotReadyError(f"{model.name}: {entry.reason}") from entry.error
        versions = self._entries.setdefault(model.name, {})
        current = versions.get(model.version)
        versions[model.version] = entry
        if current is not None and current is not entry:
            self._retire(current)
        self.failures.pop(model.name, None)
        return model

    def _remove(self, entry: _Entry) -> None:
        versions = self._entries.get(entry.model.name, {})
        if versions.get(entry.model.version) is entry:
            del versions[entry.model.version]
        if not versions:
            self._entries.pop(entry.model.name, None)

    async def _run(self, entry: _Entry) -> None:
        """Host of a model's life: its batcher is started and left in this task."""
        model = entry.model

        def ready() -> None:
            self._serving.append(entry)
            if not entry.stop.is_set():
                entry.state = "READY"
                logger.info("%s, version %s: ready", model.name, model.version)
            entry.settled.set()

        try:
            with entry.scope:
                await model.serve(ready, entry.stop, self._progress)
        except Exception as error:
            # Whatever went wrong is this model's: the others go on.
            entry.reason = f"{type(error).__name__}: {error}"
            entry.error = error
            if entry.state == "READY":
                logger.exception("%s, version %s failed while it was serving", model.name, model.version)
        finally:
            self._keep_counts(entry)
            entry.state = "UNAVAILABLE"
            entry.settled.set()
            entry.ended.set()

    def _keep_counts(self, entry: _Entry) -> None:
        stats = entry.model.stats()
        if entry in self._serving and stats is not None:
            self._serving.remove(entry)
            key = (entry.model.name, entry.model.version)
            before = [self._counted[key]] if key in self._counted else []
            self._counted[key] = merged_stats([*before, stats.without_present()])

    def _retire(self, entry: _Entry) -> None:
        if entry.state == "LOADING":
            entry.scope.cancel()
        if entry.state in ("READY", "LOADING"):
            entry.state = "UNLOADING"
        entry.stop.set()

    async def unload(self, name: str, version: str | None = None) -> None:
        """Take a model, or one version of it, out of service; returns when all it had accepted is answered.

        One that could not be started is not missed any more then. Raises ``UnknownModelError``.
        """
        versions = self._entries.get(name, {})
        entries = [entry for key, entry in versions.items() if version is None or key == version]
        failed = self.failures.pop(name, None)
        if not entries and failed is None:
            raise UnknownModelError(f"there is no model {_title(name, version)}")
        for entry in entries:
            self._remove(entry)
            self._retire(entry)
        for entry in entries:
            await entry.ended.wait()

    # Looking up

    def get(self, name: str, version: str | None = None) -> Model:
        """The model that answers a request now; without a version the latest that is ready.

        Raises ``UnknownModelError``; ``NotReadyError`` while it is loading.
        """
        entry = self._find(name, version)
        if entry.state != "READY":
            reason = f" ({entry.reason})" if entry.reason else ""
            raise NotReadyError(f"{_title(name, version)} is {entry.state.lower()}{reason}")
        return entry.model

    def _find(self, name: str, version: str | None) -> _Entry:
        versions = self._entries.get(name)
        if not versions or (version is not None and version not in versions):
            if self.starting and version is None:
                raise NotReadyError(f"{_title(name, version)} is not there yet: models are being loaded")
            raise UnknownModelError(f"there is no model {_title(name, version)}")
        if version is not None:
            return versions[version]
        ready = [entry for entry in versions.values() if entry.state == "READY"]
        return max(ready or versions.values(), key=lambda entry: _order(entry.model.version))

    def versions(self, name: str) -> list[str]:
        """The versions of a model, the latest last."""
        return sorted(self._entries.get(name, {}), key=_order)

    def models(self) -> list[Model]:
        """All models that are ready."""
        return [entry.model for entry in self._all() if entry.state == "READY"]

    def all_models(self) -> list[Model]:
        """All models that are ready, loading or being unloaded."""
        return [entry.model for entry in self._all()]

    def stats(self) -> dict[tuple[str, str], BatcherStats]:
        """By name and version, what was counted by models that are or were ready, and what they are doing."""
        found = {key: [stats] for key, stats in self._counted.items()}
        for entry in self._serving:
            stats = entry.model.stats()
            if stats is not None:
                found.setdefault((entry.model.name, entry.model.version), []).append(stats)
        return {
            key: dataclasses.replace(merged_stats(parts), ready=any(part.ready for part in parts))
            for key, parts in found.items()
        }

    def index(self) -> list[dict[str, str]]:
        """Names, versions and states, with those that could be loaded."""
        rows = [
            {
                "name": entry.model.name,
                "version": entry.model.version,
                "state": entry.state,
                "reason": entry.reason,
            }
            for entry in self._all()
        ]
        rows += [
            {"name": name, "version": "", "state": "UNAVAILABLE", "reason": self.failures.get(name, "unloaded")}
            for name in self.sources
            if name not in self._entries and not self.starting
        ]
        return rows

    @property
    def ready(self) -> bool:
        """Whether every model that it was made with, and every one that was loaded since, can answer; and there is one.

        One that is being loaded beside others takes nothing away from what is there.
        """
        entries = [entry for entry in self._all() if entry.state != "LOADING" or entry.missed]
        return (
            bool(entries)
            and not self.starting
            and not self.failures
            and all(entry.state == "READY" and _batches(entry.model) for entry in entries)
        )


def _batches(model: Model) -> bool:
    return model.batcher is not None and model.batcher.ready


def _order(version: str) -> tuple[bool, int, str]:
    """Numbers in their order, after names."""
    return (True, int(version), version) if version.isascii() and version.isdigit() else (False, 0, version)


def _title(name: str, version: str | None) -> str:
    return repr(name[:60]) + ("" if version is None else f", version {version[:60]}")
