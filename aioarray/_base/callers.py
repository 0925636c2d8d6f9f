"""Who called into aioarray: which frames of a stack are the library's own."""

from __future__ import annotations

import os
import sys
from typing import Final

# What the file names of the library's own code begin with.
PACKAGE: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep


def stack_level() -> int:
    """The ``stacklevel`` with which the calling function warns at the line that called into aioarray."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level += 1
        frame = frame.f_back
    return level
