"""Functions from files: those of jax.export, StableHLO in its forms, and what must not be loaded."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from jaxlib.mlir import ir

import aioarray as aio
from aioarray import export
from aioarray._xla import artifact_process
from aioarray.errors import FormatError
from aioarray.export import _container, _function, _load, _process
from tests.export.artifacts import NAMES, content, leaves_of, path, sets

if TYPE_CHECKING:
    from pathlib import Path

F32 = np.float32


def arguments(function: export.ExportedFunction, leaves: list[np.ndarray]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """``leaves`` as the function takes them."""
    args, kwargs = function._in_tree.build(iter(map(aio.asarray, leaves)))
    return args, kwargs


def test_there_are_ten_and_more() -> None:
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_files_of_jax_export_give_the_numbers_of_jax(name: str) -> None:
    function = export.load(path(name))
    for given, expected in sets(name):
        args, kwargs = arguments(function, given)
        before = aio.stats()["enqueued"]
        results = leaves_of(function(*args, **kwargs))
        assert aio.stats()["enqueued"] == before + 1
        assert len(results) == len(expected)
        for ours, theirs in zip(results, expected, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 if ours.dtype != np.float64 else 0)


def test_specs_and_trees() -> None:
    function = export.load(path("nested"))
    spec = export.ExportedSpec
    assert function.name == "nested"
    assert function.platforms == ("cpu",)
    assert function.dimensions == ()
    assert function.in_specs == (
        (
            {"a": {"flag": spec((2,), np.dtype(bool)), "x": spec((3,), np.dtype(F32))}, "b": spec((2,), np.dtype(F32))},
            (spec((3,), np.dtype(F32)), (spec((2,), np.dtype(F32)), None)),
        ),
        {},
    )
    assert function.out_specs == {
        "rest": [spec((2,), np.dtype(F32)), None, (spec((2,), np.dtype(bool)),)],
        "sum": spec((3,), np.dtype(F32)),
    }
    given, _ = sets("nested")[0]
    args, _ = arguments(function, given)
    result = function(*args)
    assert list(result) == ["rest", "sum"]
    assert result["rest"][1] is None
    assert isinstance(result["rest"][2], tuple)


def test_symbolic_lengths() -> None:
    function = export.load(path("two_dimensions"))
    assert function.dimensions == ("batch", "length")
    assert [spec.shape for spec in function.in_specs[0]] == [("batch", "length"), ("2*length", 2)]
    assert [spec.shape for spec in function.out_specs] == [("batch", 2), ("batch*length",), ("length",)]
    # Shapes are known at once, and each set of lengths is a program.
    x, y = aio.ones((5, 2)), aio.ones((4, 2))
    first, second, third = function(x, y)
    assert (first.shape, second.shape, third.shape) == ((5, 2), (10,), (2,))
    np.testing.assert_array_equal(first, np.full((5, 2), 4.0))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (5, 2)), r"args\[1\] has shape \(5, 2\); it takes \('2\*length', 2\), batch = 2, length = 3"),
        (((2, 3), (8, 2)), r"args\[1\] has shape \(8, 2\); it takes \('2\*length', 2\), batch = 2, length = 3"),
        (((2, 3), (6, 3)), r"args\[1\] has shape \(6, 3\); it takes"),
        (((2,), (6, 2)), r"args\[0\] has shape \(2,\); it takes \('batch', 'length'\)"),
        (((0, 3), (6, 2)), "no batch of 1 or more makes batch 0"),
    ],
)
def test_lengths_that_do_not_fit(shapes: Any, message: str) -> None:
    function = export.load(path("two_dimensions"))
    with pytest.raises(ValueError, match=message):
        function(*[aio.ones(shape) for shape in shapes])


def test_arguments_that_do_not_fit() -> None:
    function = export.load(path("unused"))
    x, y, z = aio.ones(2), aio.ones(3), aio.arange(4)
    assert function(x, y, z)["z"].tolist() == [0, 2, 4, 6]
    for args, message in (
        ((x, y), "takes 3 positional arguments, not 2"),
        ((x, y, z.astype("int64") if hasattr(z, "astype") else aio.astype(z, "int64")), r"args\[2\] is of dtype int64"),
        ((x, aio.ones(4), z), r"args\[1\] has shape \(4,\); it takes \(3,\)"),
        ((x, [y], z), r"args\[1\] is a list of 1; it takes an array"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            function(*args)
    with pytest.raises(TypeError, match="kwargs is a dict with the keys 'w'; it takes a dict with the keys none"):
        function(x, y, z, w=1)
    nested = export.load(path("nested"))
    with pytest.raises(TypeError, match=r"args\[0\] is a tuple of 0; it takes a dict with the keys 'a', 'b'"):
        nested((), (x, (y, None)))
    with pytest.raises(TypeError, match=r"args\[1\]\[1\]\[1\] is a Array; it takes None"):
        nested({"a": {"x": y, "flag": x}, "b": x}, (y, (x, x)))


def test_python_numbers_are_weak() -> None:
    function = export.load(path("double"))
    x = aio.asarray(np.arange(5.0))
    first, second = function(x, 2.0)
    assert second.tolist() == [8.0, 6.0, 4.0, 2.0, 0.0]
    assert first.dtype == np.float64


def test_inside_jit_and_twice_with_other_lengths() -> None:
    function = export.load(path("two_dimensions"))

    @aio.jit
    def both(x: aio.Array, y: aio.Array, z: aio.Array) -> Any:
        return function(x, y)[0] + 1, function(x[:1], z)[0], function(x, y)[2]

    x = aio.asarray(np.arange(6, dtype=F32).reshape(2, 3))
    y = aio.asarray(np.arange(12, dtype=F32).reshape(6, 2))
    first, second, third = both(x, y, y * 2)
    doubled = np.concatenate([np.asarray(x)] * 2, 1)
    np.testing.assert_allclose(first, doubled @ np.asarray(y) + 1)
    np.testing.assert_allclose(second, doubled[:1] @ np.asarray(y) * 2)
    np.testing.assert_allclose(third, np.asarray(x).mean(0))


@pytest.mark.asyncio
async def test_ahead_of_time() -> None:
    function = await export.load_async(path("mlp"))
    before = aio.stats()["compiles"]
    compiled = await function.compile()
    assert aio.stats()["compiles"] <= before + 1
    given, expected = sets("mlp")[0]
    args, _ = arguments(function, given)
    before = aio.stats()["compiles"]
    result = await compiled(*args)
    np.testing.assert_allclose(result, expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(await function(*args), expected[0], rtol=1e-5, atol=1e-5)
    assert aio.stats()["compiles"] == before
    assert compiled.cost().flops > 2 * 5 * 8 * 16
    assert "func.call" in function.lower().as_text()
    symbolic = export.load(path("symbolic"))
    with pytest.raises(TypeError, match="the lengths batch vary; give arguments"):
        symbolic.lower()
    weights = [{name: aio.ShapeDtype(x.shape, x.dtype) for name, x in layer.items()} for layer in args[0]]
    await symbolic.compile(weights, aio.ShapeDtype((9, 8), "float32"))
    before = aio.stats()["compiles"]
    assert (await symbolic(args[0], aio.ones((9, 8)))).shape == (9, 4)
    assert aio.stats()["compiles"] == before


def test_buckets_for_symbolic_lengths() -> None:
    function = export.load(path("symbolic"), buckets={"batch": (1, 4, 8)})
    plain = export.load(path("symbolic"))
    given, _ = sets("symbolic")[0]
    (weights, _), _ = arguments(plain, given)
    programs = function._jit.programs
    for batch in (1, 2, 3, 4, 5, 8):
        x = aio.asarray(np.random.default_rng(batch).normal(size=(batch, 8)).astype(F32))
        result = function(weights, x)
        assert result.shape == (batch, 4)
        np.testing.assert_allclose(result, plain(weights, x), rtol=1e-5, atol=1e-5)
    assert len(programs) == 3
    with pytest.raises(ValueError, match="'batch' is 9, and the largest bucket is 8"):
        function(weights, aio.ones((9, 8)))
    with pytest.raises(ValueError, match="buckets for length; the lengths that vary are batch"):
        export.load(path("symbolic"), buckets={"length": (1,)})


@pytest.mark.asyncio
async def test_loading_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    ask = _process.ModuleProcess.ask

    def recording(self: Any, *args: Any, **details: Any) -> Any:
        threads.append(threading.get_ident())
        return ask(self, *args, **details)

    monkeypatch.setattr(_process.ModuleProcess, "ask", recording)
    assert (await export.load_async(content("scan"))).name == "recurrence"
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


# StableHLO by itself

TEXT = b"""
module @anything {
  func.func public @main(%x: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %n: tensor<i32>)
      -> (tensor<2x3xf32> {jax.result_info = "y"}, tensor<i32>) {
    %0 = stablehlo.add %x, %x : tensor<2x3xf32>
    %1 = func.call @twice(%n) : (tensor<i32>) -> tensor<i32>
    return %0, %1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @twice(%n: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.add %n, %n : tensor<i32>
    return %0 : tensor<i32>
  }
}
"""


def test_text() -> None:
    function = export.load(TEXT)
    x = aio.asarray(np.arange(6, dtype=F32).reshape(2, 3))
    y, n = function(x, 4)
    np.testing.assert_array_equal(y, np.arange(6).reshape(2, 3) * 2)
    assert n.item() == 8
    # Aliasing was for another caller.
    assert not x.is_deleted()
    assert [spec.shape for spec in function.in_specs[0]] == [(2, 3), ()]


def test_one_result_is_no_tuple() -> None:
    function = export.load(b"func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> { return %x : tensor<2xi8> }")
    assert function(aio.asarray(np.array([1, 2], np.int8))).tolist() == [1, 2]
    nothing = export.load(b"func.func @main(%x: tensor<2xi8>) { return }")
    assert nothing(aio.asarray(np.array([1, 2], np.int8))) == ()


def test_portable_artifacts_and_bytecode(tmp_path: Path) -> None:
    module = _container.decode(content("mlp"), "file").module
    (tmp_path / "mlp.bin").write_bytes(module)
    function = export.load(tmp_path / "mlp.bin")
    given, expected = sets("mlp")[0]
    # Without JAX's description, arguments are as the module has them.
    np.testing.assert_allclose(function(*map(aio.asarray, given)), expected[0], rtol=1e-5, atol=1e-5)


def test_bytecode_of_stablehlo_itself() -> None:
    with artifact_process.make_context([]), ir.Location.unknown():
        written = io.BytesIO()
        ir.Module.parse(TEXT.decode()).operation.write_bytecode(written)
    assert written.getvalue().startswith(b"ML\xefR")
    _, n = export.load(written.getvalue())(aio.ones((2, 3)), 4)
    assert n.item() == 8


def test_unknown_shapes_need_a_description() -> None:
    text = b"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"
    with pytest.raises(FormatError, match=r"unknown shape; only files of jax\.export say what these lengths are"):
        export.load(text)


# What must not be loaded


def refused(file: bytes, **options: Any) -> str:
    with pytest.raises(FormatError) as caught:
        export.load(file, **options)
    return str(caught.value)


def custom_call(target: str) -> bytes:
    return f"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
        %0 = stablehlo.custom_call @{target}(%x) : (tensor<2xf32>) -> tensor<2xf32>
        return %0 : tensor<2xf32> }}""".encode()


@pytest.mark.parametrize("target", ["xla_ffi_python_cpu_callback", "lapack_evil", "lapack_sgeqrf_ffi_not", "system"])
def test_custom_calls_have_to_be_allowed(target: str) -> None:
    message = refused(custom_call(target))
    assert f"calls {target} outside of XLA" in message
    assert "allow_custom_calls=" in message
    assert export.load(custom_call(target), allow_custom_calls=[target]).name == "main"


def test_an_allowed_call_that_is_not_there_is_a_compile_error() -> None:
    function = export.load(custom_call("no_such_target"), allow_custom_calls=["no_such_target"])
    result = function(aio.ones(2))
    with pytest.raises(aio.errors.CompileError):
        result.block_until_ready()


def test_operations_that_wait_or_talk_are_refused() -> None:
    text = b"""func.func @main() -> tensor<2xf32> {
        %t = stablehlo.create_token : !stablehlo.token
        %r:2 = "stablehlo.infeed"(%t) {infeed_config = "", layout = [[0]]}
            : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
        return %r#0 : tensor<2xf32> }"""
    assert "uses stablehlo.infeed" in refused(text)
    text = b"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = arith.addf %x, %x : tensor<2xf32>
        return %0 : tensor<2xf32> }"""
    message = refused(text)
    assert "uses arith.addf" in message or "cannot be read" in message


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"", "cannot be read"),
        (b"not a module", "cannot be read"),
        (b"\xff\xfe text?", "neither text nor MLIR bytecode"),
        (b"ML\xefR", "cannot be read"),
        (b"ML\xefR\x0dStableHLO_v1.9.0\0" + b"\xff" * 50, "the module"),
        (b"module {}", 'no function "main"'),
        (b"func.func private @main()", 'function "main" has no body'),
        (b"func.func @main(%x: !stablehlo.token) { return }", "takes or gives !stablehlo.token"),
        (b"func.func @main(%x: tensor<2xi3>) { return }", "takes or gives tensor<2xi3>"),
        (b"func.func @main(%x: tensor<*xf32>) { return }", "takes or gives tensor<*xf32>"),
        (b"\0" * 100, "an offset of 0 leads nowhere"),
    ],
)
def test_what_is_no_program(file: bytes, message: str) -> None:
    text = refused(file)
    assert text.startswith("load: ")
    assert message in text


def changed(name: str, **fields: Any) -> bytes:
    """A file with other contents, written by our own encoder."""
    container = _container.decode(content(name), name)
    values = {field: getattr(container, field) for field in container.__dataclass_fields__} | fields
    return _container.encode(_container.Container(**values))


def test_our_encoder_keeps_everything() -> None:
    for name in NAMES:
        container = _container.decode(content(name), name)
        assert _container.decode(_container.encode(container), name) == container


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"platforms": ("tpu",)}, "was exported for tpu, but the device is a cpu"),
        ({"platforms": ()}, "it names no platform"),
        ({"module": b""}, "it names no platform, or has no module"),
        ({"platforms": ("cpu", "tpu")}, "its module takes no number of a platform first"),
        ({"kept": (0, 1, 2, 3)}, "should have 4 arguments, but its module has 5"),
        ({"kept": (0, 1, 2, 3, 5)}, "does not fit 5 arguments"),
        ({"kept": (1, 0, 2, 3, 4)}, "does not fit 5 arguments"),
        ({"out_types": ()}, "the result trees have 1 leaves, there are 0 types"),
        ({"in_types": ()}, "the argument trees have 5 leaves, there are 0 types"),
        ({"out_types": (_container.ArrayType((5, 3), np.dtype(F32)),)}, "but its module has tensor<5x4xf32>"),
        ({"out_types": (_container.ArrayType((5, 4), np.dtype(np.int32)),)}, "but its module has tensor<5x4xf32>"),
        ({"out_types": (_container.ArrayType(("q", 4), np.dtype(F32)),)}, "results depend on q, which no argument has"),
    ],
)
def test_descriptions_that_do_not_fit_the_module(fields: dict[str, Any], message: str) -> None:
    assert message in refused(changed("mlp", **fields))


def test_a_process_that_dies_or_hangs_is_a_format_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    monkeypatch.setattr(_process, "_PROGRAM", str(program))
    program.write_text("import os\nos.abort()")
    assert "jaxlib cannot read the module (the process that tried ended with -6)" in refused(TEXT)
    program.write_text("import sys\nsys.stdin.buffer.read()")
    monkeypatch.setattr(_process, "SECONDS", 0.2)
    assert "the process that tried took too long" in refused(TEXT)
    program.write_text("print('{', flush=True)\nimport time\ntime.sleep(60)")
    with pytest.raises((FormatError, ValueError)):
        export.load(TEXT)


def test_the_process_ends_itself_when_it_takes_too_long() -> None:
    """Even if nobody is there to end it."""
    program = "from aioarray._xla import artifact_process as p; p.limit_time(0.1)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, check=False, capture_output=True)
    assert ended.returncode in _process.ENDED


def test_the_process_is_started_anew_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with _process.ModuleProcess(1000) as process:
        assert process._process is None
        first = _load.read(TEXT, "file", process)
        started = process._process
        assert started is not None
        started.kill()
        with pytest.raises(FormatError):
            _load.read(TEXT, "file", process)
        second = _load.read(TEXT, "file", process)
        assert first.in_specs == second.in_specs
        last = process._process
    assert last is not None
    assert last.poll() is not None
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(RuntimeError, match=r"sys\.executable is empty"):
        export.load(TEXT)


def test_loading_is_possible_from_many_threads() -> None:
    async def load_all() -> list[export.ExportedFunction]:
        return await asyncio.gather(*[export.load_async(content(name)) for name in NAMES[:4]])

    assert [function.name for function in asyncio.run(load_all())] == [
        _container.decode(content(name), name).name for name in NAMES[:4]
    ]


def test_spec_is_exported() -> None:
    assert export.ExportedSpec is _function.ExportedSpec


# Large constants


def constant(value: np.ndarray) -> str:
    kind = f"tensor<{'x'.join(map(str, value.shape))}x{'f32' if value.dtype == F32 else 'i32'}>"
    return f'stablehlo.constant dense<"0x{value.tobytes().hex().upper()}"> : {kind}'


TABLE = np.arange(200 * 100, dtype=F32).reshape(200, 100)
KIND = "tensor<200x100xf32>"
NESTED = f"""
func.func @main(%x: {KIND}) -> ({KIND}, {KIND}, {KIND}) {{
  %0 = func.call @outer(%x) : ({KIND}) -> {KIND}
  %1 = func.call @inner(%0) : ({KIND}) -> {KIND}
  %small = {constant(np.ones((1, 3), F32))}
  %splat = {constant(np.ones((200, 100), F32))}
  %again = {constant(TABLE)}
  %2 = stablehlo.add %again, %splat : {KIND}
  %n = stablehlo.constant dense<0> : tensor<i32>
  %3:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, {KIND} cond {{
    %limit = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %z = func.call @looped(%y) : ({KIND}) -> {KIND}
    stablehlo.return %j, %z : tensor<i32>, {KIND}
  }}
  return %1, %2, %3#1 : {KIND}, {KIND}, {KIND}
}}
func.func private @outer(%x: {KIND}) -> {KIND} {{
  %a = {constant(TABLE * 2)}
  %0 = stablehlo.add %x, %a : {KIND}
  %1 = func.call @inner(%0) : ({KIND}) -> {KIND}
  return %1 : {KIND}
}}
func.func private @inner(%x: {KIND}) -> {KIND} {{
  %a = {constant(TABLE)}
  %0 = stablehlo.add %x, %a : {KIND}
  return %0 : {KIND}
}}
func.func private @looped(%x: {KIND}) -> {KIND} {{
  %a = {constant(TABLE + 7)}
  %0 = stablehlo.add %x, %a : {KIND}
  return %0 : {KIND}
}}
"""


def test_large_constants_become_arrays() -> None:
    function = export.load(NESTED.encode())
    # Of the four tables one is needed in a loop, where it stays, and one is there twice.
    assert sorted(float(x[0, 1]) for x in map(np.asarray, function._constants)) == [1.0, 2.0]
    text = function.lower().as_text()
    assert len(text) < len(NESTED) / 2
    x = np.full((200, 100), 0.5, F32)
    first, second, third = function(aio.asarray(x))
    np.testing.assert_array_equal(first, x + 4 * TABLE)
    np.testing.assert_array_equal(second, TABLE + 1)
    np.testing.assert_array_equal(third, x + 2 * (TABLE + 7))
    # Also where it becomes a part of another program.
    inlined = aio.jit(lambda x: function(x * 2)[0])(aio.asarray(x))
    np.testing.assert_array_equal(inlined, 2 * x + 4 * TABLE)


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "float64", "int8", "int32", "uint64", "bfloat16", "bool", "complex64"]
)
def test_constants_of_every_dtype_come_back(dtype: str) -> None:
    count = 80_000
    value = aio.astype(aio.asarray(np.random.default_rng(0).integers(0, 2, count)), dtype)
    function = export.load(export.serialize(lambda i: value[i], aio.ShapeDtype((3,), "int32")))
    hoisted = dtype not in ("bfloat16", "bool", "complex64")
    assert len(function._constants) == hoisted
    index = np.array([0, 7, count - 1], np.int32)
    result = np.asarray(function(aio.asarray(index)))
    assert result.tobytes() == np.asarray(value)[index].tobytes()


def test_functions_that_call_themselves_are_refused() -> None:
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @again(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32> }
    func.func private @again(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @again(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32> }"""
    assert "functions call themselves: again, main" in refused(text.encode())


def test_a_function_that_is_only_declared_is_refused() -> None:
    text = """func.func public @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @elsewhere(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @elsewhere(tensor<f32>) -> tensor<f32>"""
    assert 'the function "elsewhere" has no body' in refused(text.encode())


def test_programs_that_grow_without_bounds_are_refused() -> None:
    """Forty functions, each of which calls the next one twice."""
    text = (
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = func.call @f0(%x) : (tensor<f32>) -> tensor<f32>\n"
    )
    text += "  return %0 : tensor<f32> }\n"
    for i in range(40):
        text += f"func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n"
        target = (
            "stablehlo.add %x, %x : tensor<f32>"
            if i == 39
            else f"func.call @f{i + 1}(%x) : (tensor<f32>) -> tensor<f32>"
        )
        text += f"  %0 = {target}\n  %1 = {target.replace('(%x)', '(%0)')}\n  return %1 : tensor<f32> }}\n"
    assert "are too many" in refused(text.encode())
