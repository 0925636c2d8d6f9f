"""``aio.lax``: branches and loops by values, inside ``jit`` and outside, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aioarray as aio
from aioarray import lax
from aioarray._graph import GraphError, array_spec, input_node, verify
from aioarray._ops import lax as control
from aioarray._ops._primitives import add, less

everywhere = pytest.mark.parametrize("wrap", [aio.jit, lambda f: f], ids=["inside jit", "outside"])


@everywhere
def test_cond(wrap: Any) -> None:
    w = aio.asarray([1.0, 2.0])

    def f(p: Any, x: Any) -> Any:
        return lax.cond(p, lambda v: {"a": v["a"] + w, "n": 1}, lambda v: {"a": v["a"] * w, "n": 2}, {"a": x, "b": 0.0})

    run = wrap(f)
    for p in (True, False):
        result = run(p, aio.asarray([3.0, 4.0]))
        np.testing.assert_array_equal(np.asarray(result["a"]), [4, 6] if p else [3, 8])
        assert int(result["n"]) == (1 if p else 2)
    assert int(run(aio.asarray(2) > 1, aio.ones(2))["n"]) == 1
    assert int(run(aio.asarray(0), aio.ones(2))["n"]) == 2


@everywhere
def test_only_one_branch_is_run(wrap: Any) -> None:
    def endless(x: Any) -> Any:
        return lax.while_loop(lambda v: v < 1, lambda v: v, x)

    assert int(wrap(lambda p, x: lax.cond(p, endless, lambda v: v + 1, x))(False, 0)) == 1


@everywhere
def test_switch(wrap: Any) -> None:
    run = wrap(lambda i, x: lax.switch(i, [lambda v: v + 10, lambda v: v * 10, lambda v: v], x))
    assert [int(run(i, 3)) for i in (-5, 0, 1, 2, 100)] == [13, 13, 30, 3, 3]


@everywhere
def test_while_loop_with_a_tree(wrap: Any) -> None:
    w = aio.asarray([1.0, 2.0])

    def f(limit: Any, start: Any) -> Any:
        return lax.while_loop(
            lambda s: (s["i"] < limit) & (s["v"][0] < 100),
            lambda s: {"i": s["i"] + 1, "v": [s["v"][0] * 2]},
            {"i": 0, "v": [start]},
        )

    run = wrap(lambda limit, start: {**f(limit, start), "w": w})
    for limit in (0, 3, 50):
        i, v = 0, 1.5
        while i < limit and v < 100:
            i, v = i + 1, v * 2
        result = run(limit, 1.5)
        assert (int(result["i"]), float(result["v"][0])) == (i, v)


@everywhere
def test_fori_loop_with_dynamic_and_static_bounds(wrap: Any) -> None:
    w = aio.asarray([1.0, 2.0])

    def f(lower: Any, upper: Any, x: Any) -> Any:
        return lax.fori_loop(lower, upper, lambda i, v: v + w * i, x)

    for lower, upper in ((0, 5), (2, 4), (3, 3), (5, 2)):
        expected = np.asarray([0.5, 0.5]) + np.asarray([1, 2]) * sum(range(lower, upper))
        static = wrap(lambda x, lower=lower, upper=upper: f(lower, upper, x))(aio.full((2,), 0.5))
        np.testing.assert_array_equal(np.asarray(static), expected)
        assert static.dtype == aio.float32  # the index does not widen it
        dynamic = wrap(f)(aio.asarray(lower), aio.asarray(upper), aio.full((2,), 0.5))
        np.testing.assert_array_equal(np.asarray(dynamic), expected)


@everywhere
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(wrap: Any, reverse: bool) -> None:
    generator = np.random.default_rng(0)
    xs = {"a": generator.normal(size=(5, 2)).astype(np.float32), "b": np.arange(5, dtype=np.int32)}
    w = aio.asarray([1.0, -1.0])

    def f(carry: Any, x: Any) -> Any:
        carry = {"s": carry["s"] + x["a"] * w, "n": carry["n"] + x["b"]}
        return carry, (carry["s"] * 2, None, x["b"])

    carry, ys = wrap(lambda init, xs: lax.scan(f, init, xs, reverse=reverse))({"s": aio.zeros(2), "n": 0}, xs)
    s, n, rows = np.zeros(2, np.float32), 0, [None] * 5
    for i in range(5)[:: -1 if reverse else 1]:
        s, n = s + xs["a"][i] * np.asarray([1, -1], np.float32), n + i
        rows[i] = s * 2
    np.testing.assert_array_equal(np.asarray(carry["s"]), s)
    assert int(carry["n"]) == n
    np.testing.assert_array_equal(np.asarray(ys[0]), np.stack(rows))
    assert ys[1] is None
    np.testing.assert_array_equal(np.asarray(ys[2]), np.arange(5))


def test_scan_without_xs_without_results_and_of_no_length() -> None:
    last, ys = lax.scan(lambda c, _: (c * 2, None), 1, length=10)
    assert int(last) == 1024
    assert ys is None
    last, ys = lax.scan(lambda c, x: (c + x, x), 0.0, aio.zeros((0, 3))[:, 0])
    assert float(last) == 0.0
    assert ys.shape == (0,)
    _, ys = lax.scan(lambda c, x: (c, {"double": x * 2}), None, aio.ones((3, 2)))
    np.testing.assert_array_equal(np.asarray(ys["double"]), np.full((3, 2), 2))


@everywhere
def test_map(wrap: Any) -> None:
    run = wrap(lambda x: lax.map(lambda v: (v[0] @ v[0], v[1] + 1), x))
    squares, more = run((aio.asarray([[1.0, 2.0], [3.0, 4.0]]), aio.asarray([1, 2])))
    np.testing.assert_array_equal(np.asarray(squares), [5, 25])
    np.testing.assert_array_equal(np.asarray(more), [2, 3])


@everywhere
def test_nested_control_flow_with_values_from_every_level(wrap: Any) -> None:
    w = aio.asarray(3.0)

    def f(x: Any, n: Any) -> Any:
        outer = x * 2

        def turn(i: Any, v: Any) -> Any:
            double = v + outer

            def inner(c: Any, y: Any) -> Any:
                return lax.cond(y > 1, lambda: c + double * w, lambda: c + x * i), c

            return lax.scan(inner, v, aio.asarray([0.0, 1.0, 2.0]))[0]

        return lax.fori_loop(0, n, turn, x)

    def expected(x: float, n: int) -> float:
        v = x
        for i in range(n):
            double, c = v + x * 2, v
            for y in (0.0, 1.0, 2.0):
                c = c + double * 3 if y > 1 else c + x * i
            v = c
        return v

    assert float(wrap(f)(1.0, 4)) == expected(1.0, 4)


def test_updates_in_place_inside_bodies() -> None:
    def f(c: Any, x: Any) -> Any:
        c[0] = x
        c[1] += 1
        return c, c

    last, all_ = lax.scan(f, aio.zeros(2), aio.asarray([5.0, 6.0]))
    np.testing.assert_array_equal(np.asarray(last), [6, 2])
    np.testing.assert_array_equal(np.asarray(all_), [[5, 1], [6, 2]])

    def g(x: Any) -> Any:
        x[0] = 9.0
        return x

    x = aio.zeros(2)
    np.testing.assert_array_equal(np.asarray(lax.cond(True, g, lambda x: x, x)), [9, 0])
    np.testing.assert_array_equal(np.asarray(x), [0, 0])

    outer = aio.zeros(2)

    def bad(i: Any, v: Any) -> Any:
        outer[0] = v
        return v

    with pytest.raises(aio.errors.TracedValueError, match="update in place"):
        lax.fori_loop(0, 3, bad, 1.0)
    with pytest.raises(aio.errors.TracedValueError, match="update in place"):
        aio.jit(lambda x: lax.fori_loop(0, 3, lambda i, v: x.__setitem__(0, v) or v, 1.0))(aio.zeros(2))


def test_arrays_of_a_body_do_not_escape() -> None:
    kept: list[aio.Array] = []

    def f(x: Any) -> Any:
        lax.fori_loop(0, 2, lambda i, v: kept.append(v) or v, x)
        return kept[0] + 1

    with pytest.raises(aio.errors.TracedValueError, match="body_fun of fori_loop"):
        aio.jit(f)(1.0)


def test_python_numbers_take_the_dtype_that_the_body_gives_them() -> None:
    assert lax.fori_loop(0, 3, lambda i, v: v * 0.5 + i, 1).dtype == aio.float32
    assert lax.while_loop(lambda v: v < 3, lambda v: v + aio.asarray(1.0, dtype="float64"), 0).dtype == aio.float64
    carry, _ = lax.scan(lambda c, x: (c + x, None), 0, aio.asarray([1.5, 2.0]))
    assert float(carry) == 3.5
    # The other way round: the body resets to a Python number.
    assert lax.while_loop(lambda v: v > 3, lambda v: 0, aio.asarray(5.0)).dtype == aio.float32
    assert lax.cond(True, lambda: 1, lambda: aio.asarray(2.0)).dtype == aio.float32


def test_loops_are_one_launch_and_do_not_recompile_for_other_bounds() -> None:
    def run(n: int) -> aio.Array:
        return lax.fori_loop(0, n, lambda i, v: v + i * 81, 0)

    assert int(run(3)) == 3 * 81
    before = aio.stats()
    assert int(run(1000)) == 499500 * 81
    after = aio.stats()
    assert after["enqueued"] - before["enqueued"] == 1
    assert after["compiles"] == before["compiles"]


@pytest.mark.asyncio
async def test_calling_does_not_wait() -> None:
    result = lax.while_loop(lambda v: v < 50_000_000, lambda v: v + 1, aio.asarray(0))
    assert not result.is_ready()
    assert int((await result.to_host()).item()) == 50_000_000


def test_dynamic_loops_are_never_launched_on_the_loops_thread() -> None:
    f = aio.jit(lambda n: lax.while_loop(lambda v: v < n, lambda v: v + 1, 0))
    for _ in range(10):
        f(3).block_until_ready()
    (entry,) = f.programs.values()
    assert not entry.program.steady
    assert entry.program.compiled.launch_class.current == 0  # dear, however quick it was


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (
            lambda: lax.while_loop(lambda x: x[0] < 3, lambda x: (x[0] + 1, x[1][:2]), (0, aio.zeros(3))),
            TypeError,
            r"while_loop: body_fun must give what it takes; it takes \(int32\[\], float32\[3\]\), but gives "
            r"\(int32\[\], float32\[2\]\): at \[1\] they are float32\[3\] and float32\[2\]",
        ),
        (
            lambda: lax.fori_loop(0, 3, lambda i, v: {"q": v["q"], "r": v["r"] > 1}, {"q": 1, "r": aio.zeros(2)}),
            TypeError,
            r"body_fun .*at \['r'\] they are float32\[2\] and bool\[2\]",
        ),
        (
            lambda: lax.scan(lambda c, x: ([c], x), aio.zeros(2), aio.zeros(2)),
            TypeError,
            r"f must give what it takes; it takes float32\[2\], but gives \[float32\[2\]\]: .*different structure",
        ),
        (lambda: lax.scan(lambda c, x: c, 0, aio.zeros(3)), TypeError, r"f must give a pair \(carry, y\)"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, (aio.zeros(3), aio.zeros(4))), ValueError, "lengths 3, 4 differ"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, aio.zeros(3), length=2), ValueError, "lengths 2, 3 differ"),
        (lambda: lax.scan(lambda c, x: (c, x), 0), ValueError, "give the length"),
        (lambda: lax.scan(lambda c, x: (c, x), 0, 1.0), ValueError, "no dimensions"),
        (
            lambda: lax.cond(True, lambda: {"a": aio.zeros(3)}, lambda: {"a": aio.zeros(4)}),
            TypeError,
            r"true_fun gives \{'a': float32\[3\]\}, false_fun \{'a': float32\[4\]\}: at \['a'\]",
        ),
        (lambda: lax.cond(True, lambda: [aio.zeros(3)], lambda: aio.zeros(3)), TypeError, "different structure"),
        (lambda: lax.cond(True, lambda: aio.zeros(1), lambda: None), TypeError, "different structure"),
        (lambda: lax.switch(0, [lambda: aio.ones(1), lambda: aio.ones(1) < 1]), TypeError, r"branches\[1\] bool\[1\]"),
        (lambda: lax.cond(aio.zeros(3), lambda: 1, lambda: 2), TypeError, "boolean of no dimensions"),
        (lambda: lax.cond(1.5, lambda: 1, lambda: 2), TypeError, "boolean of no dimensions"),
        (lambda: lax.switch(1.5, [lambda: 1]), TypeError, "integer of no dimensions"),
        (lambda: lax.switch(0, []), ValueError, "no branches"),
        (lambda: lax.while_loop(lambda x: x, lambda x: x, 3), TypeError, "cond_fun gives int32"),
        (lambda: lax.while_loop(lambda x: None, lambda x: x, 3), TypeError, "cond_fun gives nothing"),
        (lambda: lax.fori_loop(0.5, 3, lambda i, v: v, 1), TypeError, "lower is float32"),
        (lambda: lax.fori_loop(0, aio.zeros(2), lambda i, v: v, 1), TypeError, "upper is"),
        (lambda: lax.cond(True, lambda x: x, lambda x: x, "text"), TypeError, "str"),
        (
            lambda: lax.while_loop(lambda x: bool(x < 3), lambda x: x, 3),
            aio.errors.TracedValueError,
            "cond_fun of while_loop",
        ),
    ],
)
def test_mistakes_are_explained(run: Any, error: type[Exception], message: str) -> None:
    before = aio.stats()["enqueued"]
    with pytest.raises(error, match=message):
        run()
    assert aio.stats()["enqueued"] == before


def test_bodies_are_closed_graphs() -> None:
    # A body that refers to a node outside of it by itself, not through an input, is found by the verifier.
    spec = array_spec((), np.dtype(np.int32))
    outer, i, j = input_node(spec), input_node(spec), input_node(spec)
    condition = control.Body(control.Graph("condition", (i,), (less(i, 3),)), ())
    open_body = control.Graph("body", (j,), (add(j, outer),))
    with pytest.raises(GraphError, match="input of another graph"):
        verify(open_body)
    closed = control.Graph("body", (j, outer), (add(j, outer),))
    given = input_node(spec)
    (result,) = control.loop(condition, control.Body(closed, (given,)), [input_node(spec)], counted=False)
    assert given in verify(control.Graph("whole", (*result.inputs[0].inputs,), (result,)))


# Greedy decoding of a small recurrent model.

VOCABULARY, HIDDEN, STEPS, END = 11, 16, 24, 0


def model_parameters() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    return {
        "embedding": generator.normal(size=(VOCABULARY, HIDDEN)).astype(np.float32),
        "recurrent": generator.normal(size=(HIDDEN, HIDDEN)).astype(np.float32) / 4,
        "output": generator.normal(size=(HIDDEN, VOCABULARY)).astype(np.float32),
    }


def decode_step(parameters: Any, hidden: Any, token: Any) -> Any:
    hidden = aio.tanh(hidden @ parameters["recurrent"] + parameters["embedding"][token])
    return hidden, aio.argmax(hidden @ parameters["output"])


def python_decode(parameters: Any, token: int) -> list[int]:
    hidden = np.zeros(HIDDEN, np.float32)
    tokens = []
    for _ in range(STEPS):
        hidden = np.tanh(hidden @ parameters["recurrent"] + parameters["embedding"][token])
        token = int(np.argmax(hidden @ parameters["output"]))
        tokens.append(token)
        if token == END:
            break
    return tokens


def test_decoding_with_while_loop_gives_the_tokens_of_a_python_loop() -> None:
    @aio.jit
    def decode(parameters: Any, first: Any) -> Any:
        def going(state: Any) -> Any:
            return (state["n"] < STEPS) & ~state["done"]

        def step(state: Any) -> Any:
            hidden, token = decode_step(parameters, state["hidden"], state["token"])
            token = token.astype(aio.int32)
            tokens = state["tokens"].at[state["n"]].set(token)
            return {"hidden": hidden, "token": token, "tokens": tokens, "n": state["n"] + 1, "done": token == END}

        state = {
            "hidden": aio.zeros(HIDDEN),
            "token": first,
            "tokens": aio.full((STEPS,), -1, dtype=aio.int32),
            "n": 0,
            "done": False,
        }
        return lax.while_loop(going, step, state)

    parameters = model_parameters()
    lengths = set()
    for first in range(1, VOCABULARY):
        result = decode(parameters, aio.asarray(first))
        expected = python_decode(parameters, first)
        assert np.asarray(result["tokens"]).tolist()[: int(result["n"])] == expected
        lengths.add(len(expected))
    assert len(lengths) > 1  # some end before the limit
    assert len(decode.programs) == 1


def test_decoding_with_scan_gives_the_tokens_of_a_python_loop() -> None:
    @aio.jit
    def decode(parameters: Any, first: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            hidden, token = decode_step(parameters, *state)
            token = token.astype(aio.int32)
            return (hidden, token), token

        return lax.scan(step, (aio.zeros(HIDDEN), first), length=STEPS)[1]

    parameters = model_parameters()
    for first in range(1, VOCABULARY):
        tokens = np.asarray(decode(parameters, aio.asarray(first))).tolist()
        expected = python_decode(parameters, first)
        assert tokens[: len(expected)] == expected


def test_a_narrow_index_finds_all_of_many_branches() -> None:
    branches = [lambda i=i: aio.asarray(i) for i in range(200)]
    assert lax.switch(aio.asarray(5, dtype="int8"), branches).item() == 5
    assert lax.switch(aio.asarray(-5, dtype="int8"), branches).item() == 0
    assert lax.switch(aio.asarray(199, dtype="uint8"), branches).item() == 199


def test_trees_without_arrays_come_back_outside_of_jit() -> None:
    assert lax.cond(True, lambda: None, lambda: None) is None
    assert lax.scan(lambda carry, _: (carry, None), (), length=3) == ((), None)
    assert lax.map(lambda x: {"a": None}, aio.ones(3)) == {"a": None}


@pytest.mark.parametrize("compiled", [False, True])
def test_a_bound_that_the_other_ones_dtype_does_not_hold(compiled: bool) -> None:
    def count(lower: Any) -> Any:
        return lax.fori_loop(lower, 300, lambda i, total: total + 1, 0)

    assert (aio.jit(count) if compiled else count)(aio.asarray(-3, dtype="int8")).item() == 303
    small = aio.asarray(2, dtype="uint8")
    assert lax.fori_loop(-1, small, lambda i, total: total + i, 0).item() == 0
    wide = aio.asarray(2**40 + 2, dtype="int64")
    assert lax.fori_loop(wide - 3, wide, lambda i, total: total + 1, 0).item() == 3


def test_lengths_that_are_none() -> None:
    with pytest.raises(TypeError, match=r"scan: length=2.5 is no integer"):
        lax.scan(lambda carry, _: (carry, carry), 0, length=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scan: length=-1 must not be negative"):
        lax.scan(lambda carry, _: (carry, carry), 0, length=-1)
