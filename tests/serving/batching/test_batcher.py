"""``Batcher`` on real loops: what a request gets, whatever happens to its neighbours."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import numpy as np
import pytest

import aioarray as aio
from aioarray import errors
from aioarray._array import enqueue
from aioarray.serving import Batcher, TensorSpec
from tests.promise.failing import failing
from tests.serving.runners import RUNNERS, Asking, Gated, Runner, settle


@pytest.fixture(params=RUNNERS.values(), ids=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param  # type: ignore[no-any-return]


def row(value: float, length: int = 3) -> np.ndarray:
    return np.full(length, value, np.float32)


# Results


def test_each_request_gets_its_own_rows(run: Runner) -> None:
    async def main() -> None:
        model = aio.jit(lambda x: {"twice": x * 2, "sum": aio.sum(x, axis=1)})
        async with Batcher(model, max_batch_size=8) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(20):
                asking.ask(i, row(i))
        stats = batcher.stats()
        assert len(asking.ended) == 20
        for i, result in asking.ended.items():
            np.testing.assert_array_equal(result["twice"], row(2 * i))
            assert result["sum"] == 3 * i
        assert (stats.accepted, stats.completed, stats.batches, stats.rows) == (20, 20, 3, 20)
        assert (stats.queued, stats.queued_rows, stats.running) == (0, 0, 0)
        assert stats.buckets["8"].batches == 2
        assert stats.buckets["4"].padded_rows == 0

    run(main)


def test_trees_of_several_dtypes(run: Runner) -> None:
    async def model(tree: Any) -> Any:
        ids, (scale, flag) = tree["ids"], tree["rest"]
        assert (ids.dtype, scale.dtype, flag.dtype) == (np.int64, np.float16, np.bool_)
        return ids + 1, {"scale": scale * 2, "flag": ~flag}

    async def main() -> None:
        async with Batcher(model, buckets=(4,)) as batcher:
            x = {"ids": np.arange(2), "rest": (np.float16(1.5), np.bool_(True))}
            ids, rest = await batcher(x)
            np.testing.assert_array_equal(ids, [1, 2])
            assert (rest["scale"], rest["flag"]) == (3, False)
            assert (rest["scale"].dtype, rest["flag"].dtype) == (np.float16, np.bool_)

    run(main)


def test_arrays_are_taken_also_while_they_are_computed(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(aio.jit(lambda x: x + 1)) as batcher:
            np.testing.assert_array_equal(await batcher(aio.ones(3) * 2), row(3))
            with pytest.raises(errors.DeviceError, match="injected"):
                await batcher(enqueue(failing(), [])[0])
            assert batcher.stats().accepted == 1

    run(main)


def test_requests_of_many_rows_are_split_and_joined(run: Runner) -> None:
    async def main() -> None:
        sizes: list[int] = []

        def model(x: aio.Array) -> aio.Array:
            sizes.append(x.shape[0])
            return x * 2

        async with Batcher(model, max_batch_size=4) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            x = np.arange(22, dtype=np.float32).reshape(11, 2)
            asking.ask("large", x, batched=True)
            asking.ask("small", x[:3], batched=True)
            asking.ask("one", x[0])
            asking.ask("empty", x[:0], batched=True)
        np.testing.assert_array_equal(asking.ended["large"], x * 2)
        np.testing.assert_array_equal(asking.ended["small"], x[:3] * 2)
        np.testing.assert_array_equal(asking.ended["one"], x[0] * 2)
        assert asking.ended["empty"].shape == (0, 2)
        assert sizes == [4, 4, 4, 4]

    run(main)


def test_a_lone_request_without_rows(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(aio.jit(lambda x: x * 2), check_finite=True) as batcher:
            result = await batcher(np.zeros((0, 5), np.float32), batched=True)
            assert (result.shape, result.dtype) == ((0, 5), np.float32)
        async with Batcher(lambda x: x * 2, buckets=(), check_finite=True) as batcher:
            assert (await batcher(np.zeros((0, 5), np.float32), batched=True)).shape == (0, 5)

    run(main)


def test_lengths_are_padded_masked_and_cut_back(run: Runner) -> None:
    shapes: list[tuple[int, ...]] = []

    def model(x: aio.Array, mask: aio.Array, n: aio.Array, valid: aio.Array) -> Any:
        shapes.append(x.shape)
        return {"mean": aio.sum(x * mask, axis=1) / n, "own": x + 1, "valid": valid}

    async def main() -> None:
        batcher = Batcher(
            model,
            specs=TensorSpec(("tokens",), "float32", pad=7),
            outputs={
                "mean": TensorSpec((), "float32"),
                "own": TensorSpec(("tokens",), "float32"),
                "valid": TensorSpec((), "bool"),
            },
            buckets={"batch": (4,), "tokens": (4, 8)},
            arguments={"mask": "tokens", "n": "len(tokens)", "valid": "batch"},
        )
        async with batcher:
            result = await batcher([1.0, 2.0, 6.0])
            assert (result["mean"], result["valid"]) == (3, True)
            np.testing.assert_array_equal(result["own"], [2, 3, 7])
            batch = await batcher(np.ones((6, 5), np.float32), batched=True)
            assert batch["own"].shape == (6, 5)
            assert batch["mean"].tolist() == [1.0] * 6
        stats = batcher.stats()
        assert (stats.buckets["4x4"].elements, stats.buckets["4x4"].padded_elements) == (3, 13)
        assert stats.buckets["4x8"].elements == 30

    run(main)
    assert shapes == [(4, 4), (4, 8), (4, 8)]


def test_keys_are_batched_apart_and_given_to_the_function(run: Runner) -> None:
    seen: list[tuple[Any, int]] = []

    def model(x: aio.Array, language: str) -> aio.Array:
        seen.append((language, x.shape[0]))
        return x * (2 if language == "de" else 3)

    async def main() -> None:
        batcher = Batcher(model, key=lambda x: "de" if x[0] < 2 else "fr", arguments={"language": "key"}, buckets=())
        async with batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(4):
                asking.ask(i, row(i))
        assert [asking.ended[i][0] for i in range(4)] == [0, 2, 6, 9]
        async with Batcher(model, arguments={"language": "key"}) as batcher:
            assert (await batcher(row(1), key="de"))[0] == 2

    run(main)
    assert sorted(seen[:2]) == [("de", 2), ("fr", 2)]
    assert seen[2:] == [("de", 1)]


def test_large_batches_are_stacked_off_the_loop(run: Runner) -> None:
    async def main() -> None:
        x = np.arange(2**18, dtype=np.float32)
        async with Batcher(aio.jit(lambda x: x + 1), max_batch_size=2) as batcher:
            np.testing.assert_array_equal(await batcher(x), x + 1)

    run(main)


def test_a_model_that_gives_its_input_back_is_never_overwritten(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x, max_batch_size=4) as batcher:
            kept = [await batcher(row(i)) for i in range(50)]
        for i, result in enumerate(kept):
            np.testing.assert_array_equal(result, row(i))

    run(main)


# Neighbours


def test_a_cancelled_request_leaves_the_queue_and_disturbs_nobody(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model, max_batch_size=4, buckets=()) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("first", row(1))
            asking.ask("with it", row(2))
            await model.begun(1)
            asking.ask("queued", row(3))
            asking.ask("stays", row(4))
            await settle()
            assert batcher.stats().queued == 2
            asking.cancel("queued")  # waits
            asking.cancel("with it")  # is in the running batch
            await settle()
            assert batcher.stats().queued == 1
            model.release()
            await model.begun(2)
            assert model.calls[1].tolist() == [row(4).tolist()]
            model.release()
        assert asking.ended["queued"] == asking.ended["with it"] == "cancelled"
        np.testing.assert_array_equal(asking.ended["first"], row(2))
        np.testing.assert_array_equal(asking.ended["stays"], row(8))
        stats = batcher.stats()
        assert (stats.accepted, stats.completed, stats.cancelled, stats.batches) == (4, 2, 2, 2)

    run(main)


def test_queued_requests_that_are_all_cancelled_are_never_computed(run: Runner) -> None:
    async def main() -> None:
        model = Gated()
        async with Batcher(model, max_batch_size=4) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("first", row(1))
            await model.begun(1)
            for i in range(100):
                asking.ask(i, row(i))
            await settle()
            for i in range(100):
                asking.cancel(i)
            await settle()
            assert batcher.stats().queued == batcher.stats().queued_rows == 0
            model.release()
        assert len(model.calls) == 1

    run(main)


def test_only_the_culprit_of_a_failing_batch_sees_its_error(run: Runner) -> None:
    sizes: list[int] = []

    async def model(x: aio.Array) -> np.ndarray:
        values = await x.to_host()
        sizes.append(len(values))
        if (values[:, 0] == 3).any():
            raise ArithmeticError("three")
        return values * 2

    async def main() -> None:
        async with Batcher(model, buckets=()) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(8):
                asking.ask(i, row(i))
        assert [str(asking.ended[i]) for i in (3,)] == ["three"]
        for i in set(range(8)) - {3}:
            np.testing.assert_array_equal(asking.ended[i], row(2 * i))
        stats = batcher.stats()
        assert (stats.failed, stats.completed, stats.bisections) == (1, 7, 3)

    run(main)
    assert sorted(sizes) == [1, 1, 2, 2, 4, 4, 8]


@pytest.mark.parametrize(
    "error", [errors.CompileError("no"), errors.CompileBudgetError("no"), errors.ForkedProcessError("no")]
)
def test_errors_that_are_no_inputs_fault_are_not_traced(run: Runner, error: Exception) -> None:
    calls: list[int] = []

    def model(x: aio.Array) -> aio.Array:
        calls.append(x.shape[0])
        raise error

    async def main() -> None:
        async with Batcher(model) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(4):
                asking.ask(i, row(i))
        assert [asking.ended[i] for i in range(4)] == [error] * 4

    run(main)
    assert calls == [4]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: aio.sum(x), "shape \\(\\)"),
        (lambda x: x[:1], r"shape \(1, 3\) for a batch of 4 rows"),
        (lambda x: "text", "returned a str"),
        (lambda x: None, "no arrays"),
    ],
)
def test_results_without_a_row_for_each_row(run: Runner, result: Any, message: str) -> None:
    async def main() -> None:
        async with Batcher(result, buckets=(4,)) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(3):
                asking.ask(i, row(i))
        for i in range(3):
            with pytest.raises(RuntimeError, match=message):
                raise asking.ended[i]
        assert batcher.stats().bisections == 0

    run(main)


def test_results_that_are_not_finite(run: Runner) -> None:
    async def main() -> None:
        model = aio.jit(lambda x: (1 / x, aio.astype(x, "int32")))
        async with Batcher(model, check_finite=True) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(3):
                asking.ask(i, row(i))
            asking.ask("rows", np.float32([[1], [0]]), batched=True)
        assert isinstance(asking.ended[0], errors.NonFiniteError)
        assert isinstance(asking.ended["rows"], errors.NonFiniteError)
        assert asking.ended[2][0][0] == 0.5

    run(main)


def test_bad_input_never_reaches_the_model(run: Runner) -> None:
    specs = {"ids": TensorSpec(("n",), "int32"), "image": aio.ShapeDtype((2, 2), "float32")}
    image = np.zeros((2, 2), np.float32)
    bad: list[tuple[Any, str]] = [
        ({"ids": [1]}, "form of the specs"),
        ({"ids": [1], "image": image, "more": 1}, "form of the specs"),
        ([[1], image], "form of the specs"),
        ({"ids": [1.5], "image": image}, r"\['ids'\].*kind float64"),
        ({"ids": ["a"], "image": image}, r"\['ids'\]"),
        ({"ids": [2**40], "image": image}, r"\['ids'\].*"),
        ({"ids": np.ones(2), "image": image}, "array of float64 is given; the dtype is int32"),
        ({"ids": [[1]], "image": image}, r"\['ids'\] has shape \(1, 1\)"),
        ({"ids": [1] * 9, "image": image}, "'n' is 9, and the largest bucket is 8"),
        ({"ids": [1], "image": np.zeros((2, 3), np.float32)}, r"\['image'\] has shape \(2, 3\)"),
        ({"ids": [1], "image": object()}, r"\['image'\]"),
    ]

    async def main() -> None:
        calls: list[Any] = []
        batcher = Batcher(lambda x: calls.append(x), specs=specs, buckets={"n": (4, 8)})
        async with batcher:
            for x, message in bad:
                with pytest.raises(errors.InvalidInputError, match=message):
                    await batcher(x)
            with pytest.raises(errors.InvalidInputError, match="no dimensions"):
                await batcher({"ids": 1, "image": image}, batched=True)
            with pytest.raises(errors.InvalidInputError, match="2 rows, and another"):
                await batcher({"ids": np.zeros((1, 4), np.int32), "image": np.stack([image] * 2)}, batched=True)
        assert calls == []
        assert batcher.stats().invalid == len(bad) + 2
        assert batcher.stats().accepted == 0

    run(main)


def test_without_specs_what_is_no_number_is_refused(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:
            for x in ("text", np.array(["a"]), np.array([object()]), None, {}):
                with pytest.raises(errors.InvalidInputError):
                    await batcher(x)

    run(main)


def test_key_and_cost_that_raise_refuse_the_request_alone(run: Runner) -> None:
    async def main() -> None:
        def broken(x: Any) -> Any:
            raise KeyError("field")

        for options in ({"key": broken}, {"key": lambda x: []}, {"cost": broken, "max_batch_cost": 4}):
            async with Batcher(lambda x: x, **options) as batcher:  # type: ignore[arg-type]
                with pytest.raises(errors.InvalidInputError, match="raised"):
                    await batcher(row(1))
        async with Batcher(lambda x: x, cost=lambda x: x[0], max_batch_cost=4) as batcher:
            for value in (np.nan, -1, np.inf, 5):
                with pytest.raises(errors.InvalidInputError, match="cost"):
                    await batcher(row(value))
            assert (await batcher(row(4)))[0] == 4

    run(main)


def test_an_input_may_go_while_it_is_stacked_off_the_loop(run: Runner) -> None:
    async def main() -> None:
        x = np.ones(2**18, np.float32)
        async with Batcher(aio.jit(lambda x: x + 1), max_batch_size=8) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            for i in range(8):
                asking.ask(i, x * i)
            while not batcher.stats().running:
                await anyio.lowlevel.checkpoint()
            for i in range(0, 8, 2):
                asking.cancel(i)
        for i in range(1, 8, 2):
            np.testing.assert_array_equal(asking.ended[i], x * i + 1)
        assert batcher.stats().bisections == 0

    run(main)


def test_keys_and_clients_that_cannot_be_looked_up(run: Runner) -> None:
    async def main() -> None:
        async with Batcher(lambda x: x) as batcher:
            with pytest.raises(TypeError, match="key is a list"):
                await batcher(row(1), key=[])  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="client is a dict"):
                await batcher(row(1), client={})  # type: ignore[arg-type]
            await batcher(row(1))

    run(main)


def test_batches_of_low_priority_alone_are_launched_in_the_background(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[str] = []
    scope = aio.priority

    def noted(name: Any) -> Any:
        entered.append(name)
        return scope(name)

    async def main() -> None:
        gated = Gated()
        async with Batcher(gated, priority_levels=2, max_batch_size=4) as batcher, anyio.create_task_group() as group:
            asking = Asking(batcher, group)
            asking.ask("first", row(1), priority=1)
            await gated.begun(1)
            asking.ask("low", row(2), priority=1)
            asking.ask("urgent", row(3), priority=0)
            await settle()
            gated.release()
            await gated.begun(2)
            gated.release()
            await asking.have_ended(3)
        assert [len(call) for call in gated.calls] == [1, 2]

    monkeypatch.setattr(aio, "priority", noted)
    run(main)
    assert entered == ["background", "normal"]
