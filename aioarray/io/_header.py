"""The header of a safetensors file: eight bytes of length, then JSON that says where each tensor is.

The format's own description: https://github.com/huggingface/safetensors#format. What that page demands is checked here,
so that whoever reads by these entries stays inside the file and meets no byte twice.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from .._base import dtypes
from .._base.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .._base.dtypes import DType

# The limit of the format's reference implementation.
MAX_HEADER_BYTES = 100_000_000
LENGTH_BYTES = 8
# So that the first tensor begins at an address that a device can use, when the file is mapped.
ALIGNMENT = 64
# NumPy's limits; the latter counts all lengths but those of 0.
MAX_NDIM = 64
MAX_BITS = 8 * 2**63
METADATA = "__metadata__"
# In the metadata: names of tensors whose dtype the format does not have, as a JSON object.
DTYPES_NOTE = "aioarray.dtypes"

# Name in the file -> bits of an element, and its dtype here (None: there is none).
DTYPES: dict[str, tuple[int, DType | None]] = {
    "BOOL": (8, dtypes.bool_),
    "F4": (4, None),
    "F6_E2M3": (6, None),
    "F6_E3M2": (6, None),
    "F8_E8M0": (8, None),
    "F8_E4M3": (8, dtypes.float8_e4m3fn),
    "F8_E5M2": (8, dtypes.float8_e5m2),
    "F8_E4M3FNUZ": (8, dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": (8, dtypes.float8_e5m2fnuz),
    "I8": (8, dtypes.int8),
    "U8": (8, dtypes.uint8),
    "I16": (16, dtypes.int16),
    "U16": (16, dtypes.uint16),
    "F16": (16, dtypes.float16),
    "BF16": (16, dtypes.bfloat16),
    "I32": (32, dtypes.int32),
    "U32": (32, dtypes.uint32),
    "F32": (32, dtypes.float32),
    "I64": (64, dtypes.int64),
    "U64": (64, dtypes.uint64),
    "F64": (64, dtypes.float64),
    "C64": (64, dtypes.complex64),
}
NAMES: dict[DType, str] = {dtype: name for name, (_, dtype) in DTYPES.items() if dtype is not None}

# Dtypes that the format does not have, and as what they are written: other readers see the same values of int4 and
# uint4, the bytes of the float8, and pairs of real and imaginary parts of complex128.
STORED_AS: dict[DType, str] = {
    dtypes.int4: "I8",
    dtypes.uint4: "U8",
    dtypes.float8_e4m3b11fnuz: "U8",
    dtypes.complex128: "F64",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor: its dtype in the file and here (None where aioarray has none), its shape, its place in the file."""

    stored: str
    dtype: DType | None
    shape: tuple[int, ...]
    start: int  # from the beginning of the file
    nbytes: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a file says about itself."""

    metadata: dict[str, str]
    entries: dict[str, Entry]


def header_length(prefix: bytes, file_size: int, source: str) -> int:
    """The length of the JSON from the file's first bytes; ``FormatError`` if the file cannot be that long."""
    if file_size < LENGTH_BYTES or len(prefix) < LENGTH_BYTES:
        raise FormatError(
            f"{source}: {file_size} bytes are too short for a safetensors file, which begins with the length of its "
            f"header in {LENGTH_BYTES} bytes"
        )
    length = int.from_bytes(prefix[:LENGTH_BYTES], "little")
    if length > MAX_HEADER_BYTES:
        raise FormatError(
            f"{source}: the first 8 bytes say that the header has {length} bytes; at most {MAX_HEADER_BYTES} are "
            "allowed, so this is no safetensors file, or a damaged one"
        )
    if length > file_size - LENGTH_BYTES:
        raise FormatError(
            f"{source}: the header should have {length} bytes, but only {file_size - LENGTH_BYTES} follow; the file is "
            "cut off, or no safetensors file"
        )
    return length


def parse(text: bytes, file_size: int, source: str) -> Header:
    """The header in ``text``; ``FormatError`` unless its entries cover the rest of the file, each byte once."""
    data_start = LENGTH_BYTES + len(text)
    table = _table(text, source)
    metadata = _metadata(table.pop(METADATA, {}), source)
    entries = {name: _entry(name, value, data_start, source) for name, value in table.items()}
    _check_places(entries, data_start, file_size, source)
    _restore_dtypes(entries, metadata, source)
    return Header(metadata, entries)


def _table(text: bytes, source: str) -> dict[str, Any]:
    if not text.startswith(b"{"):
        raise FormatError(f"{source}: byte 8 should be '{{', where the header begins; this is no safetensors file")
    try:
        table = json.loads(text.decode(), object_pairs_hook=_without_duplicates, parse_constant=_refuse)
    except RecursionError:
        raise FormatError(f"{source}: the header nests too deeply") from None
    except ValueError as error:  # also what is no UTF-8, and numbers of too many digits
        raise FormatError(f"{source}: the header is not JSON: {error}") from None
    assert isinstance(table, dict)  # it begins with a brace
    return table


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the key {_shorten(name)} is there twice")
        name.encode()  # a lone surrogate is a UnicodeError, a ValueError
        result[name] = value
    return result


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not allowed")


