"""The assertions: right in a loop and outside, and with messages that name what is needed to go on."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import trio

import aioarray as aio
from aioarray.testing import Assertion, assert_allclose, assert_array_equal, assert_spec
from aioarray.testing._asserts import warn_forgotten

if TYPE_CHECKING:
    from collections.abc import Callable

NAN, INF = float("nan"), float("inf")


def message_of(assertion: Callable[[], object]) -> list[str]:
    with pytest.raises(AssertionError) as caught:
        assertion()
    return str(caught.value).splitlines()


def line() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


# What is close, and what is equal


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0]),
        (np.float32([1.0, 2.0]), [1.000001, 2.0]),
        ([NAN, INF, -INF], [NAN, INF, -INF]),
        ([1.0, 1.0], 1.0),
        (1, 1.0),
        ([], []),
        ([2 + 1j], [2 + 1j]),
        ([True], [True]),
    ],
)
def test_close(actual: Any, expected: Any) -> None:
    assert_allclose(aio.asarray(actual), expected)
    assert_allclose(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.001]),
        ([NAN], [1.0]),
        ([1.0], [NAN]),
        ([INF], [-INF]),
        ([INF], [1.0]),
        ([1.0], [INF]),
        ([1 + 1j], [1 - 1j]),
        ([1, 2], [1, 3]),
        ([True], [False]),
        ([2.0], 1),
    ],
)
def test_not_close(actual: Any, expected: Any) -> None:
    with pytest.raises(AssertionError, match="differ"):
        assert_allclose(aio.asarray(actual), expected)
    with pytest.raises(AssertionError, match="differ"):
        assert_array_equal(aio.asarray(actual), expected)


def test_the_tolerance_goes_by_the_less_precise_dtype() -> None:
    one = aio.asarray(1.0)
    assert_allclose(one.astype(aio.bfloat16), 1.009)
    assert_allclose(one.astype(aio.float16), np.float64(1.0009))
    for dtype, apart in [("float64", 3e-7), ("float32", 3e-5), ("float16", 3e-3), ("bfloat16", 3e-2)]:
        expected = np.float64(1 + apart)
        with pytest.raises(AssertionError):
            assert_allclose(one.astype(np.dtype(dtype)), expected)
        assert_allclose(one.astype(np.dtype(dtype)), expected, rtol=4 * apart)
        assert_allclose(one.astype(np.dtype(dtype)), expected, rtol=0, atol=2 * apart)


def test_integers_of_64_bits_are_compared_exactly() -> None:
    big = 2**62
    assert_allclose(aio.asarray(np.asarray([big])), np.asarray([big]))
    lines = message_of(lambda: assert_allclose(aio.asarray(np.asarray([big])), np.asarray([big + 1])))
    assert lines[1] == f"  first at [0]: {big}, expected {big + 1}"
    assert lines[2].startswith("  largest error: 1 ")
    # ... and unsigned ones do not wrap around
    lines = message_of(lambda: assert_allclose(aio.asarray(np.asarray([1], np.uint8)), np.asarray([2], np.uint8)))
    assert lines[2].startswith("  largest error: 1 ")


def test_nan_is_equal_to_nan_unless_told_otherwise() -> None:
    x = aio.asarray([NAN, 1.0])
    assert_allclose(x, [NAN, 1.0])
    assert_array_equal(x, [NAN, 1.0])
    for assertion in (assert_allclose, assert_array_equal):
        with pytest.raises(AssertionError, match="1 of 2 elements differ"):
            assertion(x, [NAN, 1.0], equal_nan=False)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "float16", "bool", "complex64", "uint64"])
def test_every_kind_of_dtype(dtype: str) -> None:
    x = aio.asarray([0.0, 1.0]).astype(aio.asarray([0]).astype(np.dtype(getattr(aio, dtype))).dtype)
    for assertion in (assert_allclose, assert_array_equal):
        assertion(x, x + 0 if dtype != "bool" else x)
        with pytest.raises(AssertionError, match=r"1 of 2 elements differ"):
            assertion(x, np.asarray([0, 0]).astype(x.dtype))


def test_negative_tolerances_are_refused() -> None:
    with pytest.raises(ValueError, match="rtol=-1, atol=0"):
        assert_allclose(aio.ones(1), 1, rtol=-1)


# Messages


def test_message_names_first_index_values_and_the_largest_error() -> None:
    actual = aio.asarray([[1.0, 2.0, 3.5], [4.0, 5.0, 12.0]])
    expected = np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert message_of(lambda: assert_allclose(actual, expected)) == [
        "assert_allclose: 2 of 6 elements differ by more than 1e-05 * abs(expected) + 0",
        "  first at [0, 2]: 3.5, expected 3.0",
        "  largest error: 6 (relative 1) at [1, 2]",
        "  actual:   float32[2, 3]",
        "  expected: float64[2, 3] of numpy.ndarray",
    ]
    assert message_of(lambda: assert_array_equal(actual, expected))[:3] == [
        "assert_array_equal: 2 of 6 elements differ",
        "  first at [0, 2]: 3.5, expected 3.0",
        "  largest error: 6 (relative 1) at [1, 2]",
    ]


def test_message_of_one_value_and_of_what_is_no_number() -> None:
    assert message_of(lambda: assert_allclose(aio.asarray(1.0), 2)) == [
        "assert_allclose: the values differ by more than 1e-05 * abs(expected) + 0",
        "  1.0, expected 2",
        "  largest error: 1 (relative 0.5)",
        "  actual:   float32[]",
        "  expected: the number 2",
    ]
    lines = message_of(lambda: assert_allclose(aio.asarray([NAN, 1.0]), [1.0, 1.0]))
    assert lines[2] == "  largest error: none of the differences is between finite numbers"


def test_message_of_shapes() -> None:
    assert message_of(lambda: assert_allclose(aio.ones((2, 3)), np.ones((3, 2)))) == [
        "assert_allclose: shape (2, 3), expected (3, 2)",
        "  actual:   float32[2, 3]",
        "  expected: float64[3, 2] of numpy.ndarray",
    ]


# Called, or awaited


@pytest.mark.parametrize("runner", [asyncio.run, trio.run], ids=["asyncio", "trio"])
def test_awaited_in_a_loop_it_waits_and_checks(runner: Any) -> None:
    async def main() -> list[str]:
        with aio.sync_reads("raise"):
            x = aio.asarray([1.0, 2.0]) * 3
            assert await assert_allclose(x, [3.0, 6.0]) is None
            await assert_array_equal(aio.asarray([1.0, 2.0]) * 3, aio.asarray([3.0, 6.0]) + 0)
            assertion = assert_allclose(aio.asarray([1.0, 2.0]) * 3, 4)
            with pytest.raises(AssertionError) as caught:
                await assertion
            await assertion  # a second time it does nothing
            return str(caught.value).splitlines()

    if runner is trio.run:
        lines = trio.run(main)
    else:
        lines = asyncio.run(main())
    assert lines[0].startswith("assert_allclose: 2 of 2 elements differ")


def test_what_was_awaited_is_checked_at_the_call_in_a_loop_too() -> None:
    async def main() -> None:
        x = await (aio.ones(2) + 1)
        with pytest.raises(AssertionError):
            assert_allclose(x, 1)
        with pytest.raises(AssertionError):
            await assert_allclose(x, 1)
        assert_allclose(x, 2)
        await assert_allclose(np.ones(2), 1)

    asyncio.run(main())


def test_outside_of_loops_it_checks_at_the_call_and_waits() -> None:
    with pytest.raises(AssertionError):
        assert_allclose(aio.ones(2) + 1, 1)


def test_one_that_was_to_be_awaited_and_was_not_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assertion, "forgotten", warn_forgotten)  # as without the plugin, under which this suite runs

    async def main() -> int:
        assert_allclose(aio.ones(2) + 1, 1)
        return line() - 1

    with pytest.warns(RuntimeWarning) as caught:
        where = asyncio.run(main())
    (warning,) = caught
    assert str(warning.message) == (
        f"assert_allclose at {__file__}:{where} in main has checked nothing: in an event loop, Arrays that were not "
        "awaited are not read; write `await assert_allclose(...)`"
    )
    assert warning.filename == __file__


def test_the_error_of_the_computation_comes_through() -> None:
    async def main() -> None:
        broken = aio.broadcast_to(aio.ones(()), (1 << 24, 1 << 24))
        with pytest.raises(aio.errors.DeviceError):
            await assert_allclose(broken, 1)

    asyncio.run(main())


def test_what_is_overwritten_meanwhile_is_checked_as_it_is_when_read() -> None:
    async def main() -> None:
        x = aio.zeros(2) + 1
        assertion = assert_array_equal(x, [1, 5])
        x[1] = 5
        await assertion

    asyncio.run(main())


# assert_spec


@pytest.mark.parametrize("shape", [None, (2, 3, 4), (2, None, 4), (..., 4), (2, ...), (..., 3, ...), (...,), [2, 3, 4]])
def test_spec_fits(shape: Any) -> None:
    if shape == (..., 3, ...):
        shape = (..., 3, None)
    x = aio.ones((2, 3, 4))
    assert_spec(x, shape, "float32", "cpu:0")
    assert_spec(x, shape, aio.float32, x.device)
    assert_spec(aio.ones(5), 5)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (None, None), (..., 5), (2, 3, 4, ..., 1), 2, (2, 3, 4, None)])
def test_spec_does_not_fit(shape: Any) -> None:
    with pytest.raises(AssertionError, match=r"assert_spec: shape \(2, 3, 4\), expected \("):
        assert_spec(aio.ones((2, 3, 4)), shape)


def test_spec_message_has_all_that_differs() -> None:
    assert message_of(lambda: assert_spec(aio.ones((2, 3)), (..., 4), "int32", "cpu:1")) == [
        "assert_spec: shape (2, 3), expected (..., 4); dtype float32, expected int32; device cpu:0, expected cpu:1",
        "  actual: float32[2, 3]",
    ]
    assert message_of(lambda: assert_spec(np.ones(3), 3)) == ["assert_spec: ndarray is no Array"]  # type: ignore[arg-type]


def test_spec_never_waits_and_may_be_awaited() -> None:
    async def main() -> None:
        with aio.sync_reads("raise"):
            x = aio.ones((2, 2)) @ aio.ones((2, 2))
            assert_spec(x, (2, 2))
            with pytest.raises(AssertionError):
                assert_spec(x, (2, 3))
            await assert_spec(x, (2, 2))
            assert x.tolist() == [[2, 2], [2, 2]]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(main())


def test_a_pending_array_is_described_by_where_it_was_enqueued() -> None:
    async def main() -> None:
        x, where = aio.sum(aio.ones((3, 5, 7, 1))), line()  # compiled for the first time, so pending
        lines = message_of(lambda: assert_spec(x, 3))
        assert lines[1] == f"  actual: float32[], `sum` enqueued at {__file__}:{where} in main"
        with pytest.raises(AssertionError, match=f"`sum` enqueued at {__file__}:{where} in main"):
            await assert_allclose(x, 3)

    asyncio.run(main())


def test_a_plugin_can_listen_to_those_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    async def main() -> None:
        assert_allclose(aio.ones(2) + 1, 1)

    monkeypatch.setattr(Assertion, "forgotten", heard.append)
    asyncio.run(main())
    assert len(heard) == 1
