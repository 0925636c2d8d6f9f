"""Arrays from host values and from rules: dtypes, copies, what is refused, what is compiled."""

from __future__ import annotations

import array
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio
from aioarray._functions import creation


def aligned(count: int, dtype: str = "float32") -> np.ndarray:
    """A NumPy array whose memory XLA can use as it is."""
    memory = np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + count * np.dtype(dtype).itemsize].view(dtype)


# ---- asarray


PYTHON_NUMBERS: list[tuple[Any, str]] = [
    (True, "bool"),
    (3, "int32"),
    (2.5, "float32"),
    (1j, "complex64"),
    ([True, False], "bool"),
    ([True, 2], "int32"),
    ([[1, 2.5], (3, 4)], "float32"),
    ([1, 2j], "complex64"),
    ([], "float32"),
    ([[], []], "float32"),
]


@pytest.mark.parametrize(("value", "dtype"), PYTHON_NUMBERS, ids=str)
def test_python_numbers_get_the_default_dtypes(value: Any, dtype: str) -> None:
    x = aio.asarray(value)
    assert x.dtype == dtype
    assert_array_equal(np.asarray(x), np.asarray(value))


def test_default_dtypes_can_be_others() -> None:
    with aio.default_dtypes(real="float64", integral="int64"):
        assert [aio.asarray(v).dtype.name for v in (1, [1.5], 1j)] == ["int64", "float64", "complex128"]
        assert aio.zeros(2).dtype == aio.linspace(0, 1, 2).dtype == aio.arange(2.5).dtype == np.float64
        assert aio.arange(3).dtype == aio.full(2, 7).dtype == np.int64


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "float64", "complex128", ml_dtypes.bfloat16, "int4"]
)
def test_numpy_arrays_keep_their_dtype(dtype: Any) -> None:
    value = np.array([0, 1, 1]).astype(ml_dtypes.int4 if dtype == "int4" else dtype)
    x = aio.asarray(value)
    assert x.dtype == value.dtype
    assert_array_equal(np.asarray(x), value)


def test_numpy_numbers_in_sequences_keep_their_dtype() -> None:
    assert aio.asarray([np.float64(1), 2.0]).dtype == np.float64
    assert aio.asarray([np.arange(2, dtype=np.int8), np.arange(2, dtype=np.int8)]).dtype == np.int8
    assert aio.asarray(np.float16(1)).dtype == np.float16


def test_other_byte_orders_and_buffers() -> None:
    assert aio.asarray(np.array([1, 2], ">i4")).tolist() == [1, 2]
    assert aio.asarray(array.array("d", [1.5, 2.5])).dtype == np.float64
    assert aio.asarray(memoryview(np.arange(3, dtype=np.int16))).dtype == np.int16


def test_dtype_is_cast_on_the_host() -> None:
    before = aio.stats()["compiles"]
    assert aio.asarray([1, 2], dtype="float64").dtype == np.float64
    assert aio.asarray(np.array([1.7, -1.7]), dtype="int8").tolist() == [1, -1]
    assert aio.asarray([0, 3], dtype=bool).tolist() == [False, True]
    assert aio.stats()["compiles"] == before


def test_integers_out_of_bounds_raise() -> None:
    with pytest.raises(OverflowError, match=r"asarray: integer 2147483648 is out of bounds for int32.*dtype='int64'"):
        aio.asarray(2**31)
    with pytest.raises(OverflowError, match="integer -1 is out of bounds for uint8"):
        aio.asarray([3, -1], dtype="uint8")
    with pytest.raises(OverflowError, match="out of bounds for int64"):
        aio.asarray(2**70, dtype="int64")
    assert aio.asarray(2**64 - 1, dtype="uint64").item() == 2**64 - 1


def test_floats_beyond_the_default_dtypes_range_are_infinite() -> None:
    assert aio.asarray(1.7976931348623157e308).item() == float("inf")
    assert aio.asarray([1e300, complex(0, -1e300)]).tolist() == [float("inf"), complex(0, -float("inf"))]


def test_what_is_no_array_of_numbers_is_refused() -> None:
    for value in (
        "text",
        [["a"]],
        object(),
        None,
        {"a": 1},
        np.array(["x"]),
        np.array(["2020-01-01"], "datetime64[D]"),
    ):
        with pytest.raises(TypeError):
            aio.asarray(value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="inhomogeneous"):
        aio.asarray([[1], [1, 2]])
    with pytest.raises(TypeError, match="take the real part first"):
        aio.asarray(1j, dtype="float32")


