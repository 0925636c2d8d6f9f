"""Reading safetensors checkpoints, all of one or some tensors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, TypeAlias

from ._reader import SafetensorsReader, next_step

if TYPE_CHECKING:
    import os

    from .._array import Array
    from .._xla import Device

# Called with (bytes read so far, bytes to read).
Progress: TypeAlias = Callable[[int, int], None]


def open_safetensors(path: str | os.PathLike[str], /, *, memory_map: bool = False) -> SafetensorsReader:
    """Open a safetensors file, the files that an index names (``….index.json``), or the one of them in a folder.

    Reads and checks the headers only. With ``memory_map``, tensors that lie at an address which the device can use
    share the file's pages instead of being copied: the file must then not change as long as they are used.

    Raises ``FormatError``, saying what is wrong and where, for files that are not as the format wants them, and
    ``OSError`` as ``open`` does. Nothing is allocated on the word of a header alone.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     aio.io.save_safetensors(path, {"w": aio.ones((2, 3))}, metadata={"step": "7"})
    ...     with aio.io.open_safetensors(path) as reader:
    ...         print(list(reader), reader.metadata["step"], reader.specs["w"])
    ['w'] 7 float32[2,3]
    """
    return SafetensorsReader(path, memory_map=memory_map)


def _steps(
    path: str | os.PathLike[str], names: Iterable[str] | None, device: Device | str | None, memory_map: bool
) -> Generator[tuple[int, int, dict[str, Array]], None, None]:
    """(Bytes read, bytes to read, tensors completed) after each of the steps.

    The file is opened and closed in here, so that a generator that is dropped between steps leaves none open.
    """
    with open_safetensors(path, memory_map=memory_map) as reader:
        chosen = list(reader if names is None else names)
        total = reader.nbytes(chosen)
        done = 0
        for count, completed in reader.steps(chosen, device):
            done += count
            yield done, total, completed


def load_safetensors(
    path: str | os.PathLike[str],
    /,
    names: Iterable[str] | None = None,
    *,
    device: Device | str | None = None,
    memory_map: bool = False,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """The tensors of a checkpoint by name, or those called ``names``; holds the calling thread while it reads.

    ``path``, ``memory_map`` and errors as for ``open_safetensors``; ``KeyError`` for names that are not there.
    ``progress(done, total)`` is called with bytes now and then.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     aio.io.save_safetensors(path, {"w": aio.ones(2), "b": aio.zeros(1)})
    ...     aio.io.load_safetensors(path, names=["b"])
    {'b': Array([0.], dtype=float32)}
    """
    tensors: dict[str, Array] = {}
    for done, total, completed in _steps(path, names, device, memory_map):
        tensors |= completed
        if progress is not None:
            progress(done, total)
    return tensors


async def load_safetensors_async(
    path: str | os.PathLike[str],
    /,
    names: Iterable[str] | None = None,
    *,
    device: Device | str | None = None,
    memory_map: bool = False,
    progress: Progress | None = None,
) -> dict[str, Array]:
    """The tensors of a checkpoint by name, read off the event loop; otherwise as ``load_safetensors``.

    ``progress(done, total)`` is called on the loop. Cancelling ends it after the few megabytes being read.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "weights.safetensors")
    ...     aio.io.save_safetensors(path, {"w": aio.ones(2)})
    ...     await aio.io.load_safetensors_async(path, progress=lambda done, total: print(done, "of", total))
    8 of 8
    {'w': Array([1., 1.], dtype=float32)}
    """
    tensors: dict[str, Array] = {}
    steps = _steps(path, names, device, memory_map)
    while (step := await next_step(steps)) is not None:
        done, total, completed = step
        tensors |= completed
        if progress is not None:
            progress(done, total)
    return tensors
