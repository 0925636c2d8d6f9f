"""Python numbers as arguments of jitted functions: weak, in the default dtype, and with all of their digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import aioarray as aio

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")


@pytest.mark.parametrize("number", [7.3, -0.0, 1e300, float("inf"), 3, True, 2 + 0.1j], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "bool", "complex64", "complex128"])
def test_a_number_counts_for_as_much_as_outside_of_jit(dtype: str, number: complex) -> None:
    x = aio.asarray(np.linspace(0, 3, 7).astype(dtype))
    wanted = x + number

    def plus(a: Any, b: Any) -> Any:
        return a + b

    for function in (aio.jit(plus), aio.jit(lambda a, b: aio.jit(plus)(a, b)), lambda a, b: aio.jit(plus)(b, a)):
        found = function(x, number)
        assert found.dtype == wanted.dtype
        assert_array_equal(np.asarray(found), np.asarray(wanted))
    within = aio.jit(lambda a: aio.jit(plus)(a, number))(x)
    assert within.dtype == wanted.dtype
    assert_array_equal(np.asarray(within), np.asarray(wanted))


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_by_itself_it_is_of_the_default_dtype(real: Any) -> None:
    @aio.jit
    def f(x: Any) -> Any:
        assert x.dtype == real
        return x, x * 2, aio.sin(x), aio.stack([x, x]), aio.where(x > 1, x, 0), aio.zeros((2,), dtype=x.dtype) + x

    with aio.default_dtypes(real=real):
        results = f(7.3)
        assert {x.dtype.name for x in results} == {real}
        assert float(results[0]) == float(np.asarray(7.3, real))
        assert aio.eval_shape(f, 7.3)[0].dtype == real


def test_numbers_that_differ_share_a_program() -> None:
    traces = []

    @aio.jit
    def f(x: Any, y: Any) -> Any:
        traces.append(None)
        return x * y

    x = aio.asarray(np.ones(3))
    assert [float(f(x, y)[0]) for y in (7.3, 0.1, 1e300)] == [7.3, 0.1, 1e300]
    assert len(traces) == 1


def test_an_integer_that_the_default_dtype_does_not_hold_is_refused() -> None:
    f = aio.jit(lambda x, y: x + y)
    for call in (lambda: f(aio.asarray([1]), 1 << 40), lambda: aio.jit(lambda x: f(x, 1 << 40))(aio.asarray([1]))):
        with pytest.raises(OverflowError, match="out of bounds for int32"):
            call()


def test_it_keeps_its_digits_inside_of_loops_and_branches() -> None:
    x = aio.asarray(np.ones(2))

    @aio.jit
    def loop(n: Any, x: Any) -> Any:
        return aio.lax.fori_loop(0, 2, lambda _, y: aio.lax.cond(n > 0, lambda: y * n, lambda: y - n), x)

    assert_array_equal(np.asarray(loop(0.1, x)), [0.1 * 0.1] * 2)
    assert_array_equal(np.asarray(loop(-0.1, x)), [1 + 0.1 + 0.1] * 2)
    doubled = aio.jit(lambda n: aio.lax.while_loop(lambda y: y < n, lambda y: y * 2, n / 8))(5.0)
    assert (doubled.dtype, float(doubled)) == (np.float32, 5.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_a_dtype_that_it_is_given_counts(dtype: Any) -> None:
    small = aio.asarray(np.ones(2, "float16"))
    result = aio.jit(lambda n, x: n.astype(dtype) * x)(2.7, small)
    assert result.dtype == np.result_type(dtype, "float16")
    assert_array_equal(np.asarray(result), [np.asarray(2.7).astype(dtype)] * 2)
