"""The server's parts: what the command line names, the watchdog, what serves one's own application, the sentences."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest

import aioarray as aio
from aioarray.__main__ import main, parser
from aioarray.serving import Batcher, Model, NotReadyError, Registry, TensorSpec, Watchdog, _corpus, _resolve
from tests.serving.clients import LOST, Held, affine, httpx, until

fastapi = pytest.importorskip("fastapi", reason="FastAPI is not installed")

if TYPE_CHECKING:
    from pathlib import Path

NO_OPTIONS = _resolve.ModelOptions()


def resolve(text: str, **options: Any) -> list[Model]:
    return asyncio.run(_resolve.resolve(text, _resolve.ModelOptions(**options)))


def test_models_by_module_and_attribute() -> None:
    assert [model.name for model in resolve("tests.serving.clients:double")] == ["double"]
    assert [model.version for model in resolve("tests.serving.clients:several")] == ["1", "2", "1"]
    (model,) = resolve("tests.serving.clients:affine_of", inputs=("x:float32:3",), buckets=("1,8",))
    assert model.inputs["x"].shape == (3,)
    assert model.options["buckets"] == {"batch": (1, 8)}


@pytest.mark.parametrize(
    ("text", "options", "error", "reason"),
    [
        ("nothing", {}, ValueError, "neither minilm"),
        ("tests.serving.clients:LOST", {}, ValueError, "has to be a function"),
        ("tests.serving.clients:tokenize", {}, ValueError, "--input"),
        ("tests.serving.clients:missing", {}, AttributeError, "missing"),
        ("tests.serving.nowhere:x", {}, ModuleNotFoundError, "nowhere"),
        ("tests.serving.clients:affine_of", {"inputs": ("x",)}, ValueError, "NAME:DTYPE:SHAPE"),
        ("tests.serving.clients:affine_of", {"inputs": ("x:float33:3",)}, TypeError, "float33"),
        ("tests.serving.clients:double", {"buckets": ("1,x",)}, ValueError, "NAME=SIZES"),
    ],
)
def test_models_that_are_none(text: str, options: dict[str, Any], error: type[Exception], reason: str) -> None:
    with pytest.raises((error, ValueError), match=reason):
        resolve(text, **options)


def test_inputs_and_buckets_as_they_are_typed() -> None:
    assert repr(_resolve.parse_input("tokens:int32:length,2")) == repr(("tokens", TensorSpec(("length", 2), "int32")))
    assert _resolve.parse_input("x:float32:")[1].shape == ()
    assert _resolve.parse_buckets(["1,2", "tokens=16,32"]) == {"batch": (1, 2), "tokens": (16, 32)}


@pytest.mark.asyncio
async def test_models_of_files(tmp_path: Path) -> None:
    def both(x: aio.Array, *, scale: aio.Array) -> Any:
        return {"scaled": x * scale, "sum": aio.sum(x, axis=1)}

    path = tmp_path / "both.bin"
    scale = aio.ShapeDtype((4, 1), "float32")
    path.write_bytes(aio.export.serialize(both, aio.ShapeDtype((4, 3), "float32"), scale=scale))
    (model,) = await _resolve.resolve(str(path), NO_OPTIONS)
    assert model.name == "both"
    async with Registry([model]) as registry:
        await registry.settled.wait()
        inputs = {"input_0": np.ones((6, 3), np.float32), "scale": np.full((6, 1), 2, np.float32)}
        result = await registry.get("both").infer(inputs)
    np.testing.assert_array_equal(result["scaled"], np.full((6, 3), 2.0))
    np.testing.assert_array_equal(result["sum"], np.full(6, 3.0))


def test_models_of_files_without_a_batch_axis(tmp_path: Path) -> None:
    path = tmp_path / "scalar.bin"
    path.write_bytes(aio.export.serialize(lambda x: x + 1, aio.ShapeDtype((), "float32")))
    with pytest.raises(ValueError, match="no array with a batch axis"):
        resolve(str(path))


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = parser().parse_args(["serve", "minilm", "--buckets", "1,2", "--buckets", "3"])
    assert (options.host, options.port, options.buckets) == ("127.0.0.1", 8000, ["1,2", "3"])
    for arguments in ([], ["serve"], ["nothing"], ["serve", "minilm", "--workers", "0"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert aio.__version__ in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "inputs", "error"),
    [
        ("", {"x": TensorSpec((), "float32")}, ValueError),
        ("a/b", {"x": TensorSpec((), "float32")}, ValueError),
        ("a", {}, ValueError),
        ("a", {"x": TensorSpec((None,), "float32")}, ValueError),
        ("a", {"x": TensorSpec((), "complex64")}, TypeError),
    ],
)
def test_models_that_cannot_be_served(name: str, inputs: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Model(name, lambda x: x, inputs)


@pytest.mark.asyncio
async def test_lengths_in_results_that_vary() -> None:
    tokens = TensorSpec(("length",), "int32")
    model = Model("m", lambda x: (x, aio.sum(x, axis=1)), {"x": tokens}, buckets={"batch": (1,), "length": (2, 4)})
    async with Registry([model]) as registry:
        await registry.settled.wait()
        outputs = registry.get("m").metadata()["outputs"]
    assert [output["shape"] for output in outputs] == [[-1, -1], [-1]]


def some(x: dict[str, np.ndarray]) -> int:
    """What requests cost, or what they are batched by; knows nothing of zeros."""
    if not x["x"].any():
        raise ValueError("no numbers")
    return 1


@pytest.mark.parametrize(
    "options", [{"check_finite": True}, {"cost": some, "max_batch_cost": 8}, {"key": some}], ids=lambda o: next(iter(o))
)
@pytest.mark.asyncio
async def test_a_model_whose_results_for_zeros_are_none_can_be_started(options: dict[str, Any]) -> None:
    parts = aio.jit(lambda x: x / aio.sum(x, axis=1, keepdims=True))
    model = Model("parts", parts, {"x": aio.ShapeDtype((2,), "float32")}, max_batch_size=2, **options)
    async with Registry([model]) as registry:
        await registry.settled.wait()
        assert registry.failures == {}
        stats = model.stats()
        assert stats is not None
        assert stats.accepted == 0
        result = await model.infer({"x": np.asarray([[1, 3]], np.float32)})
        np.testing.assert_array_equal(result["output"], [[0.25, 0.75]])
        with pytest.raises(aio.errors.InvalidInputError if "key" in options or "cost" in options else ArithmeticError):
            await model.infer({"x": np.zeros((1, 2), np.float32)})


@pytest.mark.asyncio
async def test_two_loads_of_one_model_leave_one() -> None:
    async with Registry({"affine": affine}) as registry:
        await registry.settled.wait()
        await asyncio.gather(*(registry.load("affine") for _ in range(3)))
        assert len(registry.models()) == 1
        assert registry.ready
        with pytest.raises(LookupError):
            await registry.load("other")
        await registry.unload("affine")
        with pytest.raises(LookupError):
            registry.get("affine")
    with pytest.raises(NotReadyError):
        await Registry([]).load(affine())


@pytest.mark.asyncio
async def test_a_version_that_fails_leaves_the_others_alone() -> None:
    def broken(x: aio.Array) -> aio.Array:
        raise RuntimeError("no weights")

    async with Registry([affine()]) as registry:
        await registry.settled.wait()
        with pytest.raises(NotReadyError, match="no weights"):
            await registry.load(Model("affine", broken, {"x": aio.ShapeDtype((3,), "float32")}, version="2"))
        assert registry.ready
        assert registry.versions("affine") == ["1"]


@pytest.mark.asyncio
async def test_a_version_that_is_loaded_beside_others_takes_nothing_away() -> None:
    held = Held("affine", version="2")
    async with Registry([affine()]) as registry, asyncio.TaskGroup() as group:
        await registry.settled.wait()
        held.close()
        loading = group.create_task(registry.load(held.model))
        await held.arrived.wait()
        assert registry.versions("affine") == ["1", "2"]
        assert registry.ready
        await registry.unload("affine", "1")
        assert not registry.ready  # nothing is there
        held.opened.set()
        await loading
        assert registry.ready


@pytest.mark.asyncio
async def test_a_model_that_could_not_be_started_is_missed_until_it_is_there_or_unloaded() -> None:
    broken = True

    def make() -> Model:
        if broken:
            raise RuntimeError("no weights")
        return affine("other")

    for mend in (True, False):
        broken = True
        async with Registry({"affine": affine, "other": make}) as registry:
            await registry.settled.wait()
            assert registry.failures == {"other": "no weights"}
            assert [row["reason"] for row in registry.index() if row["name"] == "other"] == ["no weights"]
            assert not registry.ready
            if mend:
                broken = False
                await registry.load("other")
                assert len(registry.models()) == 2
            else:
                await registry.unload("other")
                with pytest.raises(LookupError):
                    await registry.unload("other")
            assert registry.ready
            assert registry.failures == {}


@pytest.mark.asyncio
async def test_a_model_that_is_unloaded_while_it_starts_is_not_missed() -> None:
    held = Held("held")
    held.close()
    async with Registry([held.model, affine()]) as registry:
        await held.arrived.wait()
        await registry.unload("held")
        await registry.settled.wait()
        assert registry.failures == {}
        assert registry.ready


@pytest.mark.asyncio
async def test_a_model_has_one_name() -> None:
    async with Registry({"one": affine("two"), "three": lambda: affine("four")}) as registry:
        await registry.settled.wait()
        assert registry.failures == {
            "one": "the model 'two' is called 'one' in the mapping of models; give it one name",
            "three": "the model 'four' is called 'three' in the mapping of models; give it one name",
        }


@pytest.mark.asyncio
async def test_nothing_is_loaded_when_the_server_has_gone_down() -> None:
    async with Registry({"affine": affine}) as registry:
        await registry.settled.wait()
    with pytest.raises(NotReadyError, match="going down"):
        await registry.load("affine")


@pytest.mark.asyncio
async def test_watchdog_tells_where_the_loop_is_held_up(caplog: pytest.LogCaptureFixture) -> None:
    async with Watchdog(0.05) as watchdog:
        await until(lambda: watchdog.lag().p50 > 0)
        with caplog.at_level(logging.WARNING, "aioarray.serving"):
            hold_up(watchdog)
        assert watchdog.lag().stalls >= 1
    assert "hold_up" in watchdog.where
    assert "hold_up" in caplog.text
    with pytest.raises(ValueError, match="limit"):
        Watchdog(0)


def hold_up(watchdog: Watchdog) -> None:
    told = threading.Event()
    while not watchdog.stalls:  # the other thread sees it
        told.wait(0.01)


def own_application(batcher: Batcher) -> Any:
    app = fastapi.FastAPI(lifespan=aio.serving.lifespan([batcher]))
    Call = Annotated[aio.serving.BatchCall, fastapi.Depends(aio.serving.calling(batcher))]

    async def double(x: list[float], call: Any) -> Any:
        return aio.serving.ArrayResponse({"y": await call(x)})

    double.__annotations__.update(x=list[float], call=Call, **{"return": Any})
    app.add_api_route("/double", double, methods=["POST"])

    async def pending() -> Any:
        return aio.serving.ArrayResponse([aio.ones(2) * 3, np.arange(3), aio.asarray([1.0, np.nan]), "text", None])

    pending.__annotations__["return"] = Any
    app.add_api_route("/pending", pending, methods=["GET"])
    return app


@pytest.mark.asyncio
async def test_parts_in_an_own_application() -> None:
    batcher = Batcher(lambda x: x * 2, specs=TensorSpec((3,), "float32"), max_batch_size=2)
    app = own_application(batcher)
    async with (
        asyncio.timeout(LOST),
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
    ):
        assert batcher.ready
        assert (await client.post("/double", json=[1, 2, 3])).json() == {"y": [2.0, 4.0, 6.0]}
        answer = await client.post("/double", json=[1, 2])
        assert answer.status_code == 400
        assert "shape" in answer.json()["detail"]
        assert (await client.get("/pending")).json() == [[3.0, 3.0], [0, 1, 2], [1.0, None], "text", None]
    assert batcher.stats().completed == 1


def test_sentences() -> None:
    found = _corpus.sentences()
    assert len(found) == _corpus.LIMIT
    assert found == _corpus.sentences()
    assert len({sentence.text for sentence in found}) == len(found)
    assert all(30 <= len(sentence.text) <= 200 and sentence.source for sentence in found)
    assert len({sentence.source for sentence in found}) > 100
    assert len(_corpus.sentences(10)) == 10
