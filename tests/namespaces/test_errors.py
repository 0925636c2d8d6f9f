"""The exceptions: what they are, what they say, and that they survive copying between processes."""

from __future__ import annotations

import copy
import pickle

import pytest

from aioarray import errors
from aioarray._base import errors as base_errors


def device_error() -> errors.DeviceError:
    return errors.DeviceError(
        "out of memory", operation="matmul", location="model.py:12 in forward", status="RESOURCE_EXHAUSTED"
    )


def test_device_error_names_the_operation_the_line_and_the_status() -> None:
    error = device_error()
    message = "matmul (enqueued at model.py:12 in forward) failed with RESOURCE_EXHAUSTED: out of memory"
    assert str(error) == message
    assert (error.operation, error.location) == ("matmul", "model.py:12 in forward")
    assert (error.status, error.detail) == ("RESOURCE_EXHAUSTED", "out of memory")


def test_device_error_without_a_location() -> None:
    error = errors.DeviceError("no", operation="add")
    assert str(error) == "add failed with UNKNOWN: no"
    assert error.location is None


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_device_error_can_be_duplicated(duplicate) -> None:
    error = device_error()
    again = duplicate(error)
    assert again is not error
    assert type(again) is errors.DeviceError
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_queue_full_error_can_be_duplicated(duplicate) -> None:
    again = duplicate(errors.QueueFullError("128 requests wait", retry_after=0.5))
    assert str(again) == "128 requests wait"
    assert again.retry_after == 0.5


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("DeviceError", RuntimeError),
        ("CompileError", RuntimeError),
        ("CompileBudgetError", RuntimeError),
        ("DeletedArrayError", RuntimeError),
        ("SyncReadError", RuntimeError),
        ("ForkedProcessError", RuntimeError),
        ("QueueFullError", RuntimeError),
        ("NotServingError", RuntimeError),
        ("DeadlineError", TimeoutError),
        ("NonFiniteError", ArithmeticError),
        ("InvalidInputError", ValueError),
        ("TracedValueError", TypeError),
        ("FormatError", ValueError),
        ("IncompatibleVersionError", ImportError),
    ],
)
def test_every_error_is_ours_and_a_builtin_kind(name, builtin) -> None:
    assert issubclass(getattr(errors, name), errors.AioArrayError)
    assert issubclass(getattr(errors, name), builtin)


def test_the_warning_is_not_an_error() -> None:
    assert issubclass(errors.SyncReadWarning, UserWarning)
    assert not issubclass(errors.SyncReadWarning, errors.AioArrayError)


def test_all_exceptions_are_public_and_drawn_in_the_tree() -> None:
    defined = {
        name for name, value in vars(base_errors).items() if isinstance(value, type) and issubclass(value, Exception)
    }
    assert set(errors.__all__) == defined
    assert all(name in base_errors.__doc__ for name in defined)
