"""Stacking, padding and taking apart, on inputs that hypothesis makes up: against the same written in plain NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aioarray.errors import InvalidInputError
from aioarray.serving import TensorSpec
from aioarray.serving.batching.function import _finite_rows
from aioarray.serving.batching.inputs import BatchSizes, Inputs, sources_of
from aioarray.serving.batching.outputs import Outputs, joined
from aioarray.serving.batching.requests import Part, Request

SPECS = {
    "ids": TensorSpec(("n",), "int32", pad=-1),
    "box": TensorSpec((2, "n", "m"), "float32", pad=np.nan),
    "flag": TensorSpec((), "bool"),
}
BUCKETS = {"n": (2, 5), "m": (3,)}


def example(n: int, m: int, seed: int, rows: int | None) -> Any:
    rng = np.random.default_rng(seed)
    lead = () if rows is None else (rows,)
    return {
        "ids": rng.integers(0, 100, (*lead, n)).astype(np.int32),
        "box": rng.random((*lead, 2, n, m)).astype(np.float32),
        "flag": rng.random(lead) < 0.5 if lead else np.bool_(seed % 2),
    }


requests = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 99), st.none() | st.integers(0, 4))


@given(st.lists(requests, min_size=1, max_size=6))
def test_what_is_stacked_can_be_taken_apart_again(described: list[tuple[int, int, int, int | None]]) -> None:
    inputs = Inputs("test", SPECS, BUCKETS)
    outputs = Outputs("test", SPECS, inputs.names)
    groups: dict[Any, list[tuple[Any, Request]]] = {}
    for n, m, seed, rows in described:
        x = example(n, m, seed, rows)
        checked = inputs.check(x, None, rows is not None)
        assert checked.rows == (1 if rows is None else rows)
        request = Request(
            checked.layout, checked.rows, single=rows is None, leaves=checked.leaves, lengths=checked.lengths
        )
        groups.setdefault(checked.layout, []).append((x, request))
    for layout, members in groups.items():
        parts = [Part(request, 0, request.rows) for _, request in members]
        size = sum(part.rows for part in parts) + 2
        stacked = inputs.stack(layout, sources_of(parts), size)
        assert [leaf.shape for leaf in stacked] == [(size, *shape) for shape in layout.shapes]
        assert all(leaf.ctypes.data % 64 == 0 for leaf in stacked if leaf.size)
        used, padding = inputs.elements(layout, parts, size)
        assert used == sum(leaf.size for _, request in members for leaf in request.leaves)
        assert used + padding == sum(leaf.size for leaf in stacked)
        # Behind the rows there is padding, and so there is behind what is shorter than its bucket.
        box, flag, ids = stacked
        assert np.isnan(box[-2:]).all()
        assert (ids[-2:] == -1).all()
        assert not flag[-2:].any()
        assert np.isnan(box).sum() == box.size - sum(x["box"].size for x, _ in members)
        row = 0
        for x, request in members:
            assert outputs.give(parts.pop(0), row, stacked, layout.structure)
            row += request.rows
            result = joined(request)
            assert result.keys() == x.keys()
            for name in x:
                np.testing.assert_array_equal(result[name], x[name], strict=True)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.randoms())
def test_a_split_request_is_joined_in_order(cuts: list[int], random: Any) -> None:
    rows = sum(cuts)
    request = Request("g", rows, single=False)
    values = np.arange(rows * 2).reshape(rows, 2)
    parts, start = [], 0
    for cut in cuts:
        parts.append(Part(request, start, start + cut))
        start += cut
    random.shuffle(parts)
    outputs = Outputs("test", None, ())
    done = [
        outputs.give(part, 1, [np.concatenate([values[:1], values[part.start : part.stop], values[:1]])], "structure")
        for part in parts
    ]
    assert done == [False] * (len(parts) - 1) + [True]
    request.structure = Inputs("test", TensorSpec((2,), "int64"), {})._structure
    np.testing.assert_array_equal(joined(request), values)


@pytest.mark.parametrize(
    ("given_value", "dtype"),
    [
        (3, "int8"),
        (True, "bool"),
        (True, "int32"),
        (2.5, "float16"),
        (3, "float32"),
        (np.int8(3), "int32"),
        (np.float32(2), "float64"),
        (1 + 2j, "complex64"),
        (ml_dtypes.bfloat16(2), "bfloat16"),
        (200, "uint8"),
        (2**64 - 1, "uint64"),
        (True, "uint16"),
        (7, "int4"),
        (15, "uint4"),
        (1e300, "float64"),
        (float("inf"), "float16"),
    ],
)
def test_numbers_that_fit_are_taken(given_value: Any, dtype: str) -> None:
    checked = Inputs("test", TensorSpec((), dtype), {}).check(given_value, None, False)
    assert checked.leaves[0].dtype == TensorSpec((), dtype).dtype
    assert checked.leaves[0] == given_value


@pytest.mark.parametrize(
    ("given_value", "dtype"),
    [
        (300, "int8"),
        (256, "uint8"),
        (8, "int4"),
        (16, "uint4"),
        (2**64, "uint64"),
        (1e300, "float32"),
        ([1.0, 70000.0], "float16"),
        (1e39, "bfloat16"),
        (1e300j, "complex64"),
        (-1, "uint8"),
        (2.5, "int32"),
        (1j, "float32"),
        (np.int64(3), "int32"),
        (np.float64(2), "float32"),
        ("3", "int32"),
        (b"3", "uint8"),
        (None, "int32"),
        ([[1], [2, 3]], "int32"),
        (2, "bool"),
    ],
)
def test_what_would_lose_something_is_refused(given_value: Any, dtype: str) -> None:
    with pytest.raises(InvalidInputError):
        Inputs("test", TensorSpec((), dtype), {}).check(given_value, None, False)


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">c16"])
def test_arrays_of_another_byte_order_are_those_of_this_machine(dtype: str) -> None:
    inputs = Inputs("test", None, {})
    given, native = np.arange(3).astype(dtype), np.arange(3).astype(dtype[1:])
    checked = inputs.check(given, None, False)
    assert checked.leaves[0].dtype == native.dtype
    np.testing.assert_array_equal(checked.leaves[0], given)
    assert checked.layout is inputs.check(native, None, False).layout


@pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble, "i4,f4", "V3"])
def test_arrays_that_no_device_has_are_refused(dtype: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^test: the input: "):
        Inputs("test", None, {}).check(np.zeros(2, dtype), None, False)


def test_inputs_that_look_alike_share_a_layout() -> None:
    inputs = Inputs("test", None, {})
    first, second, third = (inputs.check(x, None, False).layout for x in (np.ones(3), np.zeros(3), np.ones(4)))
    assert first is second
    assert first is not third
    for n in range(2000):
        inputs.check(np.ones(n, np.int8), None, False)
    assert len(inputs._layouts) <= 1024


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float16", "int4", "int32", "bool", "complex64"])
def test_rows_that_are_finite(dtype: str) -> None:
    rows = np.ones((3, 2), TensorSpec((), dtype).dtype)
    assert _finite_rows([rows, np.ones(5)], 3).tolist() == [True] * 3
    if np.dtype(rows.dtype).kind in "fcV" and dtype != "int4":
        rows[1, 0] = np.nan
        assert _finite_rows([rows, np.ones(5)], 3).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("sizes", "largest", "padded"),
    [
        (None, None, {1: 1, 3: 4, 17: 32, 32: 32}),
        (None, 20, {5: 8, 16: 16, 17: 20}),
        (None, 1, {1: 1}),
        ((4, 2), None, {1: 2, 3: 4, 0: 2}),
        ((4, 8), 6, {5: 8}),
        ((), None, {0: 0, 7: 7}),
    ],
)
def test_batch_sizes(sizes: Any, largest: int | None, padded: dict[int, int]) -> None:
    batches = BatchSizes("test", sizes, largest)
    assert {rows: batches.padded(rows) for rows in padded} == padded
