"""``aio.jit``: calls, trees, static arguments, what functions close over, and errors of tracing."""

from __future__ import annotations

import asyncio
import functools
import gc
import threading
import weakref
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray._array import enqueue
from aioarray._engine.host_program import host_program
from tests.support.compiling import compiles


def traced(count: list[int]) -> Any:
    """A decorator that counts the calls of a function: its traces."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            count.append(1)
            return function(*args, **kwargs)

        return counted

    return decorate


def test_traces_once_for_each_combination_of_specs() -> None:
    count: list[int] = []
    f = aio.jit(traced(count)(lambda x: x * 2))
    for x in (aio.ones(3), aio.zeros(3), np.ones(3, np.float32)):
        assert f(x).shape == (3,)
    assert len(count) == 1
    f(aio.ones(4))
    f(aio.ones(3, dtype=aio.float64))
    assert len(count) == 3


@pytest.mark.asyncio
async def test_results_are_pending_arrays_of_known_shape_while_it_compiles() -> None:
    @aio.jit
    def f(x: aio.Array) -> dict[str, aio.Array]:
        for _ in range(40):
            x = x @ x * 0.5
        return {"x": x, "sum": aio.sum(x, axis=0)}

    result = f(aio.eye(31))
    assert not result["x"].is_ready()
    assert result["x"].shape == (31, 31)
    assert result["sum"].shape == (31,)
    assert result["sum"].dtype == aio.float32
    await result["sum"]
    assert result["x"].is_ready()


@pytest.mark.asyncio
async def test_twenty_first_calls_at_once_compile_once() -> None:
    @aio.jit
    def f(x: aio.Array) -> aio.Array:
        return aio.exp(x) @ x + 20.25

    x = aio.ones((17, 17))
    await x
    before = compiles()

    async def call() -> aio.Array:
        return await f(x)

    results = await asyncio.gather(*[call() for _ in range(20)])
    assert compiles() - before == 1
    values = [await r.to_host() for r in results]
    assert all((value == values[0]).all() for value in values)


def test_first_calls_on_many_threads_compile_once() -> None:
    @aio.jit
    def f(x: aio.Array) -> aio.Array:
        return aio.sin(x) @ x + 21.25

    x = aio.ones((18, 18)).block_until_ready()
    before = compiles()
    barrier = threading.Barrier(8)
    results: list[float] = []

    def call() -> None:
        barrier.wait()
        results.append(float(f(x)[3, 3]))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The other one is the indexing.
    assert compiles() - before <= 2
    assert len(set(results)) == 1
    assert len(f.programs) == 1


def test_functions_with_the_same_body_share_an_executable() -> None:
    x = aio.ones((5, 6, 7)).block_until_ready()
    first = aio.jit(lambda x: aio.cos(x) * 3.125, name="first")
    second = aio.jit(lambda y: aio.cos(y) * 3.125, name="second")
    first(x).block_until_ready()
    before = aio.compile_cache.stats()
    second(x).block_until_ready()
    after = aio.compile_cache.stats()
    assert after["compiles"] == before["compiles"]
    assert after["hits"] == before["hits"] + 1


def test_network_is_one_launch_a_call() -> None:
    @aio.jit
    def network(parameters: dict[str, aio.Array], x: aio.Array) -> aio.Array:
        hidden = aio.maximum(x @ parameters["w1"] + parameters["b1"], 0.0)
        return hidden @ parameters["w2"] + parameters["b2"]

    parameters = {"w1": aio.ones((784, 128)), "b1": aio.ones(128), "w2": aio.ones((128, 10)), "b2": aio.ones(10)}
    x = aio.ones((32, 784))
    for _ in range(5):
        network(parameters, x).block_until_ready()
    before = aio.stats()
    result = network(parameters, x)
    after = aio.stats()
    assert after["enqueued"] - before["enqueued"] == 1
    assert float(result[0, 0]) == 785 * 128 + 1
    assert aio.stats()["compiles"] - before["compiles"] <= 1  # the indexing


Point = namedtuple("Point", ["x", "y"])


@dataclass
class Layer:
    weights: Any
    bias: Any


class Registered:
    def __init__(self, inner: Any) -> None:
        self.inner = inner


aio.register_tree_node(Registered, lambda r: ((r.inner,), None), lambda _, children: Registered(children[0]))


def test_arguments_and_results_are_trees() -> None:
    @aio.jit
    def f(tree: Any) -> Any:
        point = Point(tree["point"].y, tree["point"].x)
        return Registered([tree["layer"], (point, None), {"b": tree["registered"].inner * 2, "a": 1}])

    one, two = aio.asarray(1.0), aio.asarray([2.0])
    tree = {"point": Point(one, two), "layer": Layer(one, [two, None]), "registered": Registered(two)}
    result = f(tree).inner
    assert isinstance(result[0], Layer)
    assert result[0].bias[1] is None
    assert float(result[0].weights) == 1.0
    point, nothing = result[1]
    assert isinstance(point, Point)
    assert (point.x.shape, point.y.shape, nothing) == ((1,), (), None)
    assert list(result[2]) == ["a", "b"]
    assert float(result[2]["b"][0]) == 4.0
    assert int(result[2]["a"]) == 1


def test_function_without_results_or_arguments() -> None:
    assert aio.jit(lambda x: None)(1.0) is None
    assert aio.jit(lambda: [])() == []
    assert float(aio.jit(lambda: aio.ones(()) * 2.5)()) == 2.5


def test_decorator_forms_and_metadata() -> None:
    @aio.jit
    def plain(x: aio.Array) -> aio.Array:
        """Doc."""
        return x + 1

    @aio.jit(static_argnames="n", name="renamed")
    def with_options(x: aio.Array, n: int) -> aio.Array:
        return x * n

    assert plain.__name__ == "plain"
    assert plain.__doc__ == "Doc."
    assert repr(with_options) == "<jit of renamed>"
    assert float(with_options(2.0, 3)) == 6.0


def test_python_numbers_are_dynamic_and_weak() -> None:
    count: list[int] = []
    f = aio.jit(traced(count)(lambda x, s: x * s))
    x16 = aio.ones(2, dtype=aio.float16)
    for s in (1.0, 2.0, 3.5):
        assert f(x16, s).dtype == aio.float16
    assert len(count) == 1
    assert f(x16, 2).dtype == aio.float16
    assert len(count) == 2
    assert f(aio.ones(2, dtype=aio.float64), 0.5).dtype == aio.float64
    assert f(3, 4).dtype == aio.int32


def test_constants_in_the_function_are_exact() -> None:
    # 0.1 is not a float32: the constant must have the dtype of what it is combined with.
    x = np.asarray([1.0, 3.0])
    np.testing.assert_array_equal(np.asarray(aio.jit(lambda x: x * 0.1)(x)), x * 0.1)
    with pytest.raises(OverflowError, match="300"):
        aio.jit(lambda x: x + 300)(aio.ones(2, dtype=aio.int8))


def test_default_dtypes_are_a_part_of_the_key() -> None:
    f = aio.jit(lambda x: x + aio.zeros(2))
    assert f(1).dtype == aio.float32
    with aio.default_dtypes(real="float64"):
        assert f(1).dtype == aio.float64
    assert f(1).dtype == aio.float32


@pytest.mark.parametrize("how", [{"static_argnums": 1}, {"static_argnames": "n"}, {"static_argnums": (-1,)}])
def test_static_arguments_by_position_and_name(how: Any) -> None:
    count: list[int] = []

    @aio.jit(**how)
    @traced(count)
    def repeat(x: aio.Array, n: int) -> list[aio.Array]:
        return [x] * n

    assert len(repeat(1.0, 2)) == 2
    assert len(repeat(1.0, n=3)) == 3
    assert len(repeat(2.0, 2)) == 2
    assert len(count) == 2


def test_equal_static_values_of_different_meaning_are_told_apart() -> None:
    f = aio.jit(lambda x, s: x * s, static_argnums=1)
    x = aio.ones(2, dtype=aio.int32)
    assert f(x, 1).dtype == aio.int32
    assert f(x, 1.0).dtype == aio.float32
    assert np.signbit(np.asarray(aio.jit(lambda s: aio.ones(()) * s, static_argnums=0)(-0.0)))
    g = aio.jit(lambda s: aio.ones(()) * s[0], static_argnums=0)
    assert not np.signbit(np.asarray(g((0.0,))))
    assert np.signbit(np.asarray(g((-0.0,))))


def test_wrong_static_arguments() -> None:
    with pytest.raises(ValueError, match=r"static_argnums has 2, but the function has 1 positional"):
        aio.jit(lambda x: x, static_argnums=2)
    with pytest.raises(ValueError, match=r"static_argnames has 'z', but the function's parameters are x, y"):
        aio.jit(lambda x, y: x, static_argnames="z")
    f = aio.jit(lambda x, n: x, static_argnums=1)
    with pytest.raises(TypeError, match=r"static argument n is a list, which cannot be hashed; pass a tuple"):
        f(1.0, [1])


def test_coroutine_functions_are_refused() -> None:
    async def f(x: aio.Array) -> aio.Array:
        return x

    with pytest.raises(TypeError, match="coroutine"):
        aio.jit(f)


def test_argument_that_is_no_array_is_named() -> None:
    @aio.jit
    def f(tree: Any, *rest: Any, option: Any = None) -> Any:
        return tree["a"][0]

    with pytest.raises(TypeError, match=r"f: argument tree\['a'\]\[1\] is a str, .* static_argnames"):
        f({"a": [1.0, "x"]})
    with pytest.raises(TypeError, match=r"argument rest\[1\] is a object"):
        f({"a": [1.0]}, 1.0, object())
    with pytest.raises(TypeError, match=r"argument option is a str"):
        f({"a": [1.0]}, option="x")


def test_result_that_is_no_array_is_named() -> None:
    with pytest.raises(TypeError, match=r"the result of <lambda>, at result\['a'\]\[0\]: .*str"):
        aio.jit(lambda x: {"a": ["text", x]})(1.0)


def test_closed_over_arrays_are_arguments_not_constants() -> None:
    w = aio.asarray([1.0, 2.0, 3.0])
    count: list[int] = []
    f = aio.jit(traced(count)(lambda x: x * w))
    np.testing.assert_array_equal(np.asarray(f(2.0)), [2, 4, 6])
    w[0] = 10.0
    np.testing.assert_array_equal(np.asarray(f(2.0)), [20, 4, 6])
    assert len(count) == 1
    text = f.lower(2.0).as_text()
    assert "tensor<3xf32>" in text.splitlines()[1]  # in the signature of main
    assert "dense<" not in text


def test_closed_over_pending_and_deleted_arrays() -> None:
    w = aio.ones((64, 64)) @ aio.ones((64, 64))
    f = aio.jit(lambda x: x + w)
    assert float(f(1.0)[0, 0]) == 65.0
    w.delete()
    with pytest.raises(aio.errors.DeletedArrayError):
        f(1.0)


def test_operations_on_closed_over_arrays_are_in_the_program() -> None:
    w = aio.ones(4)
    f = aio.jit(lambda x: x + (w * 2).astype(aio.float64))
    before = aio.stats()["enqueued"]
    f(1.0)
    assert aio.stats()["enqueued"] - before == 1
    w[0] = 3.0
    np.testing.assert_array_equal(np.asarray(f(1.0)), [7, 3, 3, 3])


def test_host_values_inside_are_constants() -> None:
    table = np.arange(4, dtype=np.float32)
    f = aio.jit(lambda x: x + table + aio.arange(4) + aio.asarray([1.0, 0, 0, 0]))
    np.testing.assert_array_equal(np.asarray(f(1.0)), [2, 3, 5, 7])
    assert f.lower(1.0).as_text().splitlines()[1].count("tensor<") == 2  # x and the result


def test_jit_inside_jit_is_one_program() -> None:
    inner = aio.jit(lambda x, n: [x * 2] * n, static_argnums=1)
    outer = aio.jit(lambda x: inner(x, 2)[1] + inner(1.0, 1)[0])
    before = aio.stats()["enqueued"]
    assert float(outer(3.0)) == 8.0
    assert aio.stats()["enqueued"] - before == 1
    assert not inner.programs


def test_updates_in_place_of_arguments_stay_inside() -> None:
    @aio.jit
    def f(x: aio.Array) -> aio.Array:
        x[0] = 5.0
        x += 1
        return x

    x = aio.zeros(2)
    np.testing.assert_array_equal(np.asarray(f(x)), [6, 1])
    np.testing.assert_array_equal(np.asarray(x), [0, 0])


def test_update_in_place_of_a_closed_over_array_is_refused() -> None:
    w = aio.zeros(2)

    def f(x: Any) -> Any:
        w[0] = x
        return x

    with pytest.raises(aio.errors.TracedValueError, match="update in place"):
        aio.jit(f)(1.0)
    np.testing.assert_array_equal(np.asarray(w), [0, 0])


@pytest.mark.parametrize(
    "use",
    [
        lambda x: 1 if x > 0 else 2,
        float,
        int,
        complex,
        lambda x: np.asarray(x),
        lambda x: x.tolist(),
        lambda x: range(x),
        lambda x: x.block_until_ready(),
        lambda x: x.delete(),
        lambda x: x.__dlpack__(),
    ],
)
def test_needing_a_value_while_tracing(use: Any) -> None:
    with pytest.raises(aio.errors.TracedValueError) as caught:
        aio.jit(use)(aio.asarray(1))
    assert isinstance(caught.value, TypeError)
    assert "test_jit.py:" in str(caught.value)
    assert "aio.where or aio.lax.cond" in str(caught.value)


def test_metadata_while_tracing() -> None:
    @aio.jit
    def f(x: aio.Array) -> aio.Array:
        assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((2, 3), 2, 6, 2, aio.float32)
        assert x.device == aio.devices()[0]
        assert not x.is_ready()
        assert "TracedArray" in repr(x)
        assert "TracedArray" in f"{x}"
        return x.T

    assert f(aio.ones((2, 3))).shape == (3, 2)


def test_escaped_traced_arrays_are_detected() -> None:
    kept: list[aio.Array] = []

    @aio.jit
    def leaky(x: aio.Array) -> aio.Array:
        kept.append(x)
        return x + 1

    leaky(1.0)
    (escaped,) = kept
    for use in (lambda: escaped + 1, lambda: leaky(escaped), lambda: float(escaped), lambda: aio.sum(escaped)):
        with pytest.raises(aio.errors.TracedValueError, match="leaky"):
            use()

    # ... also inside another trace.
    with pytest.raises(aio.errors.TracedValueError, match="leaky"):
        aio.jit(lambda x: x + escaped)(1.0)


def test_a_failed_trace_leaves_nothing_behind() -> None:
    fail = True

    @aio.jit
    def f(x: aio.Array) -> aio.Array:
        if fail:
            raise KeyError("mine")
        return x + 1

    with pytest.raises(KeyError, match="mine"):
        f(1.0)
    fail = False
    assert float(f(1.0)) == 2.0
    # The fast path of operations, closed during traces, is open again.
    assert float(aio.ones(()) + 1) == 2.0


def test_wrong_shapes_raise_at_the_call() -> None:
    f = aio.jit(lambda x, y: x @ y)
    with pytest.raises(ValueError, match="matmul"):
        f(aio.ones((2, 3)), aio.ones((2, 3)))


def failing(x: aio.Array) -> aio.Array:
    """A computation that fails when it is run."""

    def function(value: np.ndarray) -> np.ndarray:
        raise RuntimeError("injected")

    program = host_program("poisoned", function, (x._spec,), x._spec)
    return enqueue(program, [x._operand("test")])[0]


@pytest.mark.asyncio
async def test_failed_input_fails_all_results() -> None:
    f = aio.jit(lambda x: {"a": x + 1, "b": x * 2})
    await aio.ready(f(aio.ones(3)))
    results = f(failing(aio.ones(3)))
    for result in results.values():
        with pytest.raises(aio.errors.DeviceError, match=r"poisoned.*injected"):
            await result


class Model:
    def __init__(self) -> None:
        self.w = aio.asarray(2.0)
        self.layers = [{"b": aio.asarray(1.0)}]
        self.training = False
        self.traces = 0

    @aio.jit
    def __call__(self, x: aio.Array) -> aio.Array:
        self.traces += 0  # attributes can be read and set
        y = x * self.w + self.layers[0]["b"]
        return y * 10 if self.training else y

    @aio.jit(static_argnames="n")
    def repeated(self, x: aio.Array, n: int) -> list[aio.Array]:
        return [x * self.w] * n


def test_methods_see_the_state_of_their_object() -> None:
    model = Model()
    assert float(model(1.0)) == 3.0
    model.w = aio.asarray(5.0)
    assert float(model(1.0)) == 6.0
    model.layers[0]["b"] = aio.asarray(0.5)
    assert float(model(1.0)) == 5.5
    assert len(Model.__dict__["__call__"].programs) == 1
    model.training = True
    assert float(model(1.0)) == 55.0
    assert len(Model.__dict__["__call__"].programs) == 2
    assert [float(x) for x in model.repeated(2.0, n=2)] == [10.0, 10.0]


def test_methods_of_objects_that_share_arrays() -> None:
    class Tied:
        def __init__(self, a: aio.Array, b: aio.Array) -> None:
            self.a, self.b = a, b

        @aio.jit
        def sum(self) -> aio.Array:
            return self.a + self.b

    one, two = aio.asarray(1.0), aio.asarray(2.0)
    assert float(Tied(one, one).sum()) == 2.0
    assert float(Tied(one, two).sum()) == 3.0


def test_methods_of_trees_take_them_as_arguments() -> None:
    @dataclass
    class Linear:
        w: Any

        @aio.jit
        def __call__(self, x: Any) -> Any:
            return x @ self.w

    assert float(Linear(aio.ones((2, 2)))(aio.ones(2))[0]) == 2.0
    assert len(Linear.__dict__["__call__"].programs) == 1
    Linear(aio.zeros((2, 2)))(aio.ones(2))
    assert len(Linear.__dict__["__call__"].programs) == 1


def test_static_and_class_methods() -> None:
    class Holder:
        @staticmethod
        @aio.jit
        def double(x: Any) -> Any:
            return x * 2

        @classmethod
        def make(cls) -> Any:
            return cls.double(2.0)

    assert float(Holder.make()) == 4.0


def test_dropped_functions_free_their_arrays() -> None:
    def make() -> Any:
        w = aio.ones(3)
        return aio.jit(lambda x: x + w), weakref.ref(w)

    f, alive = make()
    f(1.0).block_until_ready()
    assert alive() is not None
    gc.collect()  # what other tests have left
    programs = aio.compile_cache.stats()["entries"]
    del f
    gc.collect()
    assert alive() is None
    assert aio.compile_cache.stats()["entries"] == programs - 1


def test_functions_made_for_one_call_find_their_executable() -> None:
    def run(x: aio.Array) -> aio.Array:
        return aio.jit(lambda x: aio.atan(x) + 22.25)(x)

    x = aio.ones(3)
    run(x).block_until_ready()
    before = compiles()
    for _ in range(3):
        run(x).block_until_ready()
    assert compiles() == before


def test_array_of_another_device_is_refused() -> None:
    with pytest.raises(ValueError, match="no device"):
        aio.jit(lambda x: aio.zeros(3, device="tpu:0") + x)(1.0)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="jit: 5 cannot be called"):
        aio.jit(5)  # type: ignore[call-overload]


def test_arrays_are_refused_as_static_arguments() -> None:
    f = aio.jit(lambda x, n: x * n, static_argnames="n")
    with pytest.raises(TypeError, match="static argument n is an Array"):
        f(aio.ones(2), aio.asarray(2))


def test_static_arguments_cannot_be_donated() -> None:
    with pytest.raises(ValueError, match="is static and donated"):
        aio.jit(lambda x, n: x * n, static_argnums=1, donate_argnames="n")


def test_static_values_that_are_equal_but_differ_have_programs_of_their_own() -> None:
    pair = namedtuple("pair", "a b")
    f = aio.jit(lambda x, n: x * n.a, static_argnums=1)
    assert f(aio.asarray(3), pair(1, 2)).dtype == aio.int32
    assert f(aio.asarray(3), pair(1.0, 2)).dtype == aio.float32
    g = aio.jit(lambda z: aio.asarray(z), static_argnums=0)
    assert np.signbit(np.asarray(g(complex(0.0, -0.0))).imag)
    assert not np.signbit(np.asarray(g(0j)).imag)
