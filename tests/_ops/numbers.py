"""Numbers to try functions on, and distances between results."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

# What NumPy computes the true results in: more digits than the dtype under test.
WIDER = {
    np.dtype("float32"): np.dtype("float64"),
    np.dtype("float64"): np.dtype("longdouble"),
    np.dtype("complex64"): np.dtype("complex128"),
    np.dtype("complex128"): np.dtype("clongdouble"),
}
LONGDOUBLE_IS_WIDER = np.finfo(np.longdouble).nmant > 60

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, 1e30, -1e30, np.inf, -np.inf, np.nan)


def special(dtype: Any) -> np.ndarray:
    """Zeros, infinities, NaN and ordinary numbers; for complex dtypes every pair of them."""
    if np.dtype(dtype).kind != "c":
        with np.errstate(over="ignore"):
            return np.array(SPECIAL, np.float64).astype(dtype)
    part = np.array(SPECIAL, np.float64)
    z = np.empty((part.size, part.size), dtype)
    z.real, z.imag = part[:, None], part[None, :]
    return z.reshape(-1)


def pairs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair of elements, as two arrays."""
    first, second = np.meshgrid(x, x, indexing="ij")
    return first.reshape(-1), second.reshape(-1)


def spread(dtype: Any, seed: int, count: int = 4000) -> np.ndarray:
    """Normal numbers of ``dtype``: of all magnitudes, small, moderate, near 1 and -1, and as large as an exponential
    bears; for complex dtypes in all combinations of those."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        real = spread(dtype.char.lower(), seed, count)
        imaginary = generator.permutation(spread(dtype.char.lower(), seed + 1, count))
        circle = np.exp(1j * generator.uniform(-4, 4, count)) * (1 + 1e-3 * generator.normal(size=count))
        disc = generator.normal(size=count) + 1j * generator.normal(size=count)
        z = np.empty(real.size, dtype)
        z.real, z.imag = real, imaginary
        return np.concatenate([z, circle, disc, 1e-3 * disc, 10 * disc]).astype(dtype)
    limits = ml_dtypes.finfo(dtype)
    exponent = generator.uniform(float(np.log2(np.float64(limits.tiny))), float(np.log2(np.float64(limits.max))), count)
    near_one = 1 + generator.normal(size=count) * 1e-2
    largest = float(np.log(np.float64(limits.max)))
    return np.concatenate(
        [
            np.exp2(exponent) * generator.choice([-1, 1], count),
            generator.normal(size=count) * 1e-2,
            generator.uniform(-10, 10, count),
            generator.uniform(-1, 1, count),
            near_one,
            -near_one,
            generator.uniform(-largest, largest, count),
        ]
    ).astype(dtype)


def ulps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The distance from ``wanted`` (in more digits) in units of the last place of ``got``'s dtype.

    0 where both are NaN, the same infinity, or too small for a normal number; infinite where only one of them is.
    """
    limits = np.finfo(got.dtype)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        rounded = wanted.astype(got.dtype)
        unit = np.spacing(np.maximum(np.abs(rounded), limits.tiny)).astype(wanted.dtype)
        distance = np.abs(got.astype(wanted.dtype) - wanted) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(wanted))
    # A factor: intermediate results may be too small although the last one just is not.
    tiny = (np.abs(wanted) < 4 * limits.tiny) & (np.abs(got) <= 4 * limits.tiny)
    both_finite = np.isfinite(got) & np.isfinite(rounded)
    return np.where(tiny | (same & ~both_finite), 0, np.where(both_finite, distance, np.inf)).astype(np.float64)


def every(dtype: Any) -> np.ndarray:
    """Every value of a dtype of one or two bytes."""
    dtype = np.dtype(dtype)
    return np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)


def assert_same(got: np.ndarray, wanted: np.ndarray, *arguments: np.ndarray) -> None:
    """Equal in dtype, shape, value, sign of zeros, and place of NaNs."""
    assert got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    if got.dtype.kind == "c":
        assert_same(np.ascontiguousarray(got.real), np.ascontiguousarray(wanted.real), *arguments)
        assert_same(np.ascontiguousarray(got.imag), np.ascontiguousarray(wanted.imag), *arguments)
        return
    equal = got == wanted
    if got.dtype.kind not in "biu":
        nan = np.isnan(wanted)
        equal = np.where(nan, np.isnan(got), equal & (np.signbit(got) == np.signbit(wanted)))
    different = np.flatnonzero(~np.broadcast_to(equal, got.shape))
    report = [
        (tuple(a.reshape(-1)[i] for a in arguments), got.reshape(-1)[i], wanted.reshape(-1)[i]) for i in different[:5]
    ]
    assert not report, f"{different.size} differ, the first (arguments, got, wanted): {report}"
