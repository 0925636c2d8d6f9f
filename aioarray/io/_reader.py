"""``SafetensorsReader``: the tensors of one file, or of the files that an index names, read when asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from .._array import Array
from .._base.errors import FormatError
from .._graph import array_spec
from .._xla import Device, find_device
from ._file import File, Step

if TYPE_CHECKING:
    from types import TracebackType

    from .._graph import ArraySpec

T = TypeVar("T")

# An index is a list of names: more is a mistake, or an attack.
MAX_INDEX_BYTES = 100_000_000
_INDEX_SUFFIX = ".index.json"
_SUFFIX = ".safetensors"


async def next_step(steps: Generator[T, None, None]) -> T | None:
    """The next of ``steps``, taken on a worker thread; None at the end. Cancelled, it leaves the step to the thread."""
    return await anyio.to_thread.run_sync(next, steps, None, abandon_on_cancel=True)


class SafetensorsReader(Mapping[str, Array]):
    """An open checkpoint: a mapping from names to Arrays, each read from its file whenever it is asked for.

    Made by ``open_safetensors``. ``reader[name]`` and ``read`` hold the calling thread, ``read_async`` not the event
    loop. Any thread may use it. Closed by ``close`` or at the end of ``with``; Arrays that were read stay.

    ``specs`` maps names to what has ``shape``, ``dtype`` and ``nbytes`` (without the tensors whose dtype aioarray does
    not have), ``metadata`` is what the file says about itself.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     aio.io.save_safetensors(path, {"w": aio.ones((2, 3)), "b": aio.zeros(3)})
    ...     with aio.io.open_safetensors(path) as reader:
    ...         print(sorted(reader), reader.specs["w"].shape, reader["b"])
    ['b', 'w'] (2, 3) [0. 0. 0.]
    """

    metadata: Mapping[str, Any]
    specs: Mapping[str, ArraySpec]

    def __init__(self, path: str | os.PathLike[str], *, memory_map: bool = False) -> None:
        self.path: str = os.fspath(path)
        where = _find(self.path)
        self._files: dict[str, File] = {}
        self._places: dict[str, File] = {}
        try:
            if where.endswith(".json"):
                self._open_shards(where, memory_map)
            else:
                file = self._files[where] = File(where, memory_map=memory_map)
                self.metadata = MappingProxyType(file.metadata)
                self._places = dict.fromkeys(file.entries, file)
        except BaseException:
            self.close()
            raise
        entries = {name: file.entries[name] for name, file in self._places.items()}
        self.specs = MappingProxyType(
            {name: array_spec(entry.shape, entry.dtype) for name, entry in entries.items() if entry.dtype is not None}
        )

    def _open_shards(self, index: str, memory_map: bool) -> None:
        places, metadata = _read_index(index)
        self.metadata = MappingProxyType(metadata)
        folder = os.path.dirname(index)
        for name, file_name in places.items():
            if file_name not in self._files:
                path = os.path.join(folder, file_name)
                if not os.path.exists(path):
                    raise FormatError(f"{index}: tensor {name!r} should be in {file_name!r}, which is not there")
                self._files[file_name] = File(path, memory_map=memory_map)
            file = self._files[file_name]
            if name not in file.entries:
                raise FormatError(f"{index}: tensor {name!r} should be in {file_name!r}, which does not have it")
            self._places[name] = file

    def __getitem__(self, name: str) -> Array:
        return self.read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    # Mapping would compare by reading everything.
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"SafetensorsReader({self.path!r}, {len(self)} tensors)"

    def read(self, name: str, *, device: Device | str | None = None) -> Array:
        """The tensor called ``name``; holds the calling thread. ``KeyError`` if there is none.

        ``FormatError`` where bytes are not of their dtype (a boolean that is neither 0 nor 1), where the file has
        become shorter, and for dtypes that aioarray does not have.
        """
        tensors: dict[str, Array] = {}
        for _, completed in self.steps([name], device):
            tensors |= completed
        return tensors[name]

    async def read_async(self, name: str, *, device: Device | str | None = None) -> Array:
        """The tensor called ``name``, read off the event loop; raises as ``read``."""
        tensors: dict[str, Array] = {}
        steps = self.steps([name], device)
        while (step := await next_step(steps)) is not None:
            tensors |= step[1]
        return tensors[name]

    def steps(self, names: Iterable[str], device: Device | str | None = None) -> Generator[Step, None, None]:
        """Read ``names`` file by file, a few megabytes a step: gives (bytes read, tensors completed) for each step."""
        target = find_device(device) if isinstance(device, str) else device
        by_file: dict[File, list[str]] = {}
        for name in dict.fromkeys(names):
            by_file.setdefault(self._place(name), []).append(name)
        return (step for file, chosen in by_file.items() for step in file.steps(chosen, target))

    def nbytes(self, names: Iterable[str]) -> int:
        """How many bytes the tensors called ``names`` take in their files. ``KeyError`` where there is none."""
        return sum(self._place(name).entries[name].nbytes for name in dict.fromkeys(names))

    def _place(self, name: str) -> File:
        try:
            return self._places[name]
        except KeyError:
            some = ", ".join(map(repr, list(self._places)[:5]))
            raise KeyError(f"{self.path} has no tensor {name!r}; it has {len(self)}: {some}, …") from None

    def close(self) -> None:
        """Close the files. Arrays that were read stay."""
        for file in self._files.values():
            file.close()

    def __enter__(self) -> SafetensorsReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _find(path: str) -> str:
    """The file to open for ``path``, which may be a folder with an index or with one safetensors file."""
    if not os.path.isdir(path):
        return path
    names = sorted(os.listdir(path))
    for suffix in (_SUFFIX + _INDEX_SUFFIX, _SUFFIX):
        found = [name for name in names if name.endswith(suffix)]
        if len(found) == 1:
            return os.path.join(path, found[0])
        if found:
            raise FormatError(f"{path}: has several files *{suffix} ({', '.join(found[:5])}); name one")
    raise FormatError(f"{path}: is a folder without a file *{_SUFFIX} or *{_SUFFIX}{_INDEX_SUFFIX}")


def _read_index(path: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Which tensor is in which file beside the index, and the index's metadata."""
    if os.path.getsize(path) > MAX_INDEX_BYTES:
        raise FormatError(f"{path}: is larger than {MAX_INDEX_BYTES} bytes, too large for an index")
    with open(path, "rb") as file:
        text = file.read(MAX_INDEX_BYTES)
    try:
        index = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: is not JSON: {error}") from None
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise FormatError(f'{path}: an index must have "weight_map", an object from tensors to file names')
    for name in places.values():
        # Files beside the index only: a name must not lead elsewhere, on any platform.
        if name in ("", ".", "..") or any(character in name for character in "/\\:\0"):
            raise FormatError(f"{path}: {name!r} is not the name of a file beside the index")
    metadata = index.get("metadata", {})
    return places, metadata if isinstance(metadata, dict) else {}
