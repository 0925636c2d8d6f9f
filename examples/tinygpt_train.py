"""Trains the small language model of ``tinygpt.py`` with JAX, on text that comes with Python, for nine minutes.

    python examples/tinygpt_train.py

It needs ``jax`` to train and nothing else; the weights are written to ``tinygpt.safetensors`` beside this file, and
what JAX computes with them for one text to ``tests/nn/data/tinygpt_reference.safetensors``. Running the model needs
neither.
"""

import functools
import json
import math
import time
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

FOLDER = Path(__file__).resolve().parent
LAYERS, WIDTH, HEADS, CONTEXT = 4, 96, 4, 128
STEPS, BATCH, SECONDS = 4000, 12, 540
RATE, WARMUP, DECAY = 3e-3, 100, 0.1

Weights = dict[str, Any]


def text() -> tuple[str, str]:
    """Python's documentation, and the characters in it that are not rare."""
    whole = "\n\n".join(topics[name] for name in sorted(topics))
    known = "".join(sorted(c for c in set(whole) if c.isascii() and (c == "\n" or c.isprintable())))
    return "".join(c for c in whole if c in known), known


def initial(characters: int, seed: int) -> Weights:
    generator = np.random.default_rng(seed)

    def normal(*shape: int, scale: float = 0.02) -> np.ndarray:
        return (generator.normal(size=shape) * scale).astype(np.float32)

    weights = {"embedding": normal(characters, WIDTH), "norm": np.ones(WIDTH, np.float32)}
    deep = 0.02 / math.sqrt(2 * LAYERS)
    for i in range(LAYERS):
        weights |= {
            f"{i}.attention.norm": np.ones(WIDTH, np.float32),
            f"{i}.attention.qkv": normal(3 * WIDTH, WIDTH),
            f"{i}.attention.out": normal(WIDTH, WIDTH, scale=deep),
            f"{i}.mlp.norm": np.ones(WIDTH, np.float32),
            f"{i}.mlp.in": normal(4 * WIDTH, WIDTH),
            f"{i}.mlp.out": normal(WIDTH, 4 * WIDTH, scale=deep),
        }
    return weights


def rms_norm(x: jax.Array, weight: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * weight


def rotary(x: jax.Array) -> jax.Array:
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None, :], jnp.sin(angles)[:, None, :]
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def logits(weights: Weights, tokens: jax.Array) -> jax.Array:
    """(batch, length, characters) for tokens (batch, length)."""
    n, length = tokens.shape
    x = weights["embedding"][tokens]
    for i in range(LAYERS):
        inner = rms_norm(x, weights[f"{i}.attention.norm"]) @ weights[f"{i}.attention.qkv"].T
        query, key, value = jnp.split(inner.reshape(n, length, 3 * HEADS, WIDTH // HEADS), 3, axis=2)
        attended = jax.nn.dot_product_attention(rotary(query), rotary(key), value, is_causal=True)
        x = x + attended.reshape(n, length, WIDTH) @ weights[f"{i}.attention.out"].T
        inner = rms_norm(x, weights[f"{i}.mlp.norm"]) @ weights[f"{i}.mlp.in"].T
        x = x + jax.nn.gelu(inner, approximate=True) @ weights[f"{i}.mlp.out"].T
    return rms_norm(x, weights["norm"]) @ weights["embedding"].T


def loss(weights: Weights, tokens: jax.Array) -> jax.Array:
    chosen = jax.nn.log_softmax(logits(weights, tokens[:, :-1]))
    return -jnp.take_along_axis(chosen, tokens[:, 1:, None], -1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(weights: Weights, moments: Any, tokens: jax.Array, step: jax.Array, rate: jax.Array) -> Any:
    """One step of AdamW (Loshchilov and Hutter, arXiv 1711.05101)."""
    value, gradients = jax.value_and_grad(loss)(weights, tokens)
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients.values()))
    gradients = {name: g * jnp.minimum(1, 1 / norm) for name, g in gradients.items()}
    first = {name: 0.9 * moments[0][name] + 0.1 * g for name, g in gradients.items()}
    second = {name: 0.98 * moments[1][name] + 0.02 * g * g for name, g in gradients.items()}

    def new(name: str) -> jax.Array:
        change = first[name] / (1 - 0.9**step) / (jnp.sqrt(second[name] / (1 - 0.98**step)) + 1e-8)
        return weights[name] - rate * (change + DECAY * weights[name] * (weights[name].ndim > 1))

    return {name: new(name) for name in weights}, (first, second), value


def train(data: np.ndarray, characters: int) -> Weights:
    weights = jax.tree.map(jnp.asarray, initial(characters, 0))
    moments = tuple(jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    generator = np.random.default_rng(1)
    held_out, data = data[-len(data) // 20 :], data[: -len(data) // 20]
    begin = time.monotonic()
    for step in range(1, STEPS + 1):
        # How far: the rate falls to nothing at the last step, or when time is up.
        done = max(step / STEPS, (time.monotonic() - begin) / SECONDS)
        if done > 1:
            break
        rate = RATE * min(step / WARMUP, 1) * 0.5 * (1 + math.cos(math.pi * done))
        starts = generator.integers(0, len(data) - CONTEXT - 1, BATCH)
        tokens = np.stack([data[start : start + CONTEXT + 1] for start in starts])
        weights, moments, value = update(weights, moments, tokens, jnp.float32(step), jnp.float32(rate))
        if step % 100 == 0:
            print(f"step {step}: {float(value):.3f} after {time.monotonic() - begin:.0f} s", flush=True)
    rows = held_out[: len(held_out) // (CONTEXT + 1) * (CONTEXT + 1)].reshape(-1, CONTEXT + 1)
    print(f"held out: {float(jnp.mean(jnp.stack([loss(weights, row[None]) for row in rows]))):.3f} nats a character")
    return {name: np.asarray(value) for name, value in weights.items()}


def write(path: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> None:
    """A safetensors file."""
    kinds = {"float32": "F32", "int32": "I32"}
    header: dict[str, Any] = {"__metadata__": metadata}
    position = 0
    for name, value in tensors.items():
        offsets = [position, position + value.nbytes]
        header[name] = {"dtype": kinds[value.dtype.name], "shape": list(value.shape), "data_offsets": offsets}
        position += value.nbytes
    content = json.dumps(header).encode()
    content += b" " * (-len(content) % 8)
    path.write_bytes(len(content).to_bytes(8, "little") + content + b"".join(x.tobytes() for x in tensors.values()))


def main() -> None:
    whole, known = text()
    numbers = {c: i for i, c in enumerate(known)}
    data = np.array([numbers[c] for c in whole], np.int32)
    print(f"{len(data)} characters, {len(known)} different ones")
    weights = train(data, len(known))
    print(f"{sum(x.size for x in weights.values())} weights")
    write(FOLDER / "tinygpt.safetensors", weights, {"characters": known, "jax": jax.__version__})
    tokens = data[1000 : 1000 + 64]
    reference = {"tokens": tokens, "logits": np.asarray(logits(weights, tokens[None])[0])}
    target = FOLDER.parent / "tests" / "nn" / "data" / "tinygpt_reference.safetensors"
    write(target, reference, {"what": "logits that JAX gives for these tokens"})


if __name__ == "__main__":
    main()
