"""CHANGELOG.md keeps to Keep a Changelog, and the version that is built is a next one or a released one."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)


def releases() -> list[tuple[tuple[int, ...], date]]:
    """(version, date) of every released section, in the order of the file."""
    matches = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d{2}-\d{2})", text) for text in HEADINGS[1:]]
    assert None not in matches, f"not '[x.y.z] - YYYY-MM-DD': {HEADINGS[1:]}"
    return [(tuple(map(int, m.groups()[:3])), date.fromisoformat(m[4])) for m in matches if m is not None]


def test_sections_are_unreleased_then_releases_newest_first() -> None:
    assert HEADINGS[0] == "[Unreleased]"
    assert releases() == sorted(set(releases()), reverse=True)


def test_changes_stand_under_the_known_kinds() -> None:
    kinds = re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE)
    assert kinds
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_version_is_not_older_than_the_newest_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = tuple(map(int, project["version"].split(".")))
    assert version >= max((released for released, _ in releases()), default=(0, 0, 0))
