"""Writes the table of options into their documentation: ``python -m tests.serving.process.options``."""

from __future__ import annotations

from pathlib import Path

from aioarray.serving.process.settings import table

DOCUMENT = Path(__file__).resolve().parents[3] / "aioarray" / "serving" / "OPTIONS.md"
MARK = "<!-- made by python -m tests.serving.process.options -->\n"

if __name__ == "__main__":
    before, mark, _ = DOCUMENT.read_text(encoding="utf-8").partition(MARK)
    DOCUMENT.write_text(f"{before}{mark}{table()}\n", encoding="utf-8")
