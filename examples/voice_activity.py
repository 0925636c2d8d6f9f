"""Is somebody speaking? silero-vad's ONNX model on streams of audio, each from a websocket, its state on the device.

    pip install 'aioarray[onnx,serving]' websockets && pip install --no-deps silero-vad
    uvicorn examples.voice_activity:app

A client sends 16-bit samples at 16 kHz in pieces of any length, and gets the probability of speech for every 32 ms.
``python examples/voice_activity.py speech.wav`` prints them for a file. The package is taken for its model alone.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import wave
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RATE = 16000
FRAME = 512  # samples of which the model tells one probability
CONTEXT = 64  # samples before them that it sees too


class Stream:
    """One speaker: what is left of a frame, and the network's state, which never leaves the device."""

    def __init__(self, model: aio.onnx.Model) -> None:
        self.model = model
        self.samples = np.zeros(CONTEXT, np.float32)
        self.state = aio.zeros((2, 1, 128))

    async def feed(self, audio: bytes) -> list[float]:
        """The probability of speech for each frame that is complete now."""
        heard = np.frombuffer(audio, "<i2").astype(np.float32) / 32768
        self.samples = np.concatenate([self.samples, heard])
        found = []
        while len(self.samples) >= CONTEXT + FRAME:
            frame, self.samples = self.samples[: CONTEXT + FRAME], self.samples[FRAME:]
            # The next frame is enqueued before this one is done; only the probabilities are waited for.
            probability, self.state = self.model(frame[None], self.state, RATE)
            found.append(probability)
        return [float(each[0, 0]) for each in await aio.to_host(found)]


async def load() -> aio.onnx.Model:
    """The model of the installed package, compiled for one stream."""
    spec = importlib.util.find_spec("silero_vad")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("silero-vad is missing: pip install --no-deps silero-vad")
    model = await aio.onnx.load(Path(spec.submodule_search_locations[0], "data/silero_vad.onnx"))
    frame, state = aio.ShapeDtype((1, CONTEXT + FRAME), "float32"), aio.ShapeDtype((2, 1, 128), "float32")
    await model.compile(frame, state, RATE)
    return model


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.model = await load()
    yield


app = FastAPI(lifespan=lifespan)


@app.websocket("/listen")
async def listen(socket: WebSocket) -> None:
    """Samples in, probabilities out."""
    await socket.accept()
    stream = Stream(app.state.model)
    try:
        while True:
            for probability in await stream.feed(await socket.receive_bytes()):
                await socket.send_json(probability)
    except WebSocketDisconnect:
        return


async def main(path: str) -> None:
    """Print the probability for every frame of a file."""
    with wave.open(path) as file:
        if (file.getframerate(), file.getsampwidth(), file.getnchannels()) != (RATE, 2, 1):
            raise SystemExit(f"{path} is not of one channel of 16-bit samples at {RATE} Hz")
        audio = file.readframes(file.getnframes())
    for number, probability in enumerate(await Stream(await load()).feed(audio)):
        print(f"{number * FRAME / RATE:6.2f} s: {probability:.3f}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
