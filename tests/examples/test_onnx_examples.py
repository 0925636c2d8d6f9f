"""The examples of ONNX models: what they find, and that their streams are what onnxruntime makes of them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("fastapi", reason="the extra serving is not installed")

from examples import file_types, voice_activity

ROOT = Path(__file__).resolve().parents[2]


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed: pip install --no-deps {package}")


@needs("magika")
@pytest.mark.asyncio
async def test_file_types(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("name,age,town\n" + "".join(f"one{k},{k},here\n" for k in range(200)))
    expected = {
        ROOT / "README.md": "markdown",
        ROOT / "pyproject.toml": "toml",
        ROOT / "aioarray/__init__.py": "python",
        ROOT / "examples/search/page.html": "html",
        tmp_path / "rows": "csv",
    }
    types = await file_types.load()
    async with types.batcher:
        found = await asyncio.gather(*map(types, expected))
    assert [label for label, _ in found] == list(expected.values())


def voice() -> bytes:
    """Two seconds of something like a voice: harmonics that swell."""
    t = np.arange(32000) / 16000
    rng = np.random.default_rng(0)
    sound = sum(np.sin(2 * np.pi * 140 * k * t) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 3 * t))
    return ((sound + rng.normal(0, 0.1, t.size)) * 3000).astype("<i2").tobytes()


@needs("silero_vad")
@pytest.mark.asyncio
async def test_voice_activity_does_not_depend_on_how_a_stream_is_cut() -> None:
    model, audio, draw = await voice_activity.load(), voice(), random.Random(0)
    whole = await voice_activity.Stream(model).feed(audio)
    stream, pieces, start = voice_activity.Stream(model), [], 0
    while start < len(audio):
        end = start + 2 * draw.randrange(1, 2000)
        pieces += await stream.feed(audio[start:end])
        start = end
    assert len(whole) == 32000 // 512
    assert pieces == whole


@needs("silero_vad")
@pytest.mark.asyncio
async def test_voice_activity_is_what_onnxruntime_finds() -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, to compare with, is not installed")
    spec = importlib.util.find_spec("silero_vad")
    assert spec is not None
    assert spec.submodule_search_locations
    session = onnxruntime.InferenceSession(str(Path(spec.submodule_search_locations[0], "data/silero_vad.onnx")))
    samples = np.frombuffer(voice(), "<i2").astype(np.float32) / 32768
    samples = np.concatenate([np.zeros(64, np.float32), samples])
    state, expected = np.zeros((2, 1, 128), np.float32), []
    for start in range(0, len(samples) - 575, 512):
        feeds = {"input": samples[None, start : start + 576], "state": state, "sr": np.asarray(16000)}
        probability, state = session.run(None, feeds)
        expected.append(probability.item())
    found = await voice_activity.Stream(await voice_activity.load()).feed(voice())
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@needs("silero_vad")
@pytest.mark.asyncio
async def test_voice_activity_over_a_websocket() -> None:
    sent: list[Any] = []
    received = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": voice()[:4096]},
        {"type": "websocket.disconnect", "code": 1000},
    ]

    async def receive() -> Any:
        return received.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/listen", "headers": [], "query_string": b"", "subprotocols": []}
    async with voice_activity.lifespan(voice_activity.app):
        await voice_activity.app(scope, receive, send)
    probabilities = [json.loads(message["text"]) for message in sent if message["type"] == "websocket.send"]
    assert len(probabilities) == 4
    assert all(0 <= each <= 1 for each in probabilities)
