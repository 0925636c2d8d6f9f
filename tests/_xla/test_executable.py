"""Executables: what they take, give, cost and refuse."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

from aioarray import _xla
from tests._xla.programs import Spec, program, put, run, run_python, tensor


def compile_(operation: str, arity: int, shape: tuple[int, ...], element: str = "f32", **options) -> _xla.Executable:
    return _xla.compile(program(operation, arity, shape, element), _xla.default_device(), options=options)


def test_a_program_runs() -> None:
    left, spec = put(np.ones((4, 4)))
    right, _ = put(np.full((4, 4), 2.0))
    add = compile_("stablehlo.add", 2, (4, 4))
    assert add.device is _xla.default_device()
    [result] = run(add, (left, right), spec)
    np.testing.assert_array_equal(_xla.to_numpy(result, spec), np.full((4, 4), 3.0))


def test_results_of_other_dtypes_and_several_results() -> None:
    text = f"""module @test {{
      func.func public @main(%x: {tensor((3,))}) -> ({tensor((3,), "bf16")}, {tensor((3,), "i1")}, tensor<f64>) {{
      %0 = "stablehlo.convert"(%x) : ({tensor((3,))}) -> {tensor((3,), "bf16")}
      %1 = "stablehlo.compare"(%x, %x) {{comparison_direction = #stablehlo<comparison_direction EQ>}} :
        ({tensor((3,))}, {tensor((3,))}) -> {tensor((3,), "i1")}
      %2 = "stablehlo.constant"() {{value = dense<2.5> : tensor<f64>}} : () -> tensor<f64>
      return %0, %1, %2 : {tensor((3,), "bf16")}, {tensor((3,), "i1")}, tensor<f64> }} }}"""
    buffer, _spec = put([1.0, np.nan, 3.0])
    specs = (Spec((3,), ml_dtypes.bfloat16), Spec((3,), np.bool_), Spec((), np.float64))
    results = run(_xla.compile(text.encode(), _xla.default_device()), [buffer], *specs)
    values = [_xla.to_numpy(result, spec) for result, spec in zip(results, specs, strict=True)]
    assert values[0].dtype == ml_dtypes.bfloat16
    assert values[1].tolist() == [True, False, True]
    assert values[2].item() == 2.5


def test_the_wrong_arguments_are_refused() -> None:
    buffer, spec = put([1.0, 2.0])
    other, _ = put([1.0, 2.0, 3.0])
    add = compile_("stablehlo.add", 2, (2,))
    for arguments in ([buffer], [buffer, other]):
        with pytest.raises(_xla.ForeignError) as caught:
            run(add, arguments, spec)
        assert _xla.translate(caught.value)[0] == "INVALID_ARGUMENT"


def test_a_broken_program_is_refused() -> None:
    with pytest.raises(_xla.ForeignError, match="custom op 'foo' is unknown"):
        _xla.compile(b"module @m { foo }", _xla.default_device())


def test_cost_is_what_xla_expects() -> None:
    size = 64
    cost = compile_("stablehlo.dot", 2, (size, size)).cost
    assert cost.flops == pytest.approx(2 * size**3, rel=0.1)
    assert cost.bytes_accessed == 3 * 4 * size**2
    assert cost.transcendentals == 0
    assert compile_("stablehlo.sine", 1, (100,)).cost.transcendentals == 100


def test_cost_is_zero_where_xla_says_nothing() -> None:
    class Silent:
        execute_sharded = None

        def cost_analysis(self) -> dict[str, float]:
            return {}

    class Refusing(Silent):
        def cost_analysis(self) -> dict[str, float]:
            raise _xla.ForeignError[0]("UNIMPLEMENTED: no cost model")

    for executable in (Silent(), Refusing()):
        assert _xla.Executable(executable, _xla.default_device()).cost == (0.0, 0.0, 0.0)


def test_memory_and_text_describe_the_program() -> None:
    add = compile_("stablehlo.add", 2, (4, 4))
    memory = add.memory()
    assert (memory.arguments, memory.outputs, memory.aliased) == (128, 64, 0)
    assert add.size_in_bytes >= 0
    assert "f32[4,4]" in add.hlo_text()


def test_a_program_survives_serialising() -> None:
    add = compile_("stablehlo.add", 2, (4, 4))
    data = add.serialize()
    assert type(data) is bytes
    loaded = _xla.deserialize(data, _xla.default_device())
    assert loaded.cost == add.cost
    left, spec = put(np.ones((4, 4)))
    [result] = run(loaded, [left, left], spec)
    np.testing.assert_array_equal(_xla.to_numpy(result, spec), np.full((4, 4), 2.0))


def test_other_bytes_are_not_a_program() -> None:
    with pytest.raises(_xla.ForeignError) as caught:
        _xla.deserialize(b"not a program", _xla.default_device())
    assert _xla.translate(caught.value)[0] in {"INVALID_ARGUMENT", "INTERNAL"}


def test_a_program_can_be_loaded_in_another_process_in_silence(tmp_path) -> None:
    file = tmp_path / "program"
    file.write_bytes(compile_("stablehlo.sine", 1, (8,)).serialize())
    result = run_python(
        "import pathlib, numpy as np\n"
        "from aioarray import _xla\n"
        "from tests._xla.programs import put, run\n"
        f"sine = _xla.deserialize(pathlib.Path({str(file)!r}).read_bytes(), _xla.default_device())\n"
        "x, spec = put(np.arange(8.0))\n"
        "[y] = run(sine, [x], spec)\n"
        "np.testing.assert_allclose(_xla.to_numpy(y, spec), np.sin(np.arange(8.0)), rtol=1e-6)\n"
    )
    assert result.stderr == ""


def test_options_are_checked_by_name_and_type() -> None:
    with pytest.raises(_xla.ForeignError, match="xla_no_such_option"):
        compile_("stablehlo.add", 2, (2,), xla_no_such_option=True)
    with pytest.raises(_xla.ForeignError, match="not a valid bool"):
        compile_("stablehlo.add", 2, (2,), xla_cpu_enable_fast_math="false")


@pytest.mark.parametrize(
    ("line", "own"),
    [
        ('%3 = "stablehlo.add"(%1, %2) : (tensor<64x2xi8>, tensor<64x2xi8>) -> tensor<64x2xi8>', True),
        ('%3 = "stablehlo.convert"(%1) : (tensor<64xf32>) -> tensor<64xui8>', True),
        ("    %3 = stablehlo.multiply %1, %2 : tensor<i8>", True),
        ("    %3 = stablehlo.negate %1 : tensor<2xui8> loc(#loc4)", True),
        ('%3 = "stablehlo.convert"(%1) : (tensor<64xi8>) -> tensor<64xf32>', False),
        ('%3 = "stablehlo.add"(%1, %2) : (tensor<64xi16>, tensor<64xi16>) -> tensor<64xi16>', False),
        ('%3 = "stablehlo.reshape"(%1) : (tensor<4xi8>) -> tensor<2x2xi8>', False),
    ],
)
def test_programs_that_make_bytes_keep_to_reductions_that_wrap(line: str, own: bool) -> None:
    options = _xla.default_options(f"module @m {{\n{line}\n}}\n".encode())
    assert ("xla_cpu_experimental_ynn_fusion_type" in options) is own


@pytest.mark.parametrize("operation", ["stablehlo.maximum", "stablehlo.minimum"])
def test_nan_propagates_unless_an_option_says_otherwise(operation) -> None:
    left, spec = put([np.nan, 1.0] * 4)
    right, _ = put([1.0, np.nan] * 4)
    [result] = run(compile_(operation, 2, (8,)), [left, right], spec)
    assert np.isnan(_xla.to_numpy(result, spec)).all()
    [result] = run(compile_(operation, 2, (8,), xla_cpu_enable_fast_min_max=True), [left, right], spec)
    assert not np.isnan(_xla.to_numpy(result, spec)).all()


def test_nan_propagates_whatever_xla_flags_say() -> None:
    run_python(
        "import numpy as np\n"
        "from aioarray import _xla\n"
        "from tests._xla.programs import put, program, run\n"
        "maximum = _xla.compile(program('stablehlo.maximum', 2, (2,)), _xla.default_device())\n"
        "x, spec = put([1.0, np.nan])\n"
        "y, spec = put([np.nan, 1.0])\n"
        "[z] = run(maximum, [x, y], spec)\n"
        "assert np.isnan(_xla.to_numpy(z, spec)).all()\n",
        XLA_FLAGS="--xla_cpu_enable_fast_min_max=true --xla_cpu_enable_fast_math=true",
    )


def test_an_argument_can_be_donated() -> None:
    kind = tensor((1000,))
    text = (
        f"module @test {{ func.func public @main(%x: {kind} {{tf.aliasing_output = 0 : i32}}) -> {kind} {{"
        f' %0 = "stablehlo.negate"(%x) : ({kind}) -> {kind} return %0 : {kind} }} }}'
    )
    negate = _xla.compile(text.encode(), _xla.default_device())
    assert negate.memory().aliased == 4000
    buffer, spec = put(np.ones(1000))
    pointer = _xla.unsafe_pointer(buffer)
    [result] = run(negate, [buffer], spec)
    assert (_xla.to_numpy(result, spec) == -1).all()
    assert buffer.is_deleted()
    assert _xla.unsafe_pointer(result) == pointer


def test_programs_compile_and_run_in_many_threads() -> None:
    barrier = threading.Barrier(4)

    def work(number: int) -> float:
        barrier.wait()
        add = compile_("stablehlo.add", 2, (number + 1,))
        buffer, spec = put(np.full(number + 1, float(number)))
        [result] = run(add, [buffer, buffer], spec)
        return float(_xla.to_numpy(result, spec)[0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [0.0, 2.0, 4.0, 6.0]
