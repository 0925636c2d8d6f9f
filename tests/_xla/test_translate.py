"""Status codes out of the messages and types of exceptions."""

from __future__ import annotations

import pytest

from aioarray._xla import ForeignError, translate


@pytest.mark.parametrize(
    ("message", "status", "detail"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory", "RESOURCE_EXHAUSTED", "Out of memory"),
        ("INTERNAL: RESOURCE_EXHAUSTED: no room", "RESOURCE_EXHAUSTED", "no room"),
        ("INTERNAL: Error dispatching computation: NOT_FOUND: it", "NOT_FOUND", "it"),
        ("INTERNAL: Error dispatching computation: Error dispatching computation: it", "INTERNAL", "it"),
        ("INVALID_ARGUMENT: E0102: Mismatch:\nsee there", "INVALID_ARGUMENT", "E0102: Mismatch:\nsee there"),
        ("UNKNOWN: -:1:13: error: no", "UNKNOWN", "-:1:13: error: no"),
        ("nothing known", "UNKNOWN", "nothing known"),
        ("NOT_A_CODE: this", "UNKNOWN", "NOT_A_CODE: this"),
        ("", "UNKNOWN", ""),
    ],
)
def test_the_code_is_taken_off_the_message(message, status, detail) -> None:
    assert translate(RuntimeError(message)) == (status, detail)
    assert translate(ForeignError[0](message)) == (status, detail)


@pytest.mark.parametrize(
    ("exception", "status"),
    [
        (MemoryError("all gone"), "RESOURCE_EXHAUSTED"),
        (ValueError("all gone"), "INVALID_ARGUMENT"),
        (TypeError("all gone"), "INVALID_ARGUMENT"),
        (NotImplementedError("all gone"), "UNIMPLEMENTED"),
        (IndexError("all gone"), "OUT_OF_RANGE"),
        (KeyError(), "UNKNOWN"),
    ],
)
def test_python_exceptions_have_a_code_by_type(exception, status) -> None:
    assert translate(exception)[0] == status


def test_a_code_in_the_message_goes_before_the_type() -> None:
    assert translate(ValueError("INTERNAL: odd")) == ("INTERNAL", "odd")
