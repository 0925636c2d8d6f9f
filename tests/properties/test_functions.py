"""Every public function against NumPy, on arguments that nobody would think of: one line of ``table.py`` for each.

More examples: ``pytest tests/properties --hypothesis-profile=thorough``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aioarray as aio
from tests.properties.drawing import Draw
from tests.properties.table import CASES

if TYPE_CHECKING:
    from tests.properties.cases import Case

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")

# Functions that the table leaves out.
EXCEPTIONS = {
    **dict.fromkeys(
        (
            "as_completed",
            "block_until_ready",
            "device_put",
            "devices",
            "drain",
            "ready",
            "run_sync",
            "stats",
            "to_host",
        ),
        "waiting and devices: tests/promise",
    ),
    **dict.fromkeys(
        ("eval_shape", "jit", "warmup", "compile_budget", "register_tree_node", "default_dtypes", "sync_reads"),
        "no function of arrays",
    ),
    **dict.fromkeys(("explain", "profile"), "instruments"),
    **dict.fromkeys(("load", "save", "savez", "savez_compressed"), "files: tests/io/test_npy.py"),
    **dict.fromkeys(
        ("can_cast", "finfo", "iinfo", "isdtype", "result_type", "broadcast_shapes", "__array_namespace_info__"),
        "metadata: tests/_functions/test_data_types.py, test_manipulation.py",
    ),
    **dict.fromkeys(("from_dlpack", "asarray"), "host values: tests/_functions/test_creation.py"),
    "einsum_path": "gives no array: tests/_functions/test_products.py",
    **dict.fromkeys(
        ("linalg.eig", "linalg.eigvals", "linalg.qr", "linalg.svd", "linalg.lstsq", "linalg.expm"),
        "not unique, or not in NumPy: tests/namespaces/test_linalg.py",
    ),
}


def public_functions() -> dict[str, Any]:
    return {
        prefix + name: function
        for prefix, module in (("", aio), ("linalg.", aio.linalg), ("fft.", aio.fft))
        for name in module.__all__
        if callable(function := getattr(module, name))
        and not inspect.isclass(function)
        and not inspect.ismodule(function)
        and not isinstance(function, np.dtype)
    }


FUNCTIONS = public_functions()


def test_every_public_function_is_in_the_table_or_excepted() -> None:
    assert sorted(set(FUNCTIONS) - set(CASES) - set(EXCEPTIONS)) == []
    assert sorted(set(CASES) - set(FUNCTIONS)) == []


def numpys(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(getattr(np, module) if module else np, function)


def converted(value: Any, change: Any) -> Any:
    """``value`` with ``change`` applied to all arrays in it."""
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(converted(x, change) for x in value)
    return {k: converted(v, change) for k, v in value.items()} if isinstance(value, dict) else value


def widened(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def flushed(x: np.ndarray) -> np.ndarray:
    """Subnormal numbers as zero, as XLA's CPU programs take them."""
    if x.dtype.kind not in "fc":
        return x
    parts = x.view(x.real.dtype) if x.dtype.kind == "c" and x.ndim else x
    if x.dtype.kind == "c" and not x.ndim:
        return x
    small = np.abs(parts) < np.finfo(parts.dtype).tiny
    return np.where(small, np.copysign(0, parts), parts).astype(parts.dtype).view(x.dtype)


def outputs(value: Any) -> list[np.ndarray]:
    several = isinstance(value, (list, tuple))
    return [np.asarray(x) for x in (value if several else (value,))]


def largest(arguments: Any) -> float:
    sizes = [1.0]
    converted(arguments, lambda x: sizes.append(float(np.max(np.abs(x[np.isfinite(x)]), initial=1))) or x)
    return max(sizes)


def same(got: np.ndarray, want: np.ndarray, bound: float, scale: float | np.ndarray) -> np.ndarray:
    """Where ``got`` is within ``bound`` of ``want``; complex numbers by parts, at the size of the number."""
    if got.dtype.kind not in "fc":
        return got == want
    if got.dtype.kind == "c":
        want = want.astype(got.dtype)
        scale = np.maximum(np.where(np.isfinite(want), np.abs(want), 0), scale)
        return same(got.real, want.real, bound, scale) & same(got.imag, want.imag, bound, scale)
    limits = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        want = want.astype(got.dtype)
        size = np.maximum(np.abs(np.where(np.isfinite(want), want, 0)), scale)
        near = np.abs(got - want) <= bound * limits.eps * size + limits.tiny
    return near | (got == want) | (np.isnan(got) & np.isnan(want))


def check(name: str, case: Case, arguments: tuple[Any, ...]) -> None:
    keywords = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}
    positional = arguments[:-1] if keywords or (arguments and isinstance(arguments[-1], dict)) else arguments
    function, theirs = FUNCTIONS[name], case.theirs or numpys(name)
    if case.ours is not None:
        got = outputs(case.ours(function, *positional, **keywords))
    else:
        got = outputs(function(*converted(positional, aio.asarray), **converted(keywords, aio.asarray)))
    wants = []
    for change in (lambda x: x, flushed):
        changed = converted(positional, change)
        plain = outputs(theirs(*changed, **keywords))
        wide = outputs(theirs(*converted(changed, widened), **keywords)) if case.wide else plain
        wants.append((plain, wide))
    scale = largest((*positional, keywords)) if case.scaled else 0.0
    floating = all(x.dtype.kind in "fc" for x in positional if isinstance(x, np.ndarray))
    assert len(got) == len(wants[0][0])
    for i, x in enumerate(got):
        plain = wants[0][0][i]
        assert x.shape == plain.shape, (name, x.shape, plain.shape)
        assert x.dtype.kind == plain.dtype.kind or {x.dtype.kind, plain.dtype.kind} == set("iu"), (x.dtype, plain.dtype)
        if floating and plain.dtype.kind in "fc" and any(isinstance(a, np.ndarray) for a in positional):
            assert x.dtype == plain.dtype, (name, x.dtype, plain.dtype)
        good = same(x, wants[0][1][i], case.bound, scale)
        if wants[1][1][i].shape == x.shape:
            good = good | same(x, wants[1][1][i], case.bound, scale)
        assert good.all(), f"{name}{arguments}: got {x}, want {wants[0][1][i]}"


# A twelfth of the profile's number: a new shape or dtype is a new program, which takes 20 ms to compile. The same ones
# every time, but for the thorough profile.
@settings(
    max_examples=max(8, settings.default.max_examples // 12),
    derandomize=settings.default.max_examples <= 100,
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_as_numpy(name: str, data: st.DataObject) -> None:
    case = CASES[name]
    check(name, case, case.draw(Draw(data.draw)))
