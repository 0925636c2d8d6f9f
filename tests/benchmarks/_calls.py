"""One call of every public function, operator, index and kind of operand, as text that each library evaluates.

The same text serves aioarray, JAX and NumPy (``xp``), which have the array API's names. A library that lacks a name is
left out of that row.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType

SMALL, SQUARE, LINE = "4×4", "1000²", "10⁶"
EVERYWHERE = (SMALL, SQUARE, LINE)
# A matrix function takes the third power of its size.
MATRIX = (SMALL, "128²")
SHAPES = {SMALL: (4, 4), SQUARE: (1000, 1000), LINE: (1_000_000,), "128²": (128, 128), "10³": (1000,)}


class Call(NamedTuple):
    """An expression, and the sizes at which it is measured."""

    expression: str
    sizes: tuple[str, ...] = EVERYWHERE

    def code(self) -> CodeType:
        return compile(self.expression, self.expression, "eval")


def arguments(size: str, array: Callable[[Any], Any]) -> dict[str, Any]:
    """What expressions name, for a library whose function ``array`` makes arrays of NumPy's."""
    shape = SHAPES[size]
    random = np.random.default_rng(0)
    a, b = (random.uniform(0.1, 0.9, shape).astype(np.float32) for _ in range(2))
    i, j = (random.integers(1, 100, shape, np.int32) for _ in range(2))
    m, k = (random.random(shape) < 0.5 for _ in range(2))
    n = shape[-1]
    values = {
        "a": a,
        "b": b,
        "i": i,
        "j": j,
        "m": m,
        "k": k,
        "z": (a + 1j * b).astype(np.complex64),
        "c": np.where(m, np.float32("nan"), a),
        # One row, sorted, and positions in it.
        "v": np.linspace(0, 1, n, dtype=np.float32),
        "p": random.integers(0, shape[0], n, np.int32),
        # Positive definite, where it is square.
        "q": (np.eye(n, dtype=np.float32) * n + (a + a.T)) if len(shape) == 2 else a,
    }
    return {**{name: array(x) for name, x in values.items()}, "h": a.copy(), "s": np.float32(2), "n": n}


