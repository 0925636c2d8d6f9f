"""The public transforms: arguments, devices and one launch for each call. Accuracy is tested with the definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import fft

X = np.random.default_rng(0).normal(size=(4, 6, 5))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis(name: str) -> None:
    for arguments in ({}, {"n": 7}, {"axis": 0}, {"n": 3, "axis": -2, "norm": "ortho"}):
        before = aio.stats()["enqueued"]
        value = getattr(fft, name)(X, **arguments)
        assert aio.stats()["enqueued"] - before == 1
        np.testing.assert_allclose(np.asarray(value), getattr(np.fft, name)(X, **arguments), atol=1e-13)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name: str) -> None:
    cases: list[dict[str, Any]] = [{}, {"axes": [0, 2]}, {"s": [3, -1], "axes": (2, 0)}, {"norm": "forward"}]
    for arguments in cases:
        value = getattr(fft, name)(X, **arguments)
        np.testing.assert_allclose(np.asarray(value), getattr(np.fft, name)(X, **arguments), atol=1e-12)


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(name: str) -> None:
    for arguments in ({}, {"axes": (0, 1)}, {"s": (3, 4)}):
        value = getattr(fft, name)(X, **arguments)
        np.testing.assert_allclose(np.asarray(value), getattr(np.fft, name)(X, **arguments), atol=1e-12)


def test_frequencies() -> None:
    device = aio.devices()[0]
    for function in (fft.fftfreq, fft.rfftfreq):
        value = function(7, d=0.5, dtype=aio.float64, device=device)
        assert (value.dtype, value.device) == (np.float64, device)
        np.testing.assert_allclose(np.asarray(value), getattr(np.fft, function.__name__)(7, 0.5))
        assert function(7, device="cpu").dtype == np.float32
        with pytest.raises(TypeError, match=f"{function.__name__}: dtype int32"):
            function(7, dtype="int32")
        with pytest.raises(ValueError, match="length 0"):
            function(0)
    with aio.default_dtypes(real="float64"):
        assert fft.fftfreq(7).dtype == np.float64


def test_shifts() -> None:
    for axes in (None, 1, [0, 2]):
        np.testing.assert_array_equal(np.asarray(fft.fftshift(X, axes=axes)), np.fft.fftshift(X, axes))
        np.testing.assert_array_equal(np.asarray(fft.ifftshift(X, axes=axes)), np.fft.ifftshift(X, axes))


def test_inside_jit() -> None:
    @aio.jit
    def smooth(x: aio.Array) -> aio.Array:
        return fft.irfft(fft.rfft(x) * 0.5, n=x.shape[-1])

    np.testing.assert_allclose(np.asarray(smooth(aio.asarray(X))), X / 2, atol=1e-14)


def test_lengths_and_axes_are_integers() -> None:
    with pytest.raises(TypeError):
        fft.fft(X, n=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fft: axis 'x'"):
        fft.fft(X, axis="x")  # type: ignore[arg-type]
