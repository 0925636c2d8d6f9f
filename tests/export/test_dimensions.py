"""Lengths that are expressions."""

from __future__ import annotations

import pytest

from aioarray.errors import FormatError
from aioarray.export._dimensions import NotALength, evaluate, parse, show, solve, variables

LENGTHS = {"a": 3, "b": 5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("a", 3),
        ("2*a", 6),
        ("a*b + 1", 16),
        ("2*a - b + 4", 5),
        ("- a + b", 2),
        ("a^2*b", 45),
        ("b - -a", 8),
        ("(a + b)*2", 16),
        ("floordiv(b, 2)", 2),
        ("floordiv(-b, 2) + 10", 7),
        ("mod(b, a)", 2),
        ("max(a, b, )", None),
        ("max(a, b)", 5),
        ("min(a, 2*b)", 3),
        ("non_negative(a - b)", 0),
        ("max(floordiv(b + 1, 2), a)*2", 6),
    ],
)
def test_values(text: str, value: int | None) -> None:
    if value is None:
        with pytest.raises(FormatError):
            parse(text)
        return
    expression = parse(text)
    assert evaluate(expression, LENGTHS) == value
    # What is shown means the same.
    assert evaluate(parse(show(expression)), LENGTHS) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "2 a",
        "a +",
        "* a",
        "a^b",
        "a^99",
        "a^-1",
        "(a",
        "a)",
        "exec(a)",
        "floordiv(a)",
        "mod(a, b, a)",
        "1.5",
        "a.b",
        "é",
        "99999999999999999999",
        "a" * 2000,
        "(" * 500 + "a" + ")" * 500,
        "-" * 500 + "a",
    ],
)
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(FormatError, match="is no length"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a - b", "it is -2"), ("floordiv(a, b - 5)", "divides by zero"), ("mod(a, 0)", "divides by zero")],
)
def test_lengths_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(NotALength, match=message):
        evaluate(parse(text), LENGTHS)


def test_huge_lengths_are_not_computed() -> None:
    with pytest.raises(NotALength, match="too large"):
        evaluate(parse("*".join(["a^16"] * 40)), {"a": 10**6})


def test_variables() -> None:
    assert variables(parse("max(a, 2*b) + c^2 - 4")) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ([("a", 3)], {"a": 3}),
        ([("a + b", 8), ("2*b", 10)], {"a": 3, "b": 5}),
        ([("a*b", 15), ("a", 3)], {"a": 3, "b": 5}),
        ([("floordiv(a, 2)", 1), ("a - 1", 2)], {"a": 3}),
        ([("mod(a, 5)", 3)], {}),
        ([("a^2", 9)], {}),
        ([("a*a", 9)], {}),
        ([("a + b", 8)], {}),
        ([("a - a + b", 5)], {}),
        ([("0*a + b", 5), ("a", 1)], {"a": 1, "b": 5}),
    ],
)
def test_solving(equations: list[tuple[str, int]], expected: dict[str, int]) -> None:
    assert solve((parse(text), value) for text, value in equations) == expected


@pytest.mark.parametrize("equation", [("2*a", 5), ("a", 0), ("a + 4", 3)])
def test_equations_without_a_solution(equation: tuple[str, int]) -> None:
    with pytest.raises(NotALength, match="no a of 1 or more"):
        solve([(parse(equation[0]), equation[1])])
