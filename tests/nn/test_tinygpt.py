"""The language model of examples/tinygpt.py: its numbers are JAX's, and its streams do not disturb each other."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aioarray as aio

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"


def load_example() -> Any:
    specification = importlib.util.spec_from_file_location("tinygpt", ROOT / "examples" / "tinygpt.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # A dataclass looks its module up.
    sys.modules["tinygpt"] = module
    specification.loader.exec_module(module)
    return module


tinygpt = load_example()
REFERENCE = {name: np.asarray(x) for name, x in aio.io.load_safetensors(DATA / "tinygpt_reference.safetensors").items()}


@pytest.fixture(scope="module")
def weights() -> Any:
    return aio.io.load_safetensors(ROOT / "examples" / "tinygpt.safetensors")


@pytest.fixture
def model(weights: Any) -> Any:
    with aio.io.open_safetensors(ROOT / "examples" / "tinygpt.safetensors") as reader:
        return tinygpt.Model(weights, reader.metadata["characters"])


def test_the_weights_are_small() -> None:
    assert (ROOT / "examples" / "tinygpt.safetensors").stat().st_size <= 2_000_000


def test_logits_are_those_of_jax(weights: Any) -> None:
    tokens, expected = REFERENCE["tokens"], REFERENCE["logits"]
    run = aio.jit(tinygpt.forward)
    logits, cache = run(weights, tinygpt.new_cache(1), aio.asarray(tokens[None]))
    np.testing.assert_allclose(logits[0], expected, atol=1e-4)
    assert cache[0].lengths.tolist() == [len(tokens)]
    # In pieces, through the cache, they are the same.
    first, cache = run(weights, tinygpt.new_cache(1), aio.asarray(tokens[None, :40]))
    second, _ = run(weights, cache, aio.asarray(tokens[None, 40:]))
    np.testing.assert_allclose(np.concatenate([first[0], second[0]]), expected, atol=1e-4)


async def greedy(weights: Any, prompt: list[int], count: int) -> list[int]:
    """What follows ``prompt``, computed anew for each token."""
    run = aio.jit(tinygpt.forward)
    tokens = list(prompt)
    for _ in range(count):
        padded = np.zeros((1, 64), np.int32)
        padded[0, : len(tokens)] = tokens
        logits, _ = run(weights, tinygpt.new_cache(1), padded)
        tokens.append(int((await logits.to_host())[0, len(tokens) - 1].argmax()))
    return tokens[len(prompt) :]


async def collect(stream: Any) -> str:
    return "".join([character async for character in stream])


@pytest.mark.asyncio
async def test_a_stream_is_what_the_model_says(model: Any, weights: Any) -> None:
    prompt = "The for statement"
    expected = await greedy(weights, [model.characters.index(c) for c in prompt], 20)
    text = await collect(model.generate(prompt, 20, temperature=0))
    assert text == "".join(model.characters[i] for i in expected)


@pytest.mark.asyncio
async def test_streams_share_steps_and_do_not_disturb_each_other(model: Any) -> None:
    prompts = ["The for", "class", "If the object is", "import", "A"]
    alone = [await collect(model.generate(prompt, 12, temperature=0)) for prompt in prompts]
    before = aio.stats()["enqueued"]
    together = await asyncio.gather(*[collect(model.generate(prompt, 12, temperature=0)) for prompt in prompts])
    assert together == alone
    # One launch for each position of the longest, besides making the cache and one step that nobody waited for.
    longest = max(map(len, prompts)) + 12
    assert aio.stats()["enqueued"] - before <= longest + 20
    # More streams than places: some wait for others.
    many = await asyncio.gather(*[collect(model.generate(prompts[i % 5], 12, temperature=0)) for i in range(20)])
    assert many == [alone[i % 5] for i in range(20)]


@pytest.mark.asyncio
async def test_seeds_and_temperature(model: Any) -> None:
    texts = [await collect(model.generate("The ", 30, 1.0, seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert len(texts[0]) == 30


@pytest.mark.asyncio
async def test_a_stream_can_be_left_and_cancelled_between_tokens(model: Any) -> None:
    expected = await collect(model.generate("The for", 30, temperature=0))
    stream = model.generate("class", 100, temperature=0)
    other = asyncio.create_task(collect(model.generate("The for", 30, temperature=0)))
    received = [await anext(stream) for _ in range(3)]
    await stream.aclose()
    assert len(received) == 3

    async def take(count: asyncio.Queue[str]) -> None:
        async for character in model.generate("import", 100, temperature=0):
            count.put_nowait(character)

    arrived: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(take(arrived))
    await arrived.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The others go on as if nothing had been.
    assert await other == expected
    assert model._slots == [None] * tinygpt.STREAMS
    if model._runner is not None:
        await model._runner


@pytest.mark.asyncio
async def test_streams_end_where_the_cache_is_full(model: Any) -> None:
    text = await collect(model.generate("The for statement", 10_000, temperature=0))
    assert len(text) == tinygpt.CAPACITY - len("The for statement")


@pytest.mark.asyncio
async def test_an_error_reaches_every_stream(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("no step today")

    monkeypatch.setattr(tinygpt, "step", fail)
    results = await asyncio.gather(*[collect(model.generate("A", 5)) for _ in range(3)], return_exceptions=True)
    assert [str(result) for result in results] == ["no step today"] * 3


@pytest.mark.asyncio
async def test_load_compiles() -> None:
    model = await tinygpt.load()
    before = aio.stats()["compiles"]
    assert len(await collect(model.generate("The", 5, seed=0))) == 5
    assert aio.stats()["compiles"] <= before + 2  # zeros of the cache
