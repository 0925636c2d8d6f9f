"""How elementwise definitions are made out of operations: promotion, dtype checks, and the precision computed in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import Definition, Node
from ._rules import CONVERT, check_dtype, convert, promote

if TYPE_CHECKING:
    from .._base.dtypes import DType

# Real dtypes with fewer digits than float32: what is composed of several steps is computed in float32 and rounded once.
NARROW = dtypes.REAL_FLOATING - {dtypes.float32, dtypes.float64}

Unary = Callable[[Node], Node]
Binary = Callable[[Node, Node], Node]


def as_floating(x: Node) -> Node:
    """``x``; integers and booleans as real numbers: see ``real_for``. A Python integer in the default real dtype."""
    return _as_floating(x, x.weak)


def as_floating_2(x: Node, y: Node) -> tuple[Node, Node]:
    """The same for two operands of one dtype, of which one may be a Python integer."""
    weak = x.weak and y.weak
    return _as_floating(x, weak), _as_floating(y, weak)


def _as_floating(x: Node, weak: bool) -> Node:
    if x.dtype in dtypes.FLOATING:
        return x
    dtype = dtypes.default_for_rank(2) if weak else dtypes.real_for(x.dtype)
    return CONVERT(x, dtype=dtype, weak=x.weak)


def unary(name: str, rule: Unary, allowed: frozenset[DType] = dtypes.NUMERIC) -> Definition[Node]:
    """``rule`` for the dtypes ``allowed``."""

    def body(x: Node) -> Node:
        check_dtype(name, x, allowed)
        return rule(x)

    return Definition(name, body)


def unary_floating(name: str, rule: Unary, allowed: frozenset[DType] = dtypes.FLOATING) -> Definition[Node]:
    """``rule`` for floating-point ``allowed``; integers and booleans become real numbers first."""

    def body(x: Node) -> Node:
        x = as_floating(x)
        check_dtype(name, x, allowed)
        return rule(x)

    return Definition(name, body)


def comparison(name: str, rule: Binary) -> Definition[Node]:
    """``rule``, which tells the order of both operands in their common dtype and shape.

    Beside an integer that the dtype does not hold, all that it holds are greater, or less.
    """
    return binary(name, rule, dtypes.ALL, lambda number: math.copysign(math.inf, number))


def binary(
    name: str,
    rule: Binary,
    allowed: frozenset[DType] = dtypes.NUMERIC,
    out_of_range: Callable[[int], float] | None = None,
) -> Definition[Node]:
    """``rule`` on both operands in their common dtype and shape."""

    def body(x1: Node, x2: Node) -> Node:
        x1, x2 = promote(name, x1, x2)
        check_dtype(name, x1, allowed)
        return rule(x1, x2)

    return Definition(name, body, out_of_range)


def binary_floating(
    name: str,
    rule: Binary,
    allowed: frozenset[DType] = dtypes.FLOATING,
    out_of_range: Callable[[int], float] | None = None,
) -> Definition[Node]:
    """As ``binary``; integers and booleans become real numbers."""

    def body(x1: Node, x2: Node) -> Node:
        x1, x2 = promote(name, x1, x2)
        x1, x2 = as_floating_2(x1, x2)
        check_dtype(name, x1, allowed)
        return rule(x1, x2)

    return Definition(name, body, out_of_range)


def in_float32(rule: Unary) -> Unary:
    """``rule``; for narrow dtypes computed in float32 and rounded once."""

    def computed(x: Node) -> Node:
        if x.dtype in NARROW:
            return convert(rule(convert(x, dtypes.float32)), x.dtype)
        return rule(x)

    return computed


def in_float32_2(rule: Binary) -> Binary:
    """The same for rules of two operands."""

    def computed(x1: Node, x2: Node) -> Node:
        if x1.dtype in NARROW:
            wide = rule(convert(x1, dtypes.float32), convert(x2, dtypes.float32))
            return convert(wide, x1.dtype)
        return rule(x1, x2)

    return computed


def by_kind(
    *,
    boolean: Unary | None = None,
    integral: Unary | None = None,
    real: Unary | None = None,
    complex: Unary | None = None,
) -> Unary:
    """One rule for each kind of dtype; the definition's ``allowed`` excludes those left out."""
    rules = (boolean, integral, real, complex)

    def computed(x: Node) -> Node:
        rule = rules[dtypes.dtype_rank(x.dtype)]
        assert rule is not None, x
        return rule(x)

    return computed


def by_kind_2(
    *,
    boolean: Binary | None = None,
    integral: Binary | None = None,
    real: Binary | None = None,
    complex: Binary | None = None,
) -> Binary:
    """The same for rules of two operands."""
    rules = (boolean, integral, real, complex)

    def computed(x1: Node, x2: Node) -> Node:
        rule = rules[dtypes.dtype_rank(x1.dtype)]
        assert rule is not None, x1
        return rule(x1, x2)

    return computed