def test_host_values_are_copied() -> None:
    value = aligned(1000)
    x = aio.asarray(value)
    value[:] = 1
    assert not np.asarray(x).any()


def test_copy_false_shares_memory_or_raises() -> None:
    value = aligned(1000)
    x = aio.asarray(value, copy=False)
    assert np.shares_memory(np.asarray(x), value)
    with pytest.raises(ValueError, match="C-contiguous"):
        aio.asarray(value[::2], copy=False)
    with pytest.raises(ValueError, match="cannot be shared as float64"):
        aio.asarray(value, dtype="float64", copy=False)
    for other in (1.5, [1.0], [x]):
        with pytest.raises(ValueError, match="copy=False"):
            aio.asarray(other, copy=False)


def test_of_an_array() -> None:
    x = aio.asarray([1.0, 2.0])
    assert aio.asarray(x) is x
    assert aio.asarray(x, copy=False) is x
    assert aio.asarray(x, dtype="float32", device=x.device) is x
    twin = aio.asarray(x, copy=True)
    twin[0] = 9.0
    assert (x.tolist(), twin.tolist()) == ([1, 2], [9, 2])
    assert aio.asarray(x, dtype="int8").dtype == np.int8
    with pytest.raises(ValueError, match="takes a copy"):
        aio.asarray(x, dtype="int8", copy=False)


def test_sequences_of_arrays_are_stacked() -> None:
    x = aio.asarray([1, 2])
    got = aio.asarray([[x, x + 1], [x * 2, x]], dtype="float64")
    assert got.shape == (2, 2, 2)
    assert got.dtype == np.float64
    assert got[0, 1].tolist() == [2, 3]


# ---- DLPack


@pytest.mark.parametrize("copy", [None, True])
def test_from_dlpack(copy: bool | None) -> None:
    value = np.arange(6, dtype=np.int16).reshape(2, 3)
    x = aio.from_dlpack(value, copy=copy)
    assert x.dtype == np.int16
    assert_array_equal(np.asarray(x), value)


def test_from_dlpack_shares_or_copies() -> None:
    value = aligned(100)
    shared, copied = aio.from_dlpack(value, copy=False), aio.from_dlpack(value)
    assert np.shares_memory(np.asarray(shared), value)
    value[:] = 1
    assert not np.asarray(copied).any()


def test_from_dlpack_of_an_array() -> None:
    x = aio.ones(3)
    assert aio.from_dlpack(x).tolist() == [1, 1, 1]


def test_from_dlpack_refuses_what_does_not_export() -> None:
    with pytest.raises(AttributeError):
        aio.from_dlpack([1, 2])  # type: ignore[arg-type]


# ---- Constants and ranges, small ones made on the host and big ones on the device


