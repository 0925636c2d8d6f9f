"""``TextEmbedder``: a model that maps texts to vectors."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import anyio.to_thread
import numpy as np

from ..._base.errors import InvalidInputError
from ..batching.inputs import TensorSpec
from .model import Model
from .tensors import datatype

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from .tensors import HostArray

# Requests can have 2048 texts, by OpenAI's form: room for one, and for others behind it.
MAX_QUEUE: Final = 4096
# Splitting fewer characters than this takes less time than asking another thread to.
HERE_CHARACTERS: Final = 2000


class Embedded(NamedTuple):
    """Vectors (texts, dimensions), and how many tokens the texts are."""

    vectors: HostArray
    tokens: int


class TextEmbedder(Model):
    """A version of a model for texts. Clients send strings; ``encode`` maps token numbers, padded with 0, to vectors.

    ``tokenize`` gives the token numbers of each of several texts, and may be called in any thread. Texts are padded to
    the next of ``lengths`` and batched with others of that length; longer ones are refused, or cut if the client says
    so. ``options`` are those of ``Batcher``, with room for 4096 texts in the queue unless they say otherwise.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[Any], Any],
        tokenize: Callable[[Sequence[str]], Sequence[Sequence[int]]],
        lengths: Sequence[int],
        *,
        batch_sizes: Sequence[int] = (1, 2, 4, 8, 16, 32),
        version: str = "1",
        **options: Any,
    ) -> None:
        super().__init__(
            name,
            encode,
            {"tokens": TensorSpec(("tokens",), "int32")},
            outputs=("embedding",),
            version=version,
            buckets={"batch": tuple(batch_sizes), "tokens": tuple(lengths)},
            **{"max_queue": MAX_QUEUE, **options},
        )
        self._tokenize = tokenize
        self._lengths = sorted(lengths)

    @property
    def dimensions(self) -> int:
        """The length of a vector. Known once the model is ready."""
        return self.outputs["embedding"][1][0]

    async def embed(
        self,
        texts: Sequence[str],
        *,
        truncate: bool = False,
        timeout: float | None = None,
        priority: int = 0,
        client: Hashable = None,
    ) -> Embedded:
        """The vectors of ``texts``. Raises ``InvalidInputError`` for one too long, and what ``Batcher`` does."""
        self._check_count(len(texts))
        if sum(map(len, texts)) < HERE_CHARACTERS:
            rows = self._tokenize(texts)
        else:
            rows = await anyio.to_thread.run_sync(self._tokenize, texts)
        longest = self._lengths[-1]
        groups: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            if len(row) > longest and not truncate:
                raise InvalidInputError(
                    f"{self.name}: text {place} has {len(row)} tokens; at most {longest} are allowed, and "
                    '"truncate": true cuts it'
                )
            length = self._lengths[min(bisect.bisect_left(self._lengths, len(row)), len(self._lengths) - 1)]
            groups.setdefault(length, []).append(place)
        options = {"timeout": timeout, "priority": priority, "client": client}
        vectors = np.zeros((len(texts), self.dimensions), np.float32)

        async def part(places: list[int]) -> None:
            vectors[places] = await self._embed_rows([rows[place][:longest] for place in places], options)

        if len(groups) == 1:
            await part(next(iter(groups.values())))
        else:
            await _all(part, groups.values())
        return Embedded(vectors, sum(min(len(row), longest) for row in rows))

    async def _embed_rows(self, rows: Sequence[Sequence[int]], options: Mapping[str, Any]) -> HostArray:
        assert self.batcher is not None
        width = max(1, *map(len, rows)) if rows else 1
        tokens = np.zeros((len(rows), width), np.int32)
        for line, row in zip(tokens, rows, strict=True):
            line[: len(row)] = row
        vectors: HostArray = await self.batcher({"tokens": tokens}, batched=True, **options)
        return vectors

    async def infer(
        self,
        inputs: Mapping[str, HostArray],
        *,
        timeout: float | None = None,
        priority: int = 0,
        client: Hashable = None,
    ) -> dict[str, HostArray]:
        """The vectors of the strings in ``inputs["text"]``."""
        for name, given in inputs.items():
            self.check_tensor(name, datatype(given.dtype), given.shape)
        if not inputs:
            raise InvalidInputError(f"{self.name}: there are no inputs; it takes ['text']")
        array = inputs["text"]
        try:
            texts = [text.decode() for text in array]
        except UnicodeDecodeError:
            raise InvalidInputError(f"{self.name}: input 'text' has bytes that are not UTF-8") from None
        vectors, _ = await self.embed(texts, timeout=timeout, priority=priority, client=client)
        return {"embedding": vectors}

    def check_tensor(self, name: str, datatype: str, shape: tuple[int, ...]) -> None:
        """``InvalidInputError`` unless it is the texts, and not too many of them."""
        if name != "text":
            raise InvalidInputError(f"{self.name}: there is no input {name[:60]!r}; it takes ['text']")
        if datatype != "BYTES" or len(shape) != 1:
            raise InvalidInputError(f"{self.name}: input 'text' has to be BYTES of shape [-1]")
        self._check_count(shape[0])

    def _check_count(self, texts: int) -> None:
        if texts > self.max_rows:
            # Texts of several lengths wait apart, and together would never find room.
            raise InvalidInputError(
                f"{self.name}: there are {texts} texts; at most max_queue={self.max_rows} are allowed"
            )

    def metadata(self) -> dict[str, Any]:
        """Inputs and outputs as clients see them."""
        return {**super().metadata(), "inputs": [{"name": "text", "datatype": "BYTES", "shape": [-1]}]}


async def _all(function: Callable[[list[int]], Any], arguments: Any) -> None:
    """Call ``function`` for all at once. The first error cancels the others, and is raised as it is."""
    failures: list[Exception] = []
    async with anyio.create_task_group() as group:

        async def one(argument: list[int]) -> None:
            try:
                await function(argument)
            except Exception as error:
                failures.append(error)
                group.cancel_scope.cancel()

        for argument in arguments:
            group.start_soon(one, argument)
    if failures:
        raise failures[0]
