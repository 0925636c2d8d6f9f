"""Functions of neural networks: each takes Arrays and weights, and is one launch.

Layouts are those of PyTorch's functions (linear weights (out, in), convolutions (batch, channels, …)) but for
attention, which takes (batch, length, heads, width). Narrow dtypes are computed in float32 and rounded once.
"""

from .._functions.sorting import top_k
from ._activations import elu, gelu, hard_swish, leaky_relu, log_sigmoid, mish, relu, sigmoid, silu, softplus, tanh
from ._attention import dot_product_attention
from ._convolution import conv, conv_transpose
from ._kv_cache import KVCache, kv_cache, kv_cache_mask, update_kv_cache
from ._linear import dropout, embedding, linear
from ._normalization import batch_norm, group_norm, layer_norm, rms_norm
from ._pooling import adaptive_avg_pool, avg_pool, max_pool
from ._quantization import QuantizedWeight, dequantize, quantize, quantized_matmul
from ._rotary import rotary_embedding
from ._softmax import cross_entropy, log_softmax, logsumexp, one_hot, softmax

__all__ = [
    "KVCache",
    "QuantizedWeight",
    "adaptive_avg_pool",
    "avg_pool",
    "batch_norm",
    "conv",
    "conv_transpose",
    "cross_entropy",
    "dequantize",
    "dot_product_attention",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "hard_swish",
    "kv_cache",
    "kv_cache_mask",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "max_pool",
    "mish",
    "one_hot",
    "quantize",
    "quantized_matmul",
    "relu",
    "rms_norm",
    "rotary_embedding",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
    "top_k",
    "update_kv_cache",
]
