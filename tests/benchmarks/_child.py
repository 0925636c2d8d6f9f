"""The process that measures one benchmark: ``python -m tests.benchmarks._child NAME ROWS LOOP quick|'' FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ._measure import measure
from ._model import Settings

if __name__ == "__main__":
    name, rows, loop, quick, out = sys.argv[1:]
    figures = measure(name, rows, loop, Settings(quick=bool(quick)))
    Path(out).write_text(json.dumps(figures), encoding="utf-8")
