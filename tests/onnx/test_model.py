"""Loaded models: what they say of themselves, calls, named dimensions, and what is one launch."""

from __future__ import annotations

import numpy as np
import pytest

import aioarray as aio
from tests.onnx.models import node, parsed

pytest.importorskip("onnx", reason="the extra onnx is not installed")

DOUBLE = "double (float[batch, n] x) => (float[batch, n] y) { y = Add(x, x) }"


@pytest.mark.asyncio
async def test_model_tells_its_inputs_and_outputs() -> None:
    model = await aio.onnx.load(
        parsed(
            "f (float[batch, 3] x, int64[batch] k) => (float[batch] y) { s = Cast<to=1>(k)\n"
            "r = ReduceSum<keepdims=0>(x)\ny = Add(s, r) }"
        )
    )
    assert [(x.name, x.dtype, x.shape) for x in model.inputs] == [
        ("x", np.dtype("float32"), ("batch", 3)),
        ("k", np.dtype("int64"), ("batch",)),
    ]
    assert [(x.name, x.shape) for x in model.outputs] == [("y", ("batch",))]
    assert model.dimensions == ("batch",)
    assert model.opsets == {"": 21}


@pytest.mark.asyncio
async def test_call_takes_inputs_by_position_and_name() -> None:
    model = await aio.onnx.load(
        parsed("f (float[n] x, float[n] y) => (float[n] d, float[n] s) {\nd = Sub(x, y)\ns = Add(x, y) }")
    )
    for results in (model([3.0], [1.0]), model([3.0], y=[1.0]), model(y=np.ones(1, np.float32), x=aio.asarray([3.0]))):
        d, s = await aio.ready(results)
        assert (d.tolist(), s.tolist()) == ([2.0], [4.0])


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        (([1.0],), {}, TypeError, "inputs y are missing"),
        (([1.0], [1.0], [1.0]), {}, TypeError, "takes 2 inputs, x, y; 3 were given"),
        (([1.0],), {"x": [1.0]}, TypeError, "'x' was given twice"),
        (([1.0], [1.0]), {"z": [1.0]}, TypeError, "no input 'z'; it has x, y"),
        (([1.0], [1.0, 2.0]), {}, ValueError, "'n' is 2 in input 'y', and 1 in 'x'"),
        (([1.0], [[1.0]]), {}, ValueError, r"shape \(1, 1\); it takes \(n\)"),
        (([1.0], np.ones(1)), {}, TypeError, "dtype float64; it takes float32"),
    ],
)
@pytest.mark.asyncio
async def test_call_says_what_does_not_fit(args: tuple, kwargs: dict, error: type[Exception], text: str) -> None:
    model = await aio.onnx.load(parsed("f (float[n] x, float[n] y) => (float[n] z) { z = Sub(x, y) }"))
    with pytest.raises(error, match=text):
        model(*args, **kwargs)


@pytest.mark.asyncio
async def test_compile_for_named_dimensions_spares_calls_that() -> None:
    model = await aio.onnx.load(parsed(DOUBLE))
    await model.compile(batch=2, n=3)
    before = aio.stats()["compiles"]
    y = await model(np.ones((2, 3), np.float32))
    assert y.shape == (2, 3)
    assert aio.stats()["compiles"] == before
    with pytest.raises(TypeError, match="named dimensions batch, n, and needs all of them"):
        await model.compile(batch=2)
    with pytest.raises(TypeError, match="named dimensions batch, n"):
        await model.compile(batch=2, n=3, m=4)


@pytest.mark.asyncio
async def test_call_is_one_launch_and_inlines_in_jit() -> None:
    model = await aio.onnx.load(parsed(DOUBLE))
    x = await aio.asarray([[1.0, 2.0]])
    function = aio.jit(lambda x: aio.sum(model(x)) + 1)
    await aio.ready([model(x), function(x)])
    before = aio.stats()["launched"]
    results = await aio.ready([model(x), function(x)])
    assert aio.stats()["launched"] == before + 2
    assert results[1].tolist() == 7.0


SHAPES = """f (float[batch, steps, 8] x) => (float[batch, steps, 2, 4] y, int64 c) {
    s = Shape(x)
    zero = Constant<value_int = 0>()
    one = Constant<value_int = 1>()
    b = Gather(s, zero)
    t = Gather(s, one)
    axes = Constant<value_ints = [0]>()
    b1 = Unsqueeze(b, axes)
    t1 = Unsqueeze(t, axes)
    rest = Constant<value_ints = [2, 4]>()
    shape = Concat<axis = 0>(b1, t1, rest)
    y = Reshape(x, shape)
    c = Mul(b, t)
}"""


@pytest.mark.asyncio
async def test_shapes_are_computed_while_tracing() -> None:
    model = await aio.onnx.load(parsed(SHAPES))
    y, count = await aio.ready(model(np.zeros((3, 5, 8), np.float32)))
    assert y.shape == (3, 5, 2, 4)
    assert count.item() == 15
    text = model.lower(batch=3, steps=5).as_text()
    assert "gather" not in text
    assert "concatenate" not in text


NON_ZERO = """f (float[n] x) => (float[m] y) {
    d = Add(x, x)
    k = NonZero(d)
    two = Constant<value_ints = [0]>()
    flat = Squeeze(k, two)
    taken = Gather(d, flat)
    y = Neg(taken)
}"""


