"""What can be done for texts as numbers: counts of n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import aioarray as aio

from .._registry import operator
from .._values import Tensor, as_array

if TYPE_CHECKING:
    from .._evaluate import Call


@operator("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(call: Call, x: Tensor) -> Tensor:
    """How often each n-gram of the pool is in each row, with up to ``max_skip_count`` elements left out in between."""
    if call.get("pool_strings"):
        raise call.error("is of texts, which are not on the device", "pool_strings")
    pool, starts = call.items("pool_int64s"), call.items("ngram_counts")
    places, weights = call.items("ngram_indexes"), call.get("weights")
    least, most, skip = call.integer("min_gram_length"), call.integer("max_gram_length"), call.integer("max_skip_count")
    mode = call.text("mode")
    x = as_array(x)
    rows = aio.reshape(x, (1, -1)) if x.ndim == 1 else x
    counts = aio.zeros((rows.shape[0], max(places, default=-1) + 1), dtype=np.float32)
    number = 0  # of the first n-gram of this length
    ends = [*starts[1:], len(pool)]
    for n, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        grams = np.asarray(pool[start:end], np.int64).reshape(-1, n)
        if least <= n <= most and len(grams):
            found = None
            for distance in range(1, skip + 2 if n > 1 else 2):
                windows = rows.shape[1] - (n - 1) * distance
                if windows < 1:
                    break
                index = np.arange(windows)[:, None] + np.arange(n) * distance
                equal = aio.all(rows[:, index][:, :, None, :] == grams.astype(x.dtype), axis=-1)
                count = aio.sum(equal, axis=1, dtype=np.float32)
                found = count if found is None else found + count
            if found is not None:
                target = np.asarray(places[number : number + len(grams)])
                counts = counts.at[:, target].add(found)
        number += len(grams)
    factors = None
    if weights is not None and mode != "TF":
        factors = np.ones(counts.shape[1], np.float32)
        factors[list(places)] = weights
    if mode == "IDF":
        counts = aio.astype(counts > 0, np.float32)
    if factors is not None:
        counts = counts * factors
    return aio.reshape(counts, (-1,)) if x.ndim == 1 else counts
