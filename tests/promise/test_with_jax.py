"""aioarray and jax live in one process, whichever comes first; and aioarray needs no jax."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from tests.promise.work import ROOT

WITH_JAX = """
import os
order, x64 = {order!r}, {x64!r}
if order == "jax first":
    import jax
    import aioarray as aio
else:
    import aioarray as aio
    before = aio.asarray([1.5], dtype="float64") / 3
    import jax
if x64 == "on":
    jax.config.update("jax_enable_x64", True)
import numpy as np
import jax.numpy as jnp

third = np.float64(1) / 3
big = 2**40 + 1
for _ in range(2):
    ours = aio.asarray(np.array([1.0, 2.0])) / 3
    assert ours.dtype == np.float64, ours.dtype
    assert np.asarray(ours)[0] == third
    integers = aio.asarray(np.array([big])) + 1
    assert integers.dtype == np.int64
    assert np.asarray(integers)[0] == big + 1
    assert (aio.asarray([1.0]) / 3).dtype == np.float32

    theirs = jnp.asarray(np.array([1.0, 2.0])) / 3
    wide = x64 == "on"
    assert theirs.dtype == (np.float64 if wide else np.float32), theirs.dtype
    assert abs(float(theirs[0]) - third) < (1e-15 if wide else 1e-7)
    assert float(jax.jit(lambda x: (x @ x).sum())(jnp.ones((64, 64)))) == 64**3
    if wide:
        assert int((jnp.asarray([big]) + 1)[0]) == big + 1
    assert float((aio.ones((64, 64)) @ aio.ones((64, 64))).sum()) == 64**3
    shared = np.asarray(jnp.from_dlpack(aio.asarray([1.0, 2.0])))
    assert shared.tolist() == [1.0, 2.0]
    assert np.asarray(aio.from_dlpack(jnp.asarray([3.0, 4.0]))).tolist() == [3.0, 4.0]
print("both right")
"""

WITHOUT_JAX = """
import sys

class NoJax:
    def find_spec(self, name, path=None, target=None):
        if name == "jax" or name.startswith("jax."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoJax())
import asyncio
import aioarray as aio

async def main():
    x = aio.random.uniform(aio.random.key(0), (16, 16))
    y = await aio.jit(lambda a: aio.sum(a @ a))(x)
    assert y.shape == ()
    await aio.linalg.solve(x + 16 * aio.eye(16), x)
    await aio.fft.fft(x)

asyncio.run(main())
assert "jax" not in sys.modules
print("works")
"""


def run(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=110, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize("x64", ["off", "on"])
@pytest.mark.parametrize("order", ["jax first", "jax last"])
def test_jax_in_the_same_process(order: str, x64: str) -> None:
    run(WITH_JAX.format(order=order, x64=x64))


def test_no_jax_is_needed() -> None:
    run(WITHOUT_JAX)
