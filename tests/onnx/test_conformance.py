"""A slice of ONNX's own tests, one or a few of each operator.

All of them are run by ``python -m tests.onnx.conformance``.
"""

from __future__ import annotations

import re

import pytest

pytest.importorskip("onnx", reason="the extra onnx is not installed")

from tests.onnx.conformance import Case, cases, outcome

# The domains whose operators are all here.
DOMAINS = ("ai.onnx",)


def _slice() -> list[Case]:
    """The first test of each operator, expanded function bodies left out."""
    seen: dict[str, Case] = {}
    for case in cases(("node",)):
        if case.excluded is None and "_expanded" not in case.name and case.domain in DOMAINS:
            seen.setdefault(case.model.graph.node[-1].op_type, case)
    return list(seen.values())


SLICE = _slice()


def test_slice_is_broad() -> None:
    assert len(SLICE) > 150


@pytest.mark.parametrize("case", SLICE, ids=[re.sub("^test_", "", case.name) for case in SLICE])
def test_operator(case: Case) -> None:
    assert outcome(case) == ""
