"""Which versions of jaxlib are taken, and what is said about others."""

from __future__ import annotations

import pytest

from aioarray._base.errors import IncompatibleVersionError
from aioarray._xla.version import BELOW, MINIMUM, SUPPORTED, check_version, parse


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.10.2", (0, 10, 2)), ("0.12.0.1", (0, 12, 0, 1)), ("0.13.0.dev20", (0, 13, 0)), ("unknown", ())],
)
def test_parse_takes_the_leading_numbers(version, numbers) -> None:
    assert parse(version) == numbers


@pytest.mark.parametrize("version", ["0.10.2", "0.10.9", "0.11.0", "0.12.0.1", "0.13.9"])
def test_supported_versions_pass(version) -> None:
    check_version(version)


@pytest.mark.parametrize("version", ["0.4.38", "0.10.1", "0.14.0", "0.14.0.dev3", "1.0.0", "unknown"])
def test_others_are_refused_by_name_with_the_remedy(version) -> None:
    with pytest.raises(IncompatibleVersionError) as caught:
        check_version(version)
    message = str(caught.value)
    assert f"jaxlib {version} is installed" in message
    assert f"needs jaxlib {SUPPORTED}" in message
    assert f'pip install "jaxlib{SUPPORTED}"' in message


def test_a_missing_jaxlib_is_named() -> None:
    with pytest.raises(IncompatibleVersionError, match="jaxlib is not installed"):
        check_version(None)


def test_the_range_in_words_is_the_range_in_numbers() -> None:
    lower, upper = SUPPORTED.split(",")
    assert parse(lower.removeprefix(">=")) == MINIMUM
    assert parse(upper.removeprefix("<")) == BELOW
