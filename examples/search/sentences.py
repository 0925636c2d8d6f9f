"""Sentences for the search page: those of the standard library's own documentation, which every Python carries."""

from __future__ import annotations

import ast
import re
import sysconfig
from pathlib import Path
from pydoc_data import topics
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT: Final = 3000
_SHORTEST, _LONGEST = 30, 200
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'])")
_FILES: Final = """
argparse asyncio/base_events asyncio/events asyncio/streams asyncio/tasks bisect calendar
collections/__init__ concurrent/futures/_base configparser contextlib csv _pydecimal difflib
email/message fractions ftplib functools gettext glob heapq http/client imaplib inspect ipaddress
json/__init__ logging/__init__ mailbox mimetypes multiprocessing/managers os optparse pathlib pickle
platform random shutil smtplib socket statistics string subprocess tarfile tempfile textwrap threading
tkinter/__init__ tokenize traceback turtle types typing unittest/case urllib/parse urllib/request uuid
weakref webbrowser zipfile
"""
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_PROSE: Final = ("Changed in version", "New in version", "Added in version", "Deprecated", "See ")


class Sentence(NamedTuple):
    """A sentence, and where it stands."""

    text: str
    source: str


def sentences(limit: int = LIMIT) -> list[Sentence]:
    """Up to ``limit`` sentences, the same ones every time in one Python: of the language, and of the library."""
    found: dict[str, Sentence] = {}
    for texts in (_language(), _library()):
        for source, text in texts:
            for sentence in _split(text):
                found.setdefault(sentence, Sentence(sentence, source))
    everything = list(found.values())
    count = min(limit, len(everything))
    return [everything[place * len(everything) // count] for place in range(count)]


def _language() -> Iterator[tuple[str, str]]:
    for name in sorted(topics.topics):
        yield f"language reference: {name}", topics.topics[name]


def _library() -> Iterator[tuple[str, str]]:
    folder = Path(sysconfig.get_path("stdlib"))
    for name in _FILES.split():
        path = folder / f"{name}.py"
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # not in every Python
        module = name.removesuffix("/__init__").removeprefix("_py").replace("/", ".")
        for node in ast.walk(tree):
            if isinstance(node, _DOCUMENTED):
                text = ast.get_docstring(node)
                if text:
                    yield (module if isinstance(node, ast.Module) else f"{module}.{node.name}"), text


def _split(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())
        for part in _END.split(line):
            if _is_prose(part):
                yield part


def _is_prose(part: str) -> bool:
    """Whether it is a sentence, and not code, a table or a heading."""
    letters = sum(c.isalpha() or c == " " for c in part)
    return (
        _SHORTEST <= len(part) <= _LONGEST
        and part[0].isupper()
        and part[-1] in ".!?"
        and letters > 0.85 * len(part)
        and not part.startswith(_NO_PROSE)
    )