# Functions of which the plain call below would not be what they are for.
CALLS: dict[str, Call | str] = {
    # creation
    "arange": "xp.arange(n)",
    "asarray": "xp.asarray(h)",
    "empty": "xp.empty((n, 4))",
    "eye": Call("xp.eye(n)", (SMALL, SQUARE)),
    "from_dlpack": "xp.from_dlpack(h)",
    "full": "xp.full((n, 4), 2.0)",
    "full_like": "xp.full_like(a, 2.0)",
    "geomspace": "xp.geomspace(1.0, 2.0, n)",
    "identity": Call("xp.identity(n)", (SMALL, SQUARE)),
    "indices": Call("xp.indices((n, 4))"),
    "linspace": "xp.linspace(0.0, 1.0, n)",
    "logspace": "xp.logspace(0.0, 1.0, n)",
    "meshgrid": Call("xp.meshgrid(v, v)", (SMALL, SQUARE)),
    "ones": "xp.ones((n, 4))",
    "tri": Call("xp.tri(n)", (SMALL, SQUARE)),
    "zeros": "xp.zeros((n, 4))",
    "tril": Call("xp.tril(a)", (SMALL, SQUARE)),
    "triu": Call("xp.triu(a)", (SMALL, SQUARE)),
    # element-wise
    "acosh": "xp.acosh(a + 1)",
    "astype": "xp.astype(a, xp.int32)",
    "clip": "xp.clip(a, 0.2, 0.8)",
    "pow": "xp.pow(a, 1.5)",
    "where": "xp.where(m, a, 0.0)",
    **{name: f"xp.{name}(i)" for name in ("bitwise_count", "bitwise_invert")},
    **{name: f"xp.{name}(i, j)" for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")},
    **{name: f"xp.{name}(i, 2)" for name in ("bitwise_left_shift", "bitwise_right_shift")},
    **{name: f"xp.{name}(m, k)" for name in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": "xp.logical_not(m)",
    **{name: f"xp.{name}(z)" for name in ("angle", "conj", "imag", "real")},
    "piecewise": "xp.piecewise(a, [m, k], [0.0, 1.0])",
    "select": "xp.select([m, k], [a, b])",
    "choose": "xp.choose(i % 2, [a, b])",
    "nan_to_num": "xp.nan_to_num(c)",
    # reductions, statistics, order
    "all": "xp.all(m)",
    "any": "xp.any(m)",
    "count_nonzero": "xp.count_nonzero(m)",
    **{
        name: f"xp.{name}(c)"
        for name in ("nanmax", "nanmean", "nanmedian", "nanmin", "nanprod", "nanstd", "nansum", "nanvar")
    },
    **{name: f"xp.{name}(a, 30)" for name in ("percentile", "nanpercentile")},
    **{name: f"xp.{name}(a, 0.3)" for name in ("quantile", "nanquantile")},
    "corrcoef": Call("xp.corrcoef(a)", (SMALL, SQUARE)),
    "cov": Call("xp.cov(a)", (SMALL, SQUARE)),
    "bincount": Call("xp.bincount(xp.reshape(i, (-1,)), length=100)"),
    "digitize": "xp.digitize(a, v[:4])",
    "histogram": "xp.histogram(a, 100)",
    "histogram_bin_edges": "xp.histogram_bin_edges(a, 100)",
    "lexsort": "xp.lexsort((a, b))",
    "partition": "xp.partition(a, 2)",
    "argpartition": "xp.argpartition(a, 2)",
    "top_k": "xp.top_k(a, 3)",
    "searchsorted": Call("xp.searchsorted(v, xp.reshape(a, (-1,)))"),
    **{name: f"xp.{name}(i)" for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values")},
    **{name: f"xp.{name}(i, j)" for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d", "isin")},
    "nonzero": "xp.nonzero(m)",
    "argwhere": "xp.argwhere(m)",
    "flatnonzero": "xp.flatnonzero(m)",
    "extract": "xp.extract(m, a)",
    "compress": "xp.compress(v > 0.5, a, axis=-1)",
    # movement
    "apply_along_axis": Call("xp.apply_along_axis(xp.sum, 0, a)", (SMALL, SQUARE)),
    "array_split": "xp.array_split(a, 2)",
    "atleast_3d": "xp.atleast_3d(a)",
    "broadcast_arrays": "xp.broadcast_arrays(a, v)",
    "broadcast_to": "xp.broadcast_to(a, (2, *a.shape))",
    **{name: f"xp.{name}([a, b])" for name in ("column_stack", "concat", "dstack", "hstack", "stack", "vstack")},
    "concat": "xp.concat([a, b])",
    "diag": Call("xp.diag(a)", (SMALL, SQUARE)),
    "diagonal": Call("xp.diagonal(a)", (SMALL, SQUARE)),
    "dsplit": Call("xp.dsplit(a[None], 2)", (SMALL, SQUARE)),
    "expand_dims": "xp.expand_dims(a, axis=0)",
    "fliplr": Call("xp.fliplr(a)", (SMALL, SQUARE)),
    "gradient": "xp.gradient(a)",
    "hsplit": "xp.hsplit(a, 2)",
    "interp": "xp.interp(a, v, v)",
    "matrix_transpose": Call("xp.matrix_transpose(a)", (SMALL, SQUARE)),
    "moveaxis": Call("xp.moveaxis(a, 0, 1)", (SMALL, SQUARE)),
    "pad": "xp.pad(a, 1)",
    "permute_dims": Call("xp.permute_dims(a, (1, 0))", (SMALL, SQUARE)),
    "repeat": "xp.repeat(a, 2)",
    "reshape": "xp.reshape(a, (2, -1))",
    "roll": "xp.roll(a, 1)",
    "rollaxis": Call("xp.rollaxis(a, 1)", (SMALL, SQUARE)),
    "rot90": Call("xp.rot90(a)", (SMALL, SQUARE)),
    "split": "xp.split(a, 2)",
    "squeeze": "xp.squeeze(a[None], 0)",
    "swapaxes": Call("xp.swapaxes(a, 0, 1)", (SMALL, SQUARE)),
    "take": "xp.take(a, p, axis=0)",
    "take_along_axis": "xp.take_along_axis(a, i % n if a.ndim == 1 else i % a.shape[0], 0)",
    "tile": "xp.tile(a, 2)",
    "trace": Call("xp.trace(a)", (SMALL, SQUARE)),
    "unravel_index": "xp.unravel_index(p, (n, 50))",
    "ravel_multi_index": Call("xp.ravel_multi_index((p, p), (n, n), mode='clip')", (SMALL, SQUARE)),
    "unstack": Call("xp.unstack(a)", (SMALL,)),
    "vsplit": Call("xp.vsplit(a, 2)", (SMALL, SQUARE)),
    # windows, polynomials, indices, insertions
    **{name: f"xp.{name}(n)" for name in ("bartlett", "blackman", "hamming", "hanning")},
    "kaiser": "xp.kaiser(n, 8.6)",
    **{name: f"xp.{name}(v[:8], v[:4])" for name in ("polyadd", "polymul", "polysub")},
    **{name: f"xp.{name}(v)" for name in ("polyder", "polyint")},
    "polyfit": Call("xp.polyfit(v, v, 3)"),
    "polyval": "xp.polyval(v[:4], a)",
    "roots": Call("xp.roots(v + 1)", MATRIX),
    "vander": "xp.vander(v, 4)",
    "append": "xp.append(a, b)",
    "block": Call("xp.block([[a, b], [b, a]])", (SMALL, SQUARE)),
    "delete": "xp.delete(a, 1)",
    "insert": "xp.insert(a, 1, 2.0)",
    "fill_diagonal": Call("xp.fill_diagonal(a, 0.0)", (SMALL, SQUARE)),
    "put_along_axis": "xp.put_along_axis(a, i % a.shape[0], 0.0, 0)",
    **{name: Call(f"xp.{name}(n)", (SMALL, SQUARE)) for name in ("diag_indices", "tril_indices", "triu_indices")},
    **{
        name: Call(f"xp.{name}(a)", (SMALL, SQUARE))
        for name in ("diag_indices_from", "tril_indices_from", "triu_indices_from")
    },
    "diagflat": Call("xp.diagflat(v)", (SMALL, SQUARE)),
    "ix_": "xp.ix_(p, p)",
    "ldexp": "xp.ldexp(a, i)",
    "histogram2d": Call("xp.histogram2d(v, v)"),
    "histogramdd": Call("xp.histogramdd(a[:, :3])", (SMALL, SQUARE)),
    "matvec": Call("xp.matvec(a, v)", (SMALL, SQUARE)),
    "vecmat": Call("xp.vecmat(v, a)", (SMALL, SQUARE)),
    "sort_complex": "xp.sort_complex(z)",
    "linalg.multi_dot": Call("xp.linalg.multi_dot([a, b, a])", MATRIX),
    "linalg.tensorinv": Call("xp.linalg.tensorinv(q, ind=1)", MATRIX),
    "linalg.tensorsolve": Call("xp.linalg.tensorsolve(q, v)", MATRIX),
    # products
    "convolve": Call("xp.convolve(v, v[:4])"),
    "correlate": Call("xp.correlate(v, v[:4])"),
    "cross": Call("xp.cross(a[..., :3], b[..., :3])", (SMALL, SQUARE)),
    "dot": Call("xp.dot(a, b)"),
    "einsum": Call("xp.einsum('ij,jk->ik', a, b)", (SMALL, SQUARE)),
    "inner": Call("xp.inner(a, b)"),
    "kron": Call("xp.kron(a, b[:2, :2])", (SMALL, SQUARE)),
    "matmul": Call("xp.matmul(a, b)", (SMALL, SQUARE)),
    "outer": Call("xp.outer(v, v)", (SMALL, SQUARE)),
    "tensordot": Call("xp.tensordot(a, b, axes=1)"),
    # linear algebra
    **{
        f"linalg.{name}": Call(f"xp.linalg.{name}(q)", MATRIX)
        for name in (
            *("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_rank", "pinv", "qr"),
            *("slogdet", "svd", "svdvals", "matrix_norm"),
        )
    },
    "linalg.expm": Call("xp.linalg.expm(a)", MATRIX),
    "linalg.cross": Call("xp.linalg.cross(a[..., :3], b[..., :3])", (SMALL, SQUARE)),
    "linalg.diagonal": Call("xp.linalg.diagonal(a)", (SMALL, SQUARE)),
    "linalg.lstsq": Call("xp.linalg.lstsq(q, a)", MATRIX),
    "linalg.matmul": Call("xp.linalg.matmul(a, b)", (SMALL, SQUARE)),
    "linalg.matrix_power": Call("xp.linalg.matrix_power(a, 5)", MATRIX),
    "linalg.matrix_transpose": Call("xp.linalg.matrix_transpose(a)", (SMALL, SQUARE)),
    "linalg.outer": Call("xp.linalg.outer(v, v)", (SMALL, SQUARE)),
    "linalg.solve": Call("xp.linalg.solve(q, a)", MATRIX),
    "linalg.tensordot": Call("xp.linalg.tensordot(a, b, axes=1)"),
    "linalg.trace": Call("xp.linalg.trace(a)", (SMALL, SQUARE)),
    # transforms
    "fft.fftfreq": "xp.fft.fftfreq(n)",
    "fft.rfftfreq": "xp.fft.rfftfreq(n)",
    **{f"fft.{name}": f"xp.fft.{name}(z)" for name in ("fft", "ifft", "hfft", "irfft", "irfftn", "fftn", "ifftn")},
    **{f"fft.{name}": Call(f"xp.fft.{name}(z)", (SMALL, SQUARE)) for name in ("fft2", "ifft2", "irfft2")},
    "fft.rfft2": Call("xp.fft.rfft2(a)", (SMALL, SQUARE)),
    # operators
    **{f"a {sign} b": f"a {sign} b" for sign in ("+", "-", "*", "/", "//", "%", "**", "==", "<", ">=")},
    "a @ b": Call("a @ b", (SMALL, SQUARE)),
    **{f"i {sign} j": f"i {sign} j" for sign in ("&", "|", "^", "+", "//", "%")},
    "i ** 3": "i ** 3",
    "i << 2": "i << 2",
    "-a": "-a",
    "abs(a)": "abs(a)",
    "~m": "~m",
    # kinds of operands
    "a + 1": "a + 1",
    "a * 2.0": "a * 2.0",
    "2.0 - a": "2.0 - a",
    "a + numpy.float32": "a + s",
    "a + ndarray": "a + h",
    "maximum(a, 0.5)": "xp.maximum(a, 0.5)",
    "where(m, a, b)": "xp.where(m, a, b)",
    # indices
    "a[0]": "a[0]",
    "a[-1]": "a[-1]",
    "a[1:3]": "a[1:3]",
    "a[::2]": "a[::2]",
    "a[::-1]": "a[::-1]",
    "a[None]": "a[None]",
    "a[..., 0]": "a[..., 0]",
    "a[p]": "a[p]",
    "a[m]": "a[m]",
    "a[0, 1:]": Call("a[0, 1:]", (SMALL, SQUARE)),
    # axes
    "sum(axis=0)": Call("xp.sum(a, axis=0)", (SMALL, SQUARE)),
    "sum(axis=1)": Call("xp.sum(a, axis=1)", (SMALL, SQUARE)),
    "sort(axis=0)": Call("xp.sort(a, axis=0)", (SMALL, SQUARE)),
    "cumulative_sum(axis=0)": Call("xp.cumulative_sum(a, axis=0)", (SMALL, SQUARE)),
    "cumulative_sum": Call("xp.cumulative_sum(a, axis=-1)"),
    "cumulative_prod": Call("xp.cumulative_prod(a, axis=-1)"),
    "argmax(axis=1)": Call("xp.argmax(a, axis=1)", (SMALL, SQUARE)),
    # networks and random numbers: JAX has them under other names
    **{
        f"nn.{name}": f"nn.{name}(a)"
        for name in (
            *("elu", "gelu", "hard_swish", "leaky_relu", "log_sigmoid", "log_softmax", "logsumexp", "mish", "relu"),
            *("sigmoid", "silu", "softmax", "softplus", "tanh"),
        )
    },
    "nn.linear": Call("nn.linear(a, b)", (SMALL, SQUARE)),
    "nn.one_hot": Call("nn.one_hot(p, 10)"),
    **{
        f"random.{name}": f"random.{name}(key, shape=a.shape)"
        for name in ("bernoulli", "bits", "exponential", "gumbel", "laplace", "logistic", "normal", "uniform")
    },
    "random.permutation": "random.permutation(key, v)",
    "random.randint": "random.randint(key, a.shape, 0, 10)",
    "random.split": "random.split(key)",
}
# Public functions that are no operation on arrays, or that a row of another benchmark measures.
WITHOUT: Mapping[str, str] = {
    **dict.fromkeys(
        ["as_completed", "block_until_ready", "device_put", "drain", "ready", "run_sync", "stats", "to_host"],
        "waiting and copying: awaiting, transfers",
    ),
    **dict.fromkeys(["jit", "eval_shape", "compile_budget", "warmup"], "compiling: jit_calls, compile_many"),
    **dict.fromkeys(["default_dtypes", "sync_reads", "priority", "profile", "explain"], "settings and reports"),
    **dict.fromkeys(["devices", "register_tree_node", "__array_namespace_info__", "einsum_path"], "no arrays"),
    **dict.fromkeys(["iscomplexobj", "isrealobj", "ndim", "shape", "size"], "no arrays"),
    **dict.fromkeys(["broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"], "no arrays"),
    **dict.fromkeys(["save", "load", "savez", "savez_compressed"], "files: load_weights"),
}


def calls() -> dict[str, Call]:
    """Every call by the name of its row: those above, and a plain one of each other public function."""
    found = {name: call if isinstance(call, Call) else Call(call) for name, call in CALLS.items()}
    for prefix, namespace in (("", aio), ("linalg.", aio.linalg), ("fft.", aio.fft)):
        for name in namespace.__all__:
            function = getattr(namespace, name)
            if callable(function) and not isinstance(function, type) and name not in WITHOUT:
                found.setdefault(prefix + name, Call(f"xp.{prefix}{name}({_plain(function)})"))
    return found


def _plain(function: Callable[..., Any]) -> str:
    """As many arrays as ``function`` needs."""
    parameters = inspect.signature(function).parameters.values()
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return ", ".join("ab"[: sum(p.default is p.empty and p.kind in kinds for p in parameters)])
