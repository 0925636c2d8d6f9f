"""Every elementwise definition by its name: ``elementwise.add``, ``elementwise.sin``, ..."""

from __future__ import annotations

from types import SimpleNamespace

from aioarray._graph import Definition
from aioarray._ops import (
    arithmetic,
    bitwise,
    comparison,
    complex,
    exponential,
    floating_point,
    hyperbolic,
    logical,
    rounding,
    searching,
    special,
    trigonometric,
)

CHAPTERS = (
    arithmetic,
    bitwise,
    comparison,
    complex,
    exponential,
    floating_point,
    hyperbolic,
    logical,
    rounding,
    special,
    trigonometric,
)

DEFINITIONS = {
    name: thing
    for chapter in CHAPTERS
    for name, thing in vars(chapter).items()
    # These two are made otherwise, and have tests of their own.
    if isinstance(thing, Definition) and name not in {"i0", "integer_power"}
}
elementwise = SimpleNamespace(**DEFINITIONS, where=searching.where)
