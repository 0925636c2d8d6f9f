"""Lengths that are expressions of dimension variables: ``"2*b + 1"``, as ``jax.export`` writes them.

The grammar is that of JAX's "Shape polymorphism" guide: sums of products of integers, variables, powers and the
functions ``floordiv``, ``mod``, ``max``, ``min`` and ``non_negative``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from .._base.errors import FormatError

# An int, a variable's name, or (operation, expressions…).
Expression: TypeAlias = "int | str | tuple[str | Expression, ...]"
Lengths: TypeAlias = Mapping[str, int]

MAX_TEXT = 1000
MAX_DEPTH = 40
MAX_POWER = 16
MAX_LENGTH = 2**62

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(.))", re.ASCII)


class NotALength(Exception):
    """An expression has no value, or none that is a length."""


def _floordiv(x: int, y: int) -> int:
    if y == 0:
        raise NotALength("it divides by zero")
    return x // y


def _mod(x: int, y: int) -> int:
    if y == 0:
        raise NotALength("it divides by zero")
    return x % y


_FUNCTIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "floordiv": (2, _floordiv),
    "mod": (2, _mod),
    "max": (2, max),
    "min": (2, min),
    "non_negative": (1, lambda x: max(0, x)),
}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match.group(1) or match.group(2) or match.group(3) for match in _TOKEN.finditer(text)]
        self._depth = 0

    def _fail(self) -> FormatError:
        return FormatError(
            f"{self._text[:80]!r} is no length: it should be an integer or an expression such as '2*b + 1'"
        )

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _take(self, token: str) -> bool:
        if self._next() != token:
            return False
        del self._tokens[0]
        return True

    def whole(self) -> Expression:
        if len(self._text) > MAX_TEXT:
            raise self._fail()
        result = self._sum()
        if self._tokens:
            raise self._fail()
        return result

    def _sum(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fail()
        negative = self._take("-")
        result = self._product()
        if negative:
            result = ("*", -1, result)
        while self._next() in ("+", "-"):
            sign = self._next()
            self._take(sign)
            if self._take("-"):
                sign = "+" if sign == "-" else "-"
            term = self._product()
            result = ("+", result, ("*", -1, term) if sign == "-" else term)
        self._depth -= 1
        return result

    def _product(self) -> Expression:
        result = self._power()
        while self._take("*"):
            result = ("*", result, self._power())
        return result

    def _power(self) -> Expression:
        base = self._atom()
        if not self._take("^"):
            return base
        exponent = self._next()
        if not exponent.isdecimal() or len(exponent) > 2 or int(exponent) > MAX_POWER:
            raise self._fail()
        self._take(exponent)
        return ("^", base, int(exponent))

    def _atom(self) -> Expression:
        token = self._next()
        if not token:
            raise self._fail()
        self._take(token)
        if token == "(":
            result = self._sum()
            if not self._take(")"):
                raise self._fail()
            return result
        if token.isdecimal() and len(token) < 20:
            return int(token)
        if not (token.isascii() and token.isidentifier()):
            raise self._fail()
        if not self._take("("):
            return token
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        if not self._take(")") or token not in _FUNCTIONS or len(arguments) != _FUNCTIONS[token][0]:
            raise self._fail()
        return (token, *arguments)


def parse(text: str) -> int | Expression:
    """The expression that ``text`` is; an int if it is that. ``FormatError`` for anything else."""
    return _Parser(text).whole()


def variables(expression: Expression) -> set[str]:
    """The variables in ``expression``."""
    if isinstance(expression, str):
        return {expression}
    if isinstance(expression, int):
        return set()
    _, *parts = expression
    return set().union(*map(variables, parts))


def _linear(expression: Expression, lengths: Lengths, unknown: str | None) -> tuple[int, int]:
    """(a, b) where the expression is ``a * unknown + b``. ``NotALength`` where it is not of that form."""
    if isinstance(expression, int):
        return 0, expression
    if isinstance(expression, str):
        return (1, 0) if expression == unknown else (0, lengths[expression])
    operation, *parts = expression
    pairs = [_linear(part, lengths, unknown) for part in parts]
    if operation == "+":
        result = (pairs[0][0] + pairs[1][0], pairs[0][1] + pairs[1][1])
    elif operation == "*":
        (a, b), (c, d) = pairs
        if a and c:
            raise NotALength("it is not linear")
        result = (a * d + c * b, b * d)
    elif any(slope for slope, _ in pairs):
        raise NotALength("it is not linear")
    elif operation == "^":
        result = (0, pairs[0][1] ** pairs[1][1])
    else:
        assert isinstance(operation, str)
        result = (0, _FUNCTIONS[operation][1](*[value for _, value in pairs]))
    if max(map(abs, result)) > MAX_LENGTH:
        raise NotALength("it is too large")
    return result


def evaluate(expression: Expression, lengths: Lengths) -> int:
    """The value of ``expression``. ``NotALength`` where it is negative, too large, or there is none."""
    _, value = _linear(expression, lengths, None)
    if value < 0:
        raise NotALength(f"it is {value}")
    return value


def solve(equations: Iterable[tuple[Expression, int]]) -> dict[str, int]:
    """The variables for which each expression is as long as said, as far as linear equations determine them.

    Whether the expressions then have these values is for the caller to see. ``NotALength`` where an equation that is to
    determine a variable has no solution of 1 or more.
    """
    remaining = [(expression, value, variables(expression)) for expression, value in equations]
    lengths: dict[str, int] = {}
    progress = True
    while progress:
        progress = False
        for expression, value, names in remaining:
            unknown = names - lengths.keys()
            if len(unknown) != 1:
                continue
            (name,) = unknown
            try:
                slope, offset = _linear(expression, lengths, name)
            except NotALength:
                continue  # another equation may give it
            if slope == 0:
                continue
            if (value - offset) % slope or (value - offset) // slope < 1:
                raise NotALength(f"no {name} of 1 or more makes {show(expression)} {value}")
            lengths[name] = (value - offset) // slope
            progress = True
    return lengths


def show(expression: Expression) -> str:
    """``expression`` as text."""
    if not isinstance(expression, tuple):
        return str(expression)
    operation, *parts = expression
    texts = [show(part) for part in parts]
    if operation in ("+", "*", "^"):
        return f"({f' {operation} '.join(texts)})" if operation == "+" else operation.join(texts)
    return f"{operation}({', '.join(texts)})"