@pytest.fixture(params=["host", "device"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "device":
        monkeypatch.setattr(creation, "SMALL_BYTES", -1)
    return str(request.param)


@pytest.mark.usefixtures("where")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64", ml_dtypes.bfloat16])
def test_constants(dtype: Any) -> None:
    for function, expected in ((aio.zeros, np.zeros), (aio.ones, np.ones), (aio.empty, np.zeros)):
        x = function((2, 3), dtype=dtype)
        assert x.dtype == dtype
        assert_array_equal(np.asarray(x), expected((2, 3), dtype))


@pytest.mark.usefixtures("where")
def test_full() -> None:
    assert aio.full((2,), True).dtype == np.bool_
    assert aio.full((2,), 7).dtype == np.int32
    assert aio.full((2,), 7, dtype="float64").tolist() == [7, 7]
    assert aio.full(2, 1.9, dtype="int8").tolist() == [1, 1]
    assert aio.full((), 1j).item() == 1j
    assert np.signbit(np.asarray(aio.full(2, -0.0))).all()
    assert not np.signbit(np.asarray(aio.full(2, 0.0))).any()
    assert aio.full((2, 2), aio.asarray([1, 2])).tolist() == [[1, 2], [1, 2]]
    assert aio.full(2, 2**40, dtype="int64").tolist() == [2**40] * 2
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        aio.full(2, 300, dtype="int8")
    with pytest.raises(TypeError, match="give a real number"):
        aio.full(2, 1j, dtype="float32")


@pytest.mark.usefixtures("where")
def test_like_another() -> None:
    x = aio.asarray(np.ones((2, 3), np.int16))
    for function, value in ((aio.zeros_like, 0), (aio.ones_like, 1), (aio.empty_like, 0)):
        assert_array_equal(np.asarray(function(x)), np.full((2, 3), value, np.int16))
        assert function(x, dtype="float64").dtype == np.float64
    assert aio.full_like(x, 5).tolist() == [[5] * 3] * 2


@pytest.mark.usefixtures("where")
@pytest.mark.parametrize(
    "arguments", [(5,), (2, 9), (2, 9, 3), (9, 2, -3), (0,), (-3,), (2.5,), (0, 1, 0.1), (1, 0, -0.25), (5, 5)], ids=str
)
def test_arange(arguments: tuple[float, ...]) -> None:
    x = aio.arange(*arguments)
    dtype = "int32" if all(isinstance(a, int) for a in arguments) else "float32"
    assert_array_equal(np.asarray(x), np.arange(*arguments).astype(dtype), strict=True)


@pytest.mark.usefixtures("where")
def test_elements_of_ranges_are_rounded_once() -> None:
    for wrap in (lambda f: f, aio.jit):
        assert wrap(lambda: aio.arange(1000.0, 1001.0, 0.001))()[-1] == np.float32(1000.999)
        steps = wrap(lambda: aio.arange(1e6, 1e6 + 10, 0.03))()
        assert_array_equal(np.asarray(steps), (1e6 + 0.03 * np.arange(334)).astype(np.float32))
        whole = wrap(lambda: aio.arange(256, 270, dtype="bfloat16"))()
        assert whole.tolist() == [256, 256, 258, 260, 260, 260, 262, 264, 264, 264, 266, 268, 268, 268]
        for grid in (aio.mgrid, aio.ogrid):
            assert wrap(lambda grid=grid: grid[1000.0:1001.0:0.001])()[-1] == np.float32(1000.999)


@pytest.mark.usefixtures("where")
def test_arange_of_integers_beyond_what_floats_hold() -> None:
    start = 2**60 + 1
    assert aio.arange(start, start + 3, dtype="int64").tolist() == [start, start + 1, start + 2]
    assert aio.arange(np.int64(2), np.float64(3.5), np.int8(1)).tolist() == [2, 3]


@pytest.mark.usefixtures("where")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_linspace_between_arrays_does_not_wait_for_them(dtype: str) -> None:
    start, stop = aio.asarray(1, dtype=dtype), aio.asarray(4, dtype=dtype)
    expected = {"int32": "float32"}.get(dtype, dtype)
    for first, last in ((start, stop), (start, 4), (1.0, stop)):
        with aio.sync_reads("raise"):
            points = aio.linspace(first, last, 5)
        assert_array_equal(np.asarray(points), np.linspace(1, 4, 5).astype(expected), strict=True)
    assert aio.linspace(1j, stop, 5).dtype == ("complex128" if dtype == "float64" else "complex64")
    assert aio.linspace(start, stop, 5, dtype="complex128").dtype == np.complex128
    with pytest.raises(ValueError, match=r"linspace: a bound of shape \(2,\)"):
        aio.linspace(aio.zeros(2), stop, 5)
    with pytest.raises(TypeError, match="complex bounds do not fit in float32"):
        aio.linspace(1j, stop, 5, dtype="float32")


def test_arange_reads_bounds_that_are_arrays() -> None:
    assert aio.arange(aio.asarray(3)).tolist() == [0, 1, 2]
    assert aio.arange(aio.asarray(0.5), aio.asarray(2.0)).tolist() == [0.5, 1.5]


def test_linspace() -> None:
    assert_array_equal(np.asarray(aio.linspace(-1, 1, 33)), np.linspace(-1, 1, 33, dtype=np.float32), strict=True)
    assert_array_equal(
        np.asarray(aio.linspace(0, 1, 7, endpoint=False)), np.linspace(0, 1, 7, endpoint=False, dtype="f4")
    )
    assert_array_equal(np.asarray(aio.linspace(1j, 2, 5)), np.linspace(1j, 2, 5).astype("c8"), strict=True)
    assert aio.linspace(0, 1, 0).shape == (0,)


@pytest.mark.usefixtures("where")
@pytest.mark.parametrize("k", [-1, 0, 2, 10])
def test_eye(k: int) -> None:
    assert_array_equal(np.asarray(aio.eye(3, 4, k=k)), np.eye(3, 4, k, np.float32), strict=True)
    assert_array_equal(np.asarray(aio.eye(2, dtype="bool")), np.eye(2, dtype=bool), strict=True)


def test_small_arrays_compile_nothing() -> None:
    before = aio.stats()["compiles"]
    aio.zeros(17), aio.ones((17, 2)), aio.full(17, 3.5), aio.arange(17), aio.linspace(0, 1, 17), aio.eye(17)
    assert aio.stats()["compiles"] == before


def test_big_arrays_of_one_shape_share_a_program() -> None:
    count = creation.SMALL_BYTES // 4 + 1
    assert aio.full(count, 1.5)[-1].item() == 1.5
    before = aio.stats()["compiles"]
    assert aio.full(count, 2.5)[-1].item() == 2.5
    assert aio.stats()["compiles"] == before


def test_shapes_in_every_form() -> None:
    for shape in (3, (3,), [3], np.int64(3), (np.int8(3),), np.array([3])):
        assert aio.zeros(shape).shape == (3,)  # type: ignore[arg-type]


def test_refuses() -> None:
    with pytest.raises(ValueError, match=r"zeros: shape \(-1,\) has a negative length"):
        aio.zeros(-1)
    with pytest.raises(TypeError, match=r"ones: shape 2\.5 is no length"):
        aio.ones(2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arange: step is 0"):
        aio.arange(0, 1, 0)
    with pytest.raises(TypeError, match="arange: stop='b' is no number"):
        aio.arange(0, "b")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num=-1 must not be negative"):
        aio.linspace(0, 1, -1)
    with pytest.raises(TypeError, match="complex bounds do not fit in float32"):
        aio.linspace(0, 1j, 3, dtype="float32")
    with pytest.raises(ValueError, match=r"eye: shape \(-1, -1\)"):
        aio.eye(-1)
    with pytest.raises(ValueError, match="no device 'tpu:7'"):
        aio.zeros(1, device="tpu:7")
    with pytest.raises(TypeError, match="is not a dtype"):
        aio.zeros(1, dtype="float31")


def test_meshgrid_and_triangles() -> None:
    assert aio.meshgrid() == ()
    first, second = aio.meshgrid(aio.arange(2), aio.arange(3), indexing="ij")
    assert first.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert second.shape == (2, 3)
    with pytest.raises(ValueError, match="indexing='ji'"):
        aio.meshgrid(first, indexing="ji")  # type: ignore[arg-type]
    assert aio.tril(aio.ones((2, 2))).tolist() == [[1, 0], [1, 1]]
    assert aio.triu(aio.ones((2, 2)), k=1).tolist() == [[0, 1], [0, 0]]


def test_inside_jit() -> None:
    @aio.jit
    def function(x: aio.Array) -> aio.Array:
        return aio.ones_like(x) + aio.full_like(x, 2, dtype="float64") + aio.asarray(x) + aio.arange(3) + aio.zeros(3)

    assert function(aio.asarray([1, 2, 3])).tolist() == [4, 6, 8]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64", "complex128", "bool"])
@pytest.mark.parametrize("number", [2**64, -(2**64) - 1, 2**70 + 1, 10**30])
def test_integers_beyond_64_bits_are_real_numbers(number: int, dtype: str) -> None:
    target = aio.zeros(1, dtype).dtype
    right = np.asarray(bool(number) if dtype == "bool" else float(number)).astype(target)
    assert np.asarray(aio.asarray(number, dtype=dtype)) == right
    assert np.asarray(aio.asarray([[number], [1]], dtype=dtype))[0, 0] == right
    for made in (aio.full((2,), number, dtype=dtype), aio.full_like(aio.zeros(2), number, dtype=dtype)):
        assert (np.asarray(made) == right).all()
    assert aio.asarray([number, 1.5]).tolist() == np.asarray([number, 1.5], np.float32).tolist()
    if dtype == "float64":
        assert aio.linspace(0, number, 3, dtype=dtype).tolist() == [0.0, number / 2, float(number)]
        assert int(aio.searchsorted(aio.asarray([1.0, 2.0], dtype=dtype), number)) == (2 if number > 0 else 0)


def test_integers_that_nothing_holds() -> None:
    with pytest.raises(OverflowError, match=r"asarray: integer .* is out of bounds for int32"):
        aio.asarray(2**64)
    with pytest.raises(OverflowError, match="asarray: an integer is too large for any floating-point dtype"):
        aio.asarray(10**400, dtype="float64")
    assert aio.geomspace(1, 2**70, 2).tolist() == [1.0, 2.0**70]
