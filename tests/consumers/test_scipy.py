"""SciPy's functions on Arrays, with its array API support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.consumers.agreement import check, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("scipy", "1.18", reason="SciPy 1.18, whose functions take Arrays, needs Python 3.12")
hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
vq = pytest.importorskip("scipy.cluster.vq")
fft = pytest.importorskip("scipy.fft")
integrate = pytest.importorskip("scipy.integrate")
signal = pytest.importorskip("scipy.signal")
special = pytest.importorskip("scipy.special")
statistics = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(0)
X = RNG.random((6, 5))
P, Q = RNG.random(40), RNG.random(40)


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """SciPy makes arrays of Python numbers on its way and means NumPy's dtypes."""
    with aio.default_dtypes(real="float64", integral="int64"):
        yield


UNARY: dict[str, Callable[[Any], Any]] = {
    "special.gammaln": special.gammaln,
    "special.erf": special.erf,
    "special.logsumexp": special.logsumexp,
    "special.softmax": lambda x: special.softmax(x, axis=1),
    "special.betainc": lambda x: special.betainc(x, x, x),
    "fft.fft": fft.fft,
    "fft.rfft2": fft.rfft2,
    "fft.dct": fft.dct,
    "fft.fftshift": fft.fftshift,
    "signal.detrend": signal.detrend,
    "signal.hilbert": signal.hilbert,
    "stats.zscore": statistics.zscore,
    "stats.skew": statistics.skew,
    "stats.kurtosis": statistics.kurtosis,
    "stats.gmean": statistics.gmean,
    "stats.entropy": statistics.entropy,
    "stats.rankdata": lambda x: statistics.rankdata(x, axis=0),
    "stats.quantile": lambda x: statistics.quantile(x, 0.3),
    "cluster.vq.whiten": vq.whiten,
    "cluster.vq.kmeans2": lambda x: vq.kmeans2(x, x[:2, ...], minit="matrix"),
    "cluster.hierarchy.linkage": hierarchy.linkage,
    "integrate.trapezoid": integrate.trapezoid,
    "integrate.simpson": integrate.simpson,
    "integrate.cumulative_simpson": integrate.cumulative_simpson,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "special.xlogy": special.xlogy,
    "signal.fftconvolve": signal.fftconvolve,
    "signal.freqz": lambda b, a: signal.freqz(b[:4], a[:3]),
    "signal.lfilter": lambda b, x: signal.lfilter(b[:3], b[:2], x),
    "stats.ttest_ind": lambda x, y: tuple(statistics.ttest_ind(x, y)),
    "stats.mannwhitneyu": lambda x, y: tuple(statistics.mannwhitneyu(x, y)),
    "stats.pearsonr": lambda x, y: statistics.pearsonr(x, y).statistic,
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name: str) -> None:
    check(UNARY[name], X)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name: str) -> None:
    check(BINARY[name], P, Q)


@pytest.mark.asyncio
async def test_in_a_coroutine_it_runs_off_the_loop() -> None:
    with aio.sync_reads("raise"):
        scores = await aio.run_sync(statistics.zscore, aio.asarray(X))
        await scores
        compare(scores, statistics.zscore(X))
