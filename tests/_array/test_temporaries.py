"""``d[0][1] = 5`` is warned about; whatever has an effect is not."""

from __future__ import annotations

import contextlib
import operator
import sys
import threading
import warnings
from typing import TYPE_CHECKING

import pytest

import aioarray as aio
from aioarray._array.temporaries import TEMPORARY
from aioarray.errors import LostAssignmentWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def test_python_counts_references_so_that_a_temporary_can_be_told() -> None:
    assert TEMPORARY > 0


def test_it_names_the_line_that_works() -> None:
    d = aio.zeros((2, 3))
    with pytest.warns(LostAssignmentWarning, match=r"write d\[0, 1\] = 5, or d = d\.at\[0, 1\]\.set\(5\)$") as caught:
        d[0][1] = 5
    assert caught[0].filename == __file__
    assert d.tolist() == [[0.0] * 3] * 2
    d[0, 1] = 5
    assert d.tolist() == [[0.0, 5.0, 0.0], [0.0] * 3]


def test_other_forms() -> None:
    d = aio.zeros((2, 3, 4))
    i = 1
    holder = {"d": d}
    with pytest.warns(LostAssignmentWarning, match=r"d\[i, -1, 2:3\] = d\[0, 0, 0\] \+ 1"):
        d[i][-1][2:3] = d[0, 0, 0] + 1
    with pytest.warns(LostAssignmentWarning, match=r"d\[0, 1, 2\] = 1"):
        d[0, 1][2] = 1
    with pytest.warns(LostAssignmentWarning, match="index once: x"):
        d[0:1][0] = 5  # the second index counts within what the first gave
    with pytest.warns(LostAssignmentWarning, match="index once: x"):
        holder["d"][0][1] = 5
    with pytest.warns(LostAssignmentWarning, match="index once: x"):
        d[0][1] += 5
    with pytest.warns(LostAssignmentWarning, match="no effect"):
        aio.ones(3)[0] = 5
    with pytest.warns(LostAssignmentWarning, match="no effect"):
        (d + 1)[0] = 5
    assert not aio.any(d)


def test_inside_jit() -> None:
    @aio.jit
    def lost(x: aio.Array) -> aio.Array:
        x[0][1] = 5.0
        return x

    @aio.jit
    def kept(x: aio.Array) -> aio.Array:
        x[0, 1] = 5.0
        return x

    with pytest.warns(LostAssignmentWarning, match=r"x\[0, 1\] = 5\.0"):
        assert lost(aio.zeros((2, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert kept(aio.zeros((2, 2))).tolist() == [[0.0, 5.0], [0.0, 0.0]]


class Holder:
    """Has an Array."""

    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = aio.zeros(3)

    @property
    def also(self) -> aio.Array:
        return self.x


def effective() -> None:
    """Assignments that all have an effect, or that nobody can tell to have none."""
    x = aio.zeros(3)
    x[0] = 1
    x[1] += 1
    for x[2] in range(3):
        pass
    for i in range(3):
        x[i] = i
    for row in aio.zeros((2, 2)):
        row[0] = 1
    holder, arrays, named = Holder(), [aio.zeros(3)], {"x": aio.zeros(3)}
    holder.x[0] = 1
    holder.also[1] = 1
    arrays[0][0] = 1
    named["x"][0] = 1
    (y := aio.zeros(3))[0] = 1

    def inner() -> None:
        x[0] = 2

    inner()
    (lambda z: operator.setitem(z, 0, 1))(aio.zeros(3))
    operator.setitem(aio.zeros(3), 0, 1)
    aio.zeros(3).__setitem__(0, 1)
    with contextlib.closing(iter_of(x)) as values:
        next(values)[0] = 4
    try:
        x[0] = 3
    finally:
        x[1] = 3
    assert (x.tolist(), y.tolist(), holder.x.tolist()) == ([3.0, 3.0, 2.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    assert [(arrays[0], named["x"])][0][0].tolist() == [1.0, 0.0, 0.0]


def iter_of(x: aio.Array) -> Iterator[aio.Array]:
    yield x


def traced(function: Callable[[], None]) -> None:
    """As a debugger runs it, which looks at the locals at each step."""

    def look(frame, event, arg):
        frame.f_locals.items()
        return look

    previous = sys.gettrace()
    sys.settrace(look)
    try:
        function()
    finally:
        sys.settrace(previous)


def in_a_thread(function: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not failures, failures


@pytest.mark.parametrize(
    "run", [lambda function: function(), traced, in_a_thread, lambda function: exec("f()", {"f": function})]
)
def test_no_false_alarm(run: Callable[[Callable[[], None]], None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(effective)


# Equality with lists


@pytest.mark.parametrize("other", [[1, 2, 3], (1, 2, 3), [], [[1]]])
def test_equality_with_a_list_is_refused_as_the_other_operators_do(other: object) -> None:
    x = aio.asarray([1, 2, 3])
    for compare in (operator.eq, operator.ne):
        with pytest.raises(TypeError, match=r"aio\.array_equal"):
            compare(x, other)
        with pytest.raises(TypeError, match=r"aio\.asarray"):
            compare(other, x)
    for operation in (operator.add, operator.lt):
        with pytest.raises(TypeError):
            operation(x, other)


def test_equality_with_anything_else_is_as_it_was() -> None:
    x = aio.asarray([1, 2, 3])
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    assert x in [x]
    assert (x == 2).tolist() == [False, True, False]
    extended = [0]
    extended += aio.asarray([1])
    assert len(extended) == 2
