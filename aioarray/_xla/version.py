"""Which versions of jaxlib aioarray works with.

The extension module of jaxlib has no stable interface, so a version outside the range that the tests cover
is refused, by name, instead of failing somewhere inside.
"""

from __future__ import annotations

import re

from .._base.errors import IncompatibleVersionError

MINIMUM = (0, 10, 2)
BELOW = (0, 14)
SUPPORTED = ">=0.10.2,<0.14"


def parse(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: "0.12.0.1" gives (0, 12, 0, 1), "0.13.0.dev20" gives (0, 13, 0)."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in release.group().split(".")) if release else ()


def check_version(found: str | None) -> None:
    """Raise IncompatibleVersionError unless ``found`` is a supported version of jaxlib; None is no jaxlib."""
    if found is None:
        problem = "jaxlib is not installed"
    elif MINIMUM <= parse(found) < BELOW:
        return
    else:
        problem = f"jaxlib {found} is installed"
    raise IncompatibleVersionError(
        f"aioarray needs jaxlib {SUPPORTED}, but {problem}. Install a supported version: "
        f'pip install "jaxlib{SUPPORTED}"',
        name="jaxlib",
    )
