"""File types, as Google's magika tells them from contents: many files in a few calls of its ONNX model.

    pip install 'aioarray[onnx]' && pip install --no-deps magika
    python examples/file_types.py README.md aioarray/*.py

The package is taken for its model alone; neither onnxruntime nor its own code is needed. What is done here is what
"Magika: AI-Powered Content-Type Detection" (arXiv 2409.13768) describes: the first and the last 1024 bytes, without the
blanks around them, go into the model.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import aioarray as aio

FOLDER = "models/standard_v3_3"


class FileTypes:
    """Tells the types of files; ``async with`` it, and call it with paths from any number of tasks."""

    def __init__(self, model: aio.onnx.Model, config: dict[str, Any]) -> None:
        self.labels: list[str] = config["target_labels_space"]
        self.size: int = config["beg_size"]
        self.block: int = config["block_size"]
        self.padding: int = config["padding_token"]
        specs = aio.serving.TensorSpec((2 * self.size,), "int32")
        self.batcher = aio.serving.Batcher(model, specs=specs, max_batch_size=32, name="magika")

    async def __call__(self, path: Path) -> tuple[str, float]:
        """The likeliest type of a file, and how likely it is."""
        scores = await self.batcher(await asyncio.to_thread(self.features, path))
        best = int(np.argmax(scores))
        return self.labels[best], float(scores[best])

    def features(self, path: Path) -> np.ndarray:
        """The bytes of a file that the model sees, and what stands for none."""
        with path.open("rb") as file:
            first = file.read(self.block).lstrip()[: self.size]
            file.seek(max(0, path.stat().st_size - self.block))
            last = file.read(self.block).rstrip()[-self.size :]
        tokens = np.full(2 * self.size, self.padding, np.int32)
        tokens[: len(first)] = np.frombuffer(first, np.uint8)
        tokens[2 * self.size - len(last) :] = np.frombuffer(last, np.uint8)
        return tokens


async def load() -> FileTypes:
    """The model of the installed package."""
    spec = importlib.util.find_spec("magika")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("magika is missing: pip install --no-deps magika")
    folder = Path(spec.submodule_search_locations[0], FOLDER)
    config = json.loads((folder / "config.min.json").read_text())
    return FileTypes(await aio.onnx.load(folder / "model.onnx"), config)


async def main(paths: list[Path]) -> None:
    """Print the type of each file."""
    types = await load()
    async with types.batcher:
        found = await asyncio.gather(*map(types, paths))
    for path, (label, score) in zip(paths, found, strict=True):
        print(f"{path}: {label} ({score:.0%})")


if __name__ == "__main__":
    asyncio.run(main([Path(each) for each in sys.argv[1:]]))
