"""Safetensors files written byte by byte, without the code under test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def file_bytes(header: Any, data: bytes = b"") -> bytes:
    """A file with ``header`` (JSON text, or what becomes it) and ``data``."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(dtype: Any, shape: Any, begin: Any, end: Any) -> dict[str, Any]:
    """One entry of a header."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)
