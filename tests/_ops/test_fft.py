"""Fourier transforms against NumPy, computed in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aioarray._graph import Definition, Node, array_spec, input_node
from aioarray._ops import fft
from tests._ops.evaluate import evaluate

DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
NORMS = ("backward", "ortho", "forward")
# Powers of two, odd numbers, primes that are small and that take another algorithm.
LENGTHS = pytest.mark.parametrize("length", [1, 2, 3, 8, 15, 101, 1009])


def sample(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    value = generator.normal(size=shape)
    if dtype.startswith("complex"):
        return (value + 1j * generator.normal(size=shape)).astype(dtype)
    return value.astype(dtype)


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def assert_close(value: np.ndarray, expected: np.ndarray) -> None:
    """Within 16 rounding errors of the largest value, measured to be less than 10 for these lengths."""
    assert value.shape == expected.shape
    if value.size:
        error = float(np.abs(value - expected).max())
        assert error <= 16 * float(np.finfo(value.dtype).eps) / 2 * max(float(np.abs(expected).max()), 1e-300)


def together(calls: list[tuple[Definition, tuple[Any, ...]]], x: np.ndarray) -> list[np.ndarray]:
    """Several definitions of ``x``, compiled as one program."""

    def body(node: Node) -> tuple[Node, ...]:
        return tuple(definition(node, *static) for definition, static in calls)

    return list(evaluate(Definition("together", body), x))


@DTYPES
@LENGTHS
def test_one_axis(dtype: str, length: int) -> None:
    x = sample((2, length), dtype)
    names = ["fft", "ifft"]
    if x.dtype.kind == "f":
        names += ["rfft", "ihfft"]
    if length > 1:
        names += ["irfft", "hfft"]
    cases = [(name, norm) for name in names for norm in NORMS]
    values = together([(getattr(fft, name), (None, -1, norm)) for name, norm in cases], x)
    for (name, norm), value in zip(cases, values, strict=True):
        expected = getattr(np.fft, name)(wide(x), norm=norm)
        assert_close(value, expected)
        single = x.dtype in (np.float32, np.complex64)
        assert value.dtype == {"f": "float", "c": "complex"}[expected.dtype.kind] + str(
            (32 if single else 64) * (2 if expected.dtype.kind == "c" else 1)
        )


@pytest.mark.parametrize("n", [1, 4, 5, 9, 20])
def test_length_cuts_or_continues_with_zeros(n: int) -> None:
    x = sample((3, 9, 2), "float64")
    names = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
    values = together([(getattr(fft, name), (n, 1, "backward")) for name in names], x)
    for name, value in zip(names, values, strict=True):
        assert_close(value, getattr(np.fft, name)(x, n, 1))


AXES: list[tuple[tuple[int, ...] | None, tuple[int, ...] | None]] = [
    (None, None),
    (None, (0,)),
    (None, (2, 0)),
    (None, (-1, 1, 0)),
    ((4, 6), None),
    ((2, 3, 7, 4), (3, 1, 0, 2)),
    ((3, -1), (1, 3)),
]


@pytest.mark.parametrize(("s", "axes"), AXES)
def test_several_axes(s: tuple[int, ...] | None, axes: tuple[int, ...] | None) -> None:
    # A complex input of irfftn is no transform of real numbers: what is ignored of it is NumPy's choice too.
    numpy_axes = tuple(range(4 - len(s), 4)) if s is not None and axes is None else axes
    for names, x in (
        (["fftn", "ifftn", "irfftn"], sample((3, 5, 4, 6), "complex128")),
        (["rfftn"], sample((3, 5, 4, 6), "float64")),
    ):
        cases = [(name, norm) for name in names for norm in NORMS]
        values = together([(getattr(fft, name), (s, axes, norm)) for name, norm in cases], x)
        for (name, norm), value in zip(cases, values, strict=True):
            assert_close(value, getattr(np.fft, name)(x, s, numpy_axes, norm))


def test_five_axes_go_in_two_steps() -> None:
    x = sample((2, 3, 4, 3, 5), "float64")
    forward, half = together([(fft.fftn, (None, None, "backward")), (fft.rfftn, (None, None, "backward"))], x)
    assert_close(forward, np.fft.fftn(x))
    assert_close(half, np.fft.rfftn(x))
    assert_close(evaluate(fft.irfftn, half, static=(x.shape, None, "backward")), x)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("bool", "complex64"), ("int8", "complex64"), ("int64", "complex128"), ("float16", "complex64")],
)
def test_other_dtypes(dtype: str, result: str) -> None:
    x = np.array([1, 0, 1, 1]).astype(dtype)
    value = evaluate(fft.fft, x, static=(None, -1, "backward"))
    assert value.dtype == result
    assert_close(value, np.fft.fft(x.astype(np.float64)))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9, 1000])
def test_frequencies(n: int) -> None:
    f32, f64 = np.dtype("float32"), np.dtype("float64")
    np.testing.assert_allclose(evaluate(fft.fftfreq, static=(n, 0.1, f64)), np.fft.fftfreq(n, 0.1), rtol=4e-16)
    np.testing.assert_allclose(evaluate(fft.rfftfreq, static=(n, 0.1, f64)), np.fft.rfftfreq(n, 0.1), rtol=4e-16)
    single = evaluate(fft.fftfreq, static=(n, 3.0, f32))
    assert single.dtype == f32
    np.testing.assert_allclose(single, np.fft.fftfreq(n, 3.0).astype(f32), rtol=2e-7)


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1), (1, 2)])
def test_shifts(axes: Any) -> None:
    x = sample((3, 4, 5), "float32")
    np.testing.assert_array_equal(evaluate(fft.fftshift, x, static=(axes,)), np.fft.fftshift(x, axes))
    np.testing.assert_array_equal(evaluate(fft.ifftshift, x, static=(axes,)), np.fft.ifftshift(x, axes))


def test_no_elements() -> None:
    x = np.zeros((0, 4))
    assert evaluate(fft.fft, x, static=(None, -1, "backward")).shape == (0, 4)
    assert evaluate(fft.rfft, x, static=(None, -1, "backward")).shape == (0, 3)
    assert evaluate(fft.irfft, x, static=(None, -1, "backward")).shape == (0, 6)
    np.testing.assert_array_equal(evaluate(fft.fft, x, static=(3, 0, "backward")), np.zeros((3, 4)))


def node(shape: tuple[int, ...], dtype: str = "float32") -> Node:
    return input_node(array_spec(shape, np.dtype(dtype)))


@pytest.mark.parametrize(
    ("definition", "x", "static", "error", "message"),
    [
        (fft.fft, node((4,)), (None, 1, "backward"), IndexError, "fft: axis 1"),
        (fft.fft, node((4,)), (0, -1, "backward"), ValueError, "length 0 is not possible"),
        (fft.fft, node((0,)), (None, -1, "backward"), ValueError, "length 0"),
        (fft.irfft, node((1,), "complex64"), (None, -1, "backward"), ValueError, "length 0"),
        (fft.fft, node((4,)), (None, -1, "none"), ValueError, "norm 'none'"),
        (fft.hfft, node((4,)), (None, -1, "none"), ValueError, "hfft: norm 'none'"),
        (fft.rfft, node((4,), "complex64"), (None, -1, "backward"), TypeError, "rfft: dtype complex64"),
        (fft.fftn, node((4, 4)), ((2,), (0, 1), "backward"), ValueError, "1 lengths for 2 axes"),
        (fft.fftn, node((4, 4)), ((2, 2, 2), None, "backward"), ValueError, "3 lengths for 2 axes"),
        (fft.fftn, node((4, 4)), (None, (0, 0), "backward"), ValueError, "twice"),
        (fft.fftn, node(()), (None, None, "backward"), ValueError, "no axis"),
        (fft.fftshift, node((4,)), (2,), IndexError, "fftshift: axis 2"),
    ],
)
def test_errors(definition: Definition, x: Node, static: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        definition(x, *static)
