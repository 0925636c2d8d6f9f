"""A small language model that streams text: trained in JAX by ``tinygpt_train.py``, run here without it.

It writes like Python's documentation, character by character::

    python examples/tinygpt.py "The for statement"

All streams share one jitted step: a launch gives the next character of each. A stream may begin, end or be cancelled
between any two.
"""

import asyncio
import random
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import aioarray as aio
from aioarray import nn

LAYERS, WIDTH, HEADS = 4, 96, 4
CAPACITY = 512  # characters of a stream, with its prompt
WINDOW = 128  # how far it looks back: as far as it was trained to
STREAMS = 8
WEIGHTS = Path(__file__).with_name("tinygpt.safetensors")

Weights = dict[str, aio.Array]
Cache = tuple[nn.KVCache, ...]


def new_cache(streams: int) -> Cache:
    return tuple(nn.kv_cache(streams, CAPACITY, HEADS, WIDTH // HEADS) for _ in range(LAYERS))


def forward(weights: Weights, cache: Cache, tokens: aio.Array) -> tuple[aio.Array, Cache]:
    """Logits (streams, length, characters) for the next ``tokens`` (streams, length), and the cache with them."""
    n, length = tokens.shape
    x = nn.embedding(tokens, weights["embedding"])
    places = cache[0].lengths[:, None] + aio.arange(length)
    recent = (aio.arange(CAPACITY) > places[:, :, None] - WINDOW)[:, None]
    updated = []
    for i in range(LAYERS):
        inner = nn.linear(nn.rms_norm(x, weights[f"{i}.attention.norm"]), weights[f"{i}.attention.qkv"])
        inner = aio.reshape(inner, (n, length, 3, HEADS, WIDTH // HEADS))
        query, key = (nn.rotary_embedding(inner[:, :, j], places) for j in (0, 1))
        layer = nn.update_kv_cache(cache[i], key, inner[:, :, 2])
        mask = aio.logical_and(nn.kv_cache_mask(layer, length), recent)
        attended = nn.dot_product_attention(query, layer.keys, layer.values, mask=mask)
        x = x + nn.linear(aio.reshape(attended, (n, length, WIDTH)), weights[f"{i}.attention.out"])
        inner = nn.linear(nn.rms_norm(x, weights[f"{i}.mlp.norm"]), weights[f"{i}.mlp.in"])
        x = x + nn.linear(nn.gelu(inner, approximate=True), weights[f"{i}.mlp.out"])
        updated.append(layer)
    return nn.linear(nn.rms_norm(x, weights["norm"]), weights["embedding"]), tuple(updated)


@aio.jit(donate_argnames="cache")
def step(
    weights: Weights, cache: Cache, tokens: aio.Array, fresh: aio.Array, temperature: aio.Array, chance: aio.Array
) -> tuple[aio.Array, Cache]:
    """The next token of each stream after ``tokens`` (streams,).

    Streams that are ``fresh`` begin anew. The token is where ``chance``, a number in 0..1, falls among the
    probabilities at ``temperature``; the likeliest if that is 0.
    """
    cache = tuple(layer._replace(lengths=aio.where(fresh, 0, layer.lengths)) for layer in cache)
    logits, cache = forward(weights, cache, tokens[:, None])
    logits = logits[:, 0]
    sharpened = nn.softmax(logits / aio.maximum(temperature, 1e-6)[:, None])
    drawn = aio.sum(aio.cumulative_sum(sharpened, axis=1) < chance[:, None], axis=1)
    drawn = aio.minimum(drawn, logits.shape[1] - 1)
    return aio.where(temperature > 0, drawn, aio.argmax(logits, axis=1)), cache


@dataclass(eq=False)
class Stream:
    """A text in the making."""

    waiting: list[int]  # of the prompt, and what was drawn last; last first
    temperature: float
    random: random.Random
    fresh: bool = True
    arrived: asyncio.Queue[int | Exception] = field(default_factory=asyncio.Queue)


class Model:
    """The weights, and the streams that share a step. For one event loop."""

    def __init__(self, weights: Weights, characters: str) -> None:
        self.weights = weights
        self.characters = characters
        self._numbers = {c: i for i, c in enumerate(characters)}
        self._slots: list[Stream | None] = [None] * STREAMS
        self._free = asyncio.Semaphore(STREAMS)
        self._runner: asyncio.Task[None] | None = None

    async def generate(
        self, prompt: str, length: int = 200, temperature: float = 0.7, seed: int | None = None
    ) -> AsyncGenerator[str]:
        """The characters that follow ``prompt``, as they come; ``length`` of them, or until CAPACITY is full."""
        known = [self._numbers[c] for c in prompt if c in self._numbers][-CAPACITY // 2 :] or [self._numbers["\n"]]
        async with self._free:
            stream = Stream(known[::-1], temperature, random.Random(seed))
            slot = self._slots.index(None)
            self._slots[slot] = stream
            try:
                if self._runner is None:
                    self._runner = asyncio.create_task(self._run())
                for _ in range(min(length, CAPACITY - len(known))):
                    token = await stream.arrived.get()
                    if isinstance(token, Exception):
                        raise token
                    yield self.characters[token]
            finally:
                self._slots[slot] = None  # the step that may be under way computes one more for nobody

    async def _run(self) -> None:
        """Step as long as there are streams."""
        try:
            cache = new_cache(STREAMS)
            while any(self._slots):
                streams = list(self._slots)
                tokens, cache = step(self.weights, cache, *self._inputs(streams))
                self._deliver(streams, (await tokens.to_host()).tolist())
        except Exception as error:  # it is for those who wait
            for stream in filter(None, self._slots):
                stream.arrived.put_nowait(error)
        finally:
            self._runner = None

    def _inputs(self, streams: list[Stream | None]) -> tuple[np.ndarray, ...]:
        tokens, fresh = np.zeros(STREAMS, np.int32), np.zeros(STREAMS, bool)
        temperature, chance = np.zeros(STREAMS, np.float32), np.zeros(STREAMS, np.float32)
        for i, stream in enumerate(streams):
            if stream is not None:
                tokens[i], fresh[i], temperature[i] = stream.waiting.pop(), stream.fresh, stream.temperature
                stream.fresh = False
                if not stream.waiting:
                    chance[i] = stream.random.random()
        return tokens, fresh, temperature, chance

    def _deliver(self, streams: list[Stream | None], tokens: list[int]) -> None:
        for stream, token in zip(streams, tokens, strict=True):
            if stream is not None and not stream.waiting:  # otherwise there is more of the prompt
                stream.waiting.append(token)
                stream.arrived.put_nowait(token)


async def load(path: Path = WEIGHTS) -> Model:
    """The model with the weights in ``path``, compiled."""
    with aio.io.open_safetensors(path) as reader:
        characters = reader.metadata["characters"]
    model = Model(await aio.io.load_safetensors_async(path), characters)
    await step.compile(model.weights, new_cache(STREAMS), *model._inputs([None] * STREAMS))
    return model


async def main(prompt: str) -> None:
    model = await load()
    print(prompt, end="", flush=True)
    async for character in model.generate(prompt, temperature=0.5, seed=0):
        print(character, end="", flush=True)
    print()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "The for statement"))