@pytest.mark.asyncio
async def test_shapes_that_depend_on_values_need_run() -> None:
    model = await aio.onnx.load(parsed(NON_ZERO))
    with pytest.raises(aio.errors.TracedValueError, match=r"'k' \(NonZero\) needs how many .*await model\.run"):
        model([0.0, 1.0])
    with pytest.raises(aio.errors.TracedValueError, match=r"await model\.run"):
        await model.compile(n=2)
    for x, expected in (([0.0, 1.0, 2.0], [-2.0, -4.0]), ([3.0, 0.0, 0.0], [-6.0]), ([0.0], [])):
        y = await model.run(x)
        assert y.tolist() == expected


@pytest.mark.asyncio
async def test_run_of_a_model_without_such_shapes_is_the_call() -> None:
    model = await aio.onnx.load(parsed(DOUBLE))
    assert (await model.run([[1.0]])).tolist() == (await model([[1.0]])).tolist()


@pytest.mark.asyncio
async def test_old_constants_may_be_replaced_and_need_not_be_given() -> None:
    text = "f (float[2] x, float[2] w) => (float[2] y) <float[2] w = {3, 4}> { y = Mul(x, w) }"
    model = await aio.onnx.load(parsed(text, opset=8, ir=3))
    assert [x.name for x in model.inputs] == ["x"]
    assert (await model([1.0, 2.0])).tolist() == [3.0, 8.0]
    assert (await model([1.0, 2.0], w=[1.0, 1.0])).tolist() == [1.0, 2.0]


@pytest.mark.asyncio
async def test_functions_of_the_model_with_attributes() -> None:
    text = """<ir_version: 8, opset_import: ["": 17, "own": 1]>
    f (float[n] x) => (float[n] y) { y = own.scaled<by = 3.0>(x) }
    <opset_import: ["": 17], domain: "own">
    scaled <by> (x) => (y) { factor = Constant<value_float: float = @by>()
        y = Mul(x, factor) }"""
    import onnx

    model = await aio.onnx.load(onnx.parser.parse_model(text))
    assert (await model([1.0, 2.0])).tolist() == [3.0, 6.0]


@pytest.mark.asyncio
async def test_batch_norm_becomes_a_part_of_the_convolution() -> None:
    rng = np.random.default_rng(0)
    kernel, mean = rng.normal(size=(4, 3, 3, 3)).astype(np.float32), rng.normal(size=4).astype(np.float32)
    scale, shift, variance = (rng.uniform(0.5, 2, 4).astype(np.float32) for _ in range(3))
    text = parsed("""f (float[1, 3, 8, 8] x, float[4, 3, 3, 3] k, float[4] s, float[4] b, float[4] m, float[4] v)
        => (float[1, 4, 6, 6] y) { c = Conv(x, k)
        y = BatchNormalization(c, s, b, m, v) }""")
    names = ("k", "s", "b", "m", "v")
    import onnx

    constants = [
        onnx.numpy_helper.from_array(a, n) for n, a in zip(names, (kernel, scale, shift, mean, variance), strict=True)
    ]
    plain = await aio.onnx.load(text)
    text.graph.initializer.extend(constants)
    del text.graph.input[1:]
    folded = await aio.onnx.load(text)
    x = rng.normal(size=(1, 3, 8, 8)).astype(np.float32)
    expected = await plain(x, kernel, scale, shift, mean, variance)
    found = await folded(x)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-4, atol=1e-5)
    assert "sqrt" not in folded.lower().as_text()


@pytest.mark.asyncio
async def test_bfloat16_narrows_products_and_their_weights() -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(64, 32)).astype(np.float32)
    proto = node("MatMul", ["x", "w"], ["y"], {"x": ("float32", (4, 64))}, {"w": weight})
    model = await aio.onnx.load(proto, precision="bfloat16")
    x = rng.normal(size=(4, 64)).astype(np.float32)
    y = await model(x)
    assert y.dtype == aio.float32
    np.testing.assert_allclose(np.asarray(y), x @ weight, rtol=0.05, atol=0.3)
    assert "64x32xbf16" in model.lower().as_text()
    with pytest.raises(ValueError, match='it takes "bfloat16" or None'):
        await aio.onnx.load(proto, precision="float8")  # type: ignore[arg-type]


BRANCHES = """f (float[n] x, int64 k) => (float[m] y) {
    two = Constant<value_int = 2>()
    long = Equal(k, two)
    y = If<then_branch = pair () => (float[p] a) { s = Constant<value_ints = [2, 4]>()
            b = Reshape(x, s)
            z = Constant<value_int = 0>()
            a = Gather(b, z) },
        else_branch = all () => (float[q] c) { c = Neg(x) }>(long)
}"""


@pytest.mark.asyncio
async def test_python_numbers_are_a_part_of_the_program() -> None:
    model = await aio.onnx.load(parsed(BRANCHES))
    eight = await aio.asarray(np.arange(8, dtype=np.float32))
    assert (await model(eight, 2)).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert (await model(eight[:2], 3)).tolist() == [0.0, -1.0]
    await model.compile(n=8, k=2)
    with pytest.raises(aio.errors.TracedValueError, match="'y' \\(If\\) needs which branch is taken"):
        model(eight, np.asarray(2))
    assert (await model.run(eight, np.asarray(2))).tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match="input 'x' is the number 1; it takes float32"):
        model(1, 2)
