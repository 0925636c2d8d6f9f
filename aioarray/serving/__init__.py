"""Serving models: ``Batcher`` puts the requests of many tasks into few calls of a model.

>>> norm = aio.serving.Batcher(aio.jit(lambda x: aio.linalg.vector_norm(x, axis=1)), max_batch_size=8)
>>> async with norm:
...     print(await norm(aio.asarray([3.0, 4.0])))
5.0
"""

from ._batcher import Batcher
from ._inputs import TensorSpec
from ._statistics import BatcherStats, BucketStats, Histogram

__all__ = ["Batcher", "BatcherStats", "BucketStats", "Histogram", "TensorSpec"]