def _metadata(value: Any, source: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise FormatError(f"{source}: {METADATA} must be an object of strings")
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _entry(name: str, value: Any, data_start: int, source: str) -> Entry:
    where = f"{source}: tensor {name!r}"
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"{where}: must be an object of dtype, shape and data_offsets")
    stored, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(stored, str) or stored not in DTYPES:
        raise FormatError(f"{where}: dtype {_shorten(stored)} is unknown; known are {', '.join(DTYPES)}")
    if not isinstance(shape, list) or len(shape) > MAX_NDIM or not all(map(_is_count, shape)):
        raise FormatError(f"{where}: shape {_shorten(shape)} is no list of at most {MAX_NDIM} lengths")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_count, offsets)):
        raise FormatError(f"{where}: data_offsets {_shorten(offsets)} are no two numbers of bytes")
    begin, end = offsets
    bits, dtype = DTYPES[stored]
    # Python's integers do not overflow, and bits are not rounded to bytes.
    needed = math.prod(shape) * bits
    if end < begin or needed != (end - begin) * 8:
        raise FormatError(
            f"{where}: data_offsets {offsets} are {(end - begin) * 8} bits, but {stored} of shape {_shorten(shape)} "
            f"takes {_shorten(needed)}"
        )
    if math.prod(filter(None, shape)) * bits >= MAX_BITS:
        raise FormatError(
            f"{where}: shape {_shorten(shape)} is too large for an array, even if it has no elements because of the 0"
        )
    return Entry(stored, dtype, tuple(shape), data_start + begin, end - begin)


def _shorten(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "(too large to print)"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_places(entries: dict[str, Entry], data_start: int, file_size: int, source: str) -> None:
    position = data_start
    before = "the header"
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].nbytes)):
        end = entry.start + entry.nbytes
        if end > file_size:
            raise FormatError(
                f"{source}: tensor {name!r} ends at byte {end}, but the file has only {file_size}; it is cut off"
            )
        if entry.start != position:
            problem = "overlap" if entry.start < position else "leave a gap"
            raise FormatError(
                f"{source}: tensor {name!r} begins at byte {entry.start}, but {before} ends at byte {position}; they "
                f"{problem}"
            )
        position, before = end, f"tensor {name!r}"
    if position != file_size:
        raise FormatError(
            f"{source}: {file_size - position} bytes at the end, from byte {position}, belong to no tensor"
        )


def _restore_dtypes(entries: dict[str, Entry], metadata: dict[str, str], source: str) -> None:
    """Give the tensors named in the note their own dtypes; the note is taken out of ``metadata``."""
    text = metadata.pop(DTYPES_NOTE, None)
    if text is None:
        return
    own = {dtype.name: dtype for dtype in STORED_AS}
    try:
        note = json.loads(text)
    except (ValueError, RecursionError):
        note = None
    if not isinstance(note, dict):
        raise FormatError(f"{source}: metadata {DTYPES_NOTE!r} must be a JSON object")
    for name, kind in note.items():
        entry = entries.get(name)
        dtype = own.get(kind) if isinstance(kind, str) else None
        pairs = dtype == dtypes.complex128
        if entry is None or dtype is None or entry.stored != STORED_AS[dtype] or (pairs and entry.shape[-1:] != (2,)):
            raise FormatError(
                f"{source}: metadata {DTYPES_NOTE!r} says that tensor {name!r} is {_shorten(kind)}, which does not fit"
            )
        entries[name] = Entry(
            entry.stored, dtype, entry.shape[:-1] if pairs else entry.shape, entry.start, entry.nbytes
        )


def compose(
    tensors: Iterable[tuple[str, DType, tuple[int, ...], int]], metadata: Mapping[str, str]
) -> tuple[bytes, list[str]]:
    """The first bytes of a file, header with length, and in which order the data of the tensors has to follow.

    ``tensors`` are (name, dtype, shape, bytes as stored). The order keeps every tensor aligned to its elements, and
    those whose size allows it to ALIGNMENT.
    """
    listed = sorted(tensors, key=lambda tensor: (tensor[3] % ALIGNMENT != 0, -tensor[1].itemsize, tensor[0]))
    table: dict[str, Any] = {}
    note = {name: dtype.name for name, dtype, _, _ in listed if dtype in STORED_AS}
    if note:
        metadata = {**metadata, DTYPES_NOTE: json.dumps(note)}
    if metadata:
        table[METADATA] = dict(metadata)
    position = 0
    for name, dtype, shape, nbytes in listed:
        lengths = [*shape, 2] if dtype == dtypes.complex128 else list(shape)
        stored = STORED_AS.get(dtype) or NAMES[dtype]
        table[name] = {"dtype": stored, "shape": lengths, "data_offsets": [position, position + nbytes]}
        position += nbytes
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    # Spaces after the JSON are allowed, and move the data to where it is aligned.
    text += b" " * (-(LENGTH_BYTES + len(text)) % ALIGNMENT)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"save_safetensors: names, shapes and metadata take {len(text)} bytes; the format allows {MAX_HEADER_BYTES}"
        )
    return len(text).to_bytes(LENGTH_BYTES, "little") + text, [name for name, _, _, _ in listed]
