"""What is in a file of ``jax.export``, read from and written to a flatbuffer.

The schema is JAX's ``serialization.fbs``; fields are numbered as it lists them. Files have described arrays and
shardings in two ways, directly and by index into lists without repetitions: both are read, both are written. The
version that a file gives itself says little: for years it was that of another schema, so only what is in the file is
looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._base import dtypes
from .._base.errors import FormatError
from ._dimensions import Expression, parse, show
from ._flatbuffer import Buffer, Builder, Table
from ._structure import LEAF, Kind, Structure

if TYPE_CHECKING:
    from .._base.dtypes import DType

_DTYPES: dict[int, DType] = {
    0: dtypes.bool_,
    1: dtypes.int8,
    2: dtypes.int16,
    3: dtypes.int32,
    4: dtypes.int64,
    5: dtypes.uint8,
    6: dtypes.uint16,
    7: dtypes.uint32,
    8: dtypes.uint64,
    9: dtypes.float16,
    10: dtypes.float32,
    11: dtypes.float64,
    12: dtypes.complex64,
    13: dtypes.complex128,
    14: dtypes.bfloat16,
    15: dtypes.int4,
    16: dtypes.uint4,
    17: dtypes.float8_e4m3b11fnuz,
    18: dtypes.float8_e4m3fn,
    19: dtypes.float8_e4m3fnuz,
    20: dtypes.float8_e5m2,
    21: dtypes.float8_e5m2fnuz,
}
_DTYPE_NUMBERS = {dtype: number for number, dtype in _DTYPES.items()}
# A typed key of jax.random is its two words of 32 bits.
_KEY_FRY = 26
_KINDS: dict[int, Kind] = {0: "leaf", 1: "none", 2: "tuple", 3: "list", 4: "dict", 5: "tuple"}  # 5: custom
_KIND_NUMBERS: dict[Kind, int] = {"leaf": 0, "none": 1, "tuple": 2, "list": 3, "dict": 4}

MAX_DEPTH = 64
MAX_NDIM = 64

# What is written. JAX reads these calling conventions, and this schema, since 2024.
SCHEMA_VERSION = 3
CALLING_CONVENTION = 10
_DEVICE_MEMORY = 1
_PLATFORM_CHECK = 0


@dataclass(frozen=True, slots=True)
class ArrayType:
    """Shape, with expressions for lengths that may vary, and dtype."""

    shape: tuple[Expression, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Container:
    """An exported function, without what ``jax`` alone has use for (shardings, gradients)."""

    name: str
    in_tree: Structure
    in_types: tuple[ArrayType, ...]
    out_tree: Structure
    out_types: tuple[ArrayType, ...]
    platforms: tuple[str, ...]
    module: bytes
    kept: tuple[int, ...]  # the arguments that the module takes
    any_platform: bool = False  # not tied to the platforms by what it does


def decode(data: bytes, source: str) -> Container:
    """The container in ``data``. ``FormatError`` if it is none, or one that this package cannot run."""
    file = Buffer(data, source).root()
    if file.numbers(22, "I") or file.numbers(23, "I"):
        unique = [_array_type(table) for table in file.tables(19)]
        in_types = tuple(_indexed(file, unique, i) for i in file.numbers(22, "I"))
        out_types = tuple(_indexed(file, unique, i) for i in file.numbers(23, "I"))
    else:
        in_types = tuple(map(_array_type, file.tables(3)))
        out_types = tuple(map(_array_type, file.tables(5)))
    in_tree, out_tree = (_structure(file, field) for field in (2, 4))
    for tree, types, what in ((in_tree, in_types, "argument"), (out_tree, out_types, "result")):
        if tree.count() != len(types):
            file.fail(f"the {what} trees have {tree.count()} leaves, there are {len(types)} types")
    if in_tree.kind != "tuple" or [child.kind for child in in_tree.children] != ["tuple", "dict"]:
        file.fail("the arguments are no pair of a tuple and a dict")
    kept = tuple(file.numbers(15, "H"))
    if sorted(set(kept)) != list(kept) or (kept and kept[-1] >= len(in_types)):
        file.fail(f"the list of kept arguments {kept[:20]} does not fit {len(in_types)} arguments")
    devices = file.number(18, "I") or file.number(6, "h")
    if devices > 1:
        raise FormatError(f"{source}: was exported for {devices} devices; only programs for one can be loaded")
    effects = [table.text(0) for field in (10, 11) for table in file.tables(field)]
    if effects:
        raise FormatError(
            f"{source}: has the effects {', '.join(effects)[:200]} (callbacks to Python, for one), which work in JAX "
            "only"
        )
    platforms = tuple(file.texts(9))
    module = file.raw(13)
    if not platforms or not module:
        file.fail("it names no platform, or has no module")
    return Container(file.text(1), in_tree, in_types, out_tree, out_types, platforms, module, kept)


def _indexed(file: Table, types: list[ArrayType], index: int) -> ArrayType:
    if index >= len(types):
        file.fail(f"array type {index} of {len(types)}")
    return types[index]


def _array_type(table: Table) -> ArrayType:
    number = table.number(2, "b")
    lengths = table.texts(1)
    if table.number(0, "b") != 0 or len(lengths) > MAX_NDIM:
        table.fail("an argument or result is no array")
    shape = tuple(map(parse, lengths))
    if number == _KEY_FRY:
        return ArrayType((*shape, 2), dtypes.uint32)
    if number not in _DTYPES:
        table.fail(f"dtype number {number} is unknown, or one that aioarray does not have")
    return ArrayType(shape, _DTYPES[number])


def _structure(file: Table, field: int) -> Structure:
    table = file.table(field)
    if table is None:
        file.fail("a tree of arguments or results is missing")
    return _node(table, 0)


def _node(table: Table, depth: int) -> Structure:
    number = table.number(0, "b")
    if number not in _KINDS or depth > MAX_DEPTH:
        table.fail(f"a tree node of kind {number} at depth {depth}")
    kind = _KINDS[number]
    children = tuple(_node(child, depth + 1) for child in table.tables(1))
    if kind in ("leaf", "none"):
        return LEAF if kind == "leaf" else Structure("none")
    keys = tuple(table.texts(2)) if kind == "dict" else ()
    if kind == "dict" and (len(keys) != len(children) or len(set(keys)) != len(keys)):
        table.fail("a dict whose keys do not fit")
    return Structure(kind, children, keys)


def encode(container: Container) -> bytes:
    """The file that ``container`` is, for ``decode`` here and ``jax.export.deserialize``."""
    builder = Builder()
    types = list(dict.fromkeys((*container.in_types, *container.out_types)))
    numbers = {kind: number for number, kind in enumerate(types)}
    arrays = {kind: _write_type(builder, kind) for kind in types}
    fields: list[tuple[int, str, int]] = [
        (0, "H", SCHEMA_VERSION),
        (1, "o", builder.text(container.name)),
        (2, "o", _write_node(builder, container.in_tree)),
        (3, "o", builder.references([arrays[kind] for kind in container.in_types])),
        (4, "o", _write_node(builder, container.out_tree)),
        (5, "o", builder.references([arrays[kind] for kind in container.out_types])),
        (6, "h", 1),
        (18, "I", 1),
    ]
    unspecified = builder.table([])
    for field, count in ((7, len(container.in_types)), (8, len(container.out_types))):
        fields.append((field, "o", builder.references([unspecified] * count)))
    fields.append((9, "o", builder.references([builder.text(name) for name in container.platforms])))
    fields.append((10, "o", builder.references([])))
    fields.append((11, "o", builder.references([])))
    # A table of the kind "platform", which is the default: it says that other platforms will do, too.
    checks = [builder.table([(0, "b", _PLATFORM_CHECK)])] if container.any_platform else []
    fields += [
        (12, "o", builder.references(checks)),
        (13, "o", builder.raw(container.module)),
        (14, "H", CALLING_CONVENTION),
        (15, "o", builder.numbers(container.kept, "H")),
        (19, "o", builder.references([arrays[kind] for kind in types])),
        (20, "o", builder.references([])),
        (21, "o", builder.references([])),
        (22, "o", builder.numbers([numbers[kind] for kind in container.in_types], "I")),
        (23, "o", builder.numbers([numbers[kind] for kind in container.out_types], "I")),
        (24, "o", builder.numbers([0] * len(container.in_types), "I")),
        (25, "o", builder.numbers([0] * len(container.out_types), "I")),
    ]
    return builder.finish(builder.table(fields))


def _write_type(builder: Builder, kind: ArrayType) -> int:
    shape = builder.references([builder.text(show(length)) for length in kind.shape])
    return builder.table([(1, "o", shape), (2, "b", _DTYPE_NUMBERS[kind.dtype]), (3, "b", _DEVICE_MEMORY)])


def _write_node(builder: Builder, node: Structure) -> int:
    fields: list[tuple[int, str, Any]] = [(0, "b", _KIND_NUMBERS[node.kind])]
    if node.children:
        fields.append((1, "o", builder.references([_write_node(builder, child) for child in node.children])))
    if node.keys:
        fields.append((2, "o", builder.references([builder.text(key) for key in node.keys])))
    return builder.table(fields)
