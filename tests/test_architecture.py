"""The map of the package, ARCHITECTURE.md, enforced: layers, no cycles, one importer of jaxlib, files not too long.

`check` works on sources, not on imported modules, so that it sees every import whether or not it is executed.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "aioarray"

# A row of the layer table in ARCHITECTURE.md: the number, and names right under the package, each a module or a folder
# with all that is in it.
_ROW = re.compile(r"^\| (\d+) \| ((?:`\w+` ?)+)\|", re.MULTILINE)


def read_layers(page: str) -> dict[str, int]:
    """Name -> layer, of the table in the text of ARCHITECTURE.md."""
    return {name: int(layer) for layer, names in _ROW.findall(page) for name in re.findall(r"`(\w+)`", names)}


LAYERS = read_layers((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
TOP = max(LAYERS.values())
# The package itself may import everything; what imports the package is built on what is public.
LAYERS[""] = TOP

# (name in the top layer, private folder below) -> why the public names are not enough for it.
PRIVATE_BELOW: dict[tuple[str, str], str] = {
    ("onnx", "_array"): "how a definition that has no public name is called",
    ("onnx", "_ops"): "as above",
    ("profiling", "_array"): "the Arrays of a run, not their values",
    ("profiling", "_engine"): "it shows what the engine tells its instruments",
    ("profiling", "_observe"): "it watches the loop",
    ("profiling", "_xla"): "what the compiler says of a program",
    ("serving", "_base"): "the errors that it raises, and dtypes by the protocols' names",
    ("serving", "_xla"): "trees are taken apart into rows, which are copied into memory that the device takes as it is",
    ("testing", "_array"): "the policy of synchronous reads, and Arrays without a read",
    ("testing", "_base"): "the errors that it injects, and dtypes to draw from",
    ("testing", "_dispatch"): "dtypes as functions take them",
    ("testing", "_engine"): "it shows what the engine tells its instruments",
    ("testing", "_functions"): "what strategies and assertions are made of",
    ("testing", "_observe"): "it stands on the instruments",
    ("testing", "_xla"): "the buffers that leaks are told by",
}

# (file, module that it imports for types only, or when it is called) -> why the circle that this closes stays.
CIRCLES: dict[tuple[str, str], str] = {
    ("aioarray/_engine/launch.py", "aioarray._engine.instruments"): "a launch carries what its observer noted",
}
# The wings of ``serving``, from the lowest; what is of no wing is between batching and models, or uses them all.
SERVING_WINGS = ("batching", "models", "http", "grpc", "process")

# (file, imported module) -> why this import has to wait for a call. A good reason is an optional package.
LAZY_IMPORTS: dict[tuple[str, str], str] = {
    ("aioarray/__init__.py", "<computed>"): "namespaces are loaded at first use, to keep the import light",
    ("aioarray/_engine/loops.py", "aioarray._engine._trio"): "trio is optional, and loaded where it runs",
    ("aioarray/_xla/modules.py", "jaxlib.mlir"): "it takes 15 ms; not needed where the disk cache has all",
    ("aioarray/_xla/modules.py", "jaxlib.mlir._mlir_libs"): "as jaxlib.mlir",
    ("aioarray/_ops/einstein.py", "opt_einsum"): "it takes 13 ms, and three operands are rare",
    ("aioarray/__main__.py", "aioarray.serving.process.command"): "serving needs optional packages; says which",
    ("aioarray/serving/__init__.py", "<computed>"): "FastAPI is optional, and loaded where what needs it is wanted",
    ("aioarray/serving/models/resolve.py", "<computed>"): "the models that the command line names",
    ("aioarray/onnx/__main__.py", "onnxruntime"): "optional: what `compare` compares with",
    ("aioarray/_jit/warmup.py", "aioarray._jit._rich"): "rich is optional, and loaded where its progress bar is wanted",
}

JAXLIB_IMPORTER = "_xla"
MAX_LINES = 600


class Import(NamedTuple):
    """One name brought in by one import statement, with the absolute dotted module it comes from."""

    target: str
    line: int
    inside_function: bool
    for_types_only: bool


def module_name(path: str) -> str:
    """`aioarray/_xla/client.py` -> `aioarray._xla.client`; a package is named by its folder."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit(module: str) -> str:
    """The name by which a module stands in the layer table."""
    return module.split(".")[1] if "." in module else ""


def serving_wing(module: str) -> int | None:
    """Which wing of ``serving`` a module is in, by its place in ``SERVING_WINGS``."""
    parts = module.split(".")
    inside = parts[1:2] == ["serving"] and len(parts) > 2 and parts[2] in SERVING_WINGS
    return SERVING_WINGS.index(parts[2]) if inside else None


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


class ImportCollector(ast.NodeVisitor):
    """Every import of a file, static or through `import_module` and `__import__`."""

    def __init__(self, path: str, modules: frozenset[str]) -> None:
        self.imports: list[Import] = []
        self._modules = modules
        self._package = module_name(path).split(".")
        if not path.endswith("/__init__.py"):
            self._package.pop()
        self._inside_function = False
        self._for_types_only = False

    def _add(self, target: str, node: ast.AST) -> None:
        line = node.lineno  # type: ignore[attr-defined]
        self.imports.append(Import(target, line, self._inside_function, self._for_types_only))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._package[: len(self._package) - node.level + 1] if node.level else []
        source = ".".join([*base, *([node.module] if node.module else [])])
        # `from package import name` means a submodule if there is one, otherwise a name in `__init__`.
        submodules = [f"{source}.{alias.name}" for alias in node.names]
        for target in dict.fromkeys(name if name in self._modules else source for name in submodules):
            self._add(target, node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in {"import_module", "__import__"}:
            argument = node.args[0] if node.args else None
            known = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            self._add(argument.value if known else "<computed>", node)  # type: ignore[union-attr]
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not is_type_checking(node.test):
            self.generic_visit(node)
            return
        before, self._for_types_only = self._for_types_only, True
        for child in node.body:
            self.visit(child)
        self._for_types_only = before
        for child in node.orelse:
            self.visit(child)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        before, self._inside_function = self._inside_function, True
        self.generic_visit(node)
        self._inside_function = before

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function


def belongs_to(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def private_below(importer: str, target: str) -> bool:
    """Whether a module of the top layer, by its name in the table, imports what is private below."""
    return (
        LAYERS.get(importer) == TOP
        and importer != ""
        and LAYERS.get(target, TOP) < TOP
        and target.startswith("_")
        and (importer, target) not in PRIVATE_BELOW
    )


def check_import(path: str, imported: Import, lazy: dict[tuple[str, str], str]) -> list[str]:
    """What is wrong with one import, cycles apart."""
    importer, where = unit(module_name(path)), f"{path}:{imported.line}"
    found = []
    if belongs_to(imported.target, PACKAGE) and private_below(importer, unit(imported.target)):
        found.append(f"{where}: imports {imported.target}, which is private; layer {TOP} uses what is public")
    if belongs_to(imported.target, "jaxlib") and importer != JAXLIB_IMPORTER:
        found.append(f"{where}: imports {imported.target}; only {PACKAGE}/{JAXLIB_IMPORTER} may")
    if belongs_to(imported.target, "jax"):
        found.append(f"{where}: imports {imported.target}; {PACKAGE} does not use jax")
    if imported.inside_function:
        if (path, imported.target) not in lazy:
            found.append(f"{where}: imports {imported.target} inside a function; move it to the top")
        return found
    if belongs_to(imported.target, PACKAGE) and not imported.for_types_only:
        target = unit(imported.target)
        if importer in LAYERS and target in LAYERS and LAYERS[target] > LAYERS[importer]:
            found.append(
                f"{where}: imports {imported.target} of layer {LAYERS[target]} from layer {LAYERS[importer]};"
                " imports go down only"
            )
        from_wing, to_wing = serving_wing(module_name(path)), serving_wing(imported.target)
        if from_wing is not None and to_wing is not None and from_wing < to_wing:
            found.append(f"{where}: imports {imported.target} from a lower wing of serving; imports go down only")
    return found


def find_cycle(edges: dict[str, dict[str, str]]) -> list[str] | None:
    """The places of the imports along one cycle, or None. `edges[a][b]` is the place where a imports b."""
    done: set[str] = set()

    def visit(module: str, trail: list[str]) -> list[str] | None:
        if module in trail:
            loop = [*trail[trail.index(module) :], module]
            return [f"{edges[a][b]}: {a} imports {b}" for a, b in pairwise(loop)]
        if module in done:
            return None
        for target in sorted(edges.get(module, {})):
            cycle = visit(target, [*trail, module])
            if cycle is not None:
                return cycle
        done.add(module)
        return None

    for start in sorted(edges):
        cycle = visit(start, [])
        if cycle is not None:
            return cycle
    return None


def reaches(edges: dict[str, dict[str, str]], start: str, end: str) -> bool:
    """Whether imports lead from one module to the other."""
    seen, left = {start}, [start]
    while left:
        new = set(edges.get(left.pop(), ())) - seen
        seen |= new
        left += new
    return end in seen


def check(
    sources: dict[str, str],
    lazy: dict[tuple[str, str], str] | None = None,
    circles: dict[tuple[str, str], str] | None = None,
) -> list[str]:
    """Everything that breaks the rules in `sources` (path -> text). Each finding begins `file:line:`."""
    lazy = LAZY_IMPORTS if lazy is None else lazy
    circles = CIRCLES if circles is None else circles
    modules = frozenset(map(module_name, sources))
    found: list[str] = []
    edges: dict[str, dict[str, str]] = {}
    lazily_imported: set[tuple[str, str]] = set()
    for path, text in sorted(sources.items()):
        tree = ast.parse(text, path)
        module = module_name(path)
        if unit(module) not in LAYERS:
            found.append(f"{path}:1: {unit(module)} is in no layer; place it in ARCHITECTURE.md")
        if not (ast.get_docstring(tree) or "").strip():
            found.append(f"{path}:1: the module has no docstring")
        lines = len(text.splitlines())
        if lines > MAX_LINES:
            found.append(f"{path}:{lines}: {lines} lines; {MAX_LINES} at most, one concept a file")
        collector = ImportCollector(path, modules)
        collector.visit(tree)
        for imported in collector.imports:
            found += check_import(path, imported, lazy)
            if imported.inside_function:
                lazily_imported.add((path, imported.target))
            # A package's page names for types what it loads when it is first used.
            page = imported.for_types_only and path.endswith("/__init__.py")
            if imported.target in modules and not page and (path, imported.target) not in circles:
                edges.setdefault(module, {}).setdefault(imported.target, f"{path}:{imported.line}")
    found += [
        f"{path}:1: the allow-list has a lazy import of {target} that is not there"
        for path, target in sorted(set(lazy) - lazily_imported)
    ]
    found += [
        f"{path}:1: the allow-list has a circle through {target} that is not there"
        for path, target in sorted(circles)
        if not reaches(edges, target, module_name(path))
    ]
    cycle = find_cycle(edges)
    if cycle is not None:
        found.append("\n    ".join([f"{cycle[0]}, closing an import cycle:", *cycle]))
    return found


def test_package_keeps_to_its_architecture() -> None:
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / PACKAGE).rglob("*.py")
    }
    assert f"{PACKAGE}/__init__.py" in sources
    found = check(sources)
    assert not found, "\n" + "\n".join(found)


# The checker itself, on small sources. Docstrings are added, so that one thing is wrong at a time.


def check_bodies(
    bodies: dict[str, str],
    lazy: dict[tuple[str, str], str] | None = None,
    circles: dict[tuple[str, str], str] | None = None,
) -> list[str]:
    sources = {f"{PACKAGE}/{name}": f'"""Doc."""\n{body}\n' for name, body in bodies.items()}
    return check(sources, lazy or {}, circles or {})


@pytest.mark.parametrize(
    "bodies",
    [
        {"_graph/__init__.py": "from aioarray._xla.client import x", "_xla/client.py": "import jaxlib._jax"},
        {
            "_graph/node.py": "from . import spec\nfrom .._xla import y",
            "_graph/spec.py": "",
            "_xla/__init__.py": "",
        },
        {
            "_ops/a.py": "from aioarray._ops import b",
            "_ops/b.py": "",
            "_ops/__init__.py": "from aioarray._ops import a",
        },
        {"__init__.py": "from aioarray import nn\nfrom aioarray._jit import jit", "nn.py": "", "_jit.py": ""},
        {
            "serving/__init__.py": "import aioarray as aio",
            "__init__.py": "from aioarray import nn",
            "nn.py": "",
        },
    ],
    ids=["down", "relative", "submodule-of-own-package", "init-imports-all", "public-api"],
)
def test_checker_accepts(bodies: dict[str, str]) -> None:
    assert check_bodies(bodies) == []


@pytest.mark.parametrize(
    ("file", "body", "expected"),
    [
        (
            "_xla/a.py",
            "\nfrom aioarray._graph import Op",
            "3: imports aioarray._graph of layer 2 from layer 1;",
        ),
        ("_graph/a.py", "from .._array import Array", "2: imports aioarray._array of layer 6 from layer 2;"),
        ("_graph/a.py", "from .. import _array", "2: imports aioarray._array of layer 6 from layer 2;"),
        ("_jit.py", "import aioarray as aio", "2: imports aioarray of layer 9 from layer 7;"),
        ("_jit.py", "from aioarray import Array", "2: imports aioarray of layer 9 from layer 7;"),
        (
            "_jit.py",
            "if x:\n    from aioarray.nn import y",
            "3: imports aioarray.nn of layer 8 from layer 7;",
        ),
        ("_graph/lower.py", "import jaxlib.mlir", "2: imports jaxlib.mlir; only aioarray/_xla may"),
        ("_graph/lower.py", "from jaxlib import mlir, utils", "2: imports jaxlib; only aioarray/_xla may"),
        ("_xla/a.py", "from jax.numpy import sin", "2: imports jax.numpy; aioarray does not use jax"),
        (
            "serving/batching/a.py",
            "from ..models import b",
            "2: imports aioarray.serving.models from a lower wing of serving;",
        ),
        ("_base.py", "def f():\n    import os", "3: imports os inside a function;"),
        ("_base.py", "async def f():\n    class C:\n        import os", "4: imports os inside a function;"),
        ("_base.py", "f = lambda: __import__('os')", "2: imports os inside a function;"),
        ("_base.py", "def f(n):\n    importlib.import_module(n)", "3: imports <computed> inside a function;"),
        ("unplaced.py", "", "1: unplaced is in no layer;"),
        ("onnx/a.py", "from .._graph import Node", "2: imports aioarray._graph, which is private; layer 9 uses"),
        ("__main__.py", "import aioarray._jit.function", "2: imports aioarray._jit.function, which is private;"),
        ("_base.py", "x = 1\n" * 600, "602: 602 lines; 600 at most"),
    ],
)
def test_checker_reports_file_and_line(file: str, body: str, expected: str) -> None:
    (finding,) = check_bodies({file: body, "_array.py": ""})
    assert finding.startswith(f"aioarray/{file}:{expected}")


def test_checker_reports_a_missing_docstring() -> None:
    assert check({"aioarray/_base.py": "x = 1\n"}, {}, {}) == ["aioarray/_base.py:1: the module has no docstring"]


def test_checker_reports_each_import_along_a_cycle() -> None:
    bodies = {
        "_ops/a.py": "from aioarray._ops.b import x",
        "_ops/b.py": "\nfrom . import c",
        "_ops/c.py": "import aioarray._ops.a",
        "_ops/d.py": "from aioarray._ops import a",
    }
    (finding,) = check_bodies(bodies)
    assert finding.splitlines() == [
        "aioarray/_ops/a.py:2: aioarray._ops.a imports aioarray._ops.b, closing an import cycle:",
        "    aioarray/_ops/a.py:2: aioarray._ops.a imports aioarray._ops.b",
        "    aioarray/_ops/b.py:3: aioarray._ops.b imports aioarray._ops.c",
        "    aioarray/_ops/c.py:2: aioarray._ops.c imports aioarray._ops.a",
    ]


def test_checker_reports_a_cycle_through_a_package() -> None:
    bodies = {
        "_ops/__init__.py": "from aioarray._ops.a import x\ny = 1",
        "_ops/a.py": "from aioarray._ops import y",
    }
    (finding,) = check_bodies(bodies)
    assert "closing an import cycle" in finding


@pytest.mark.parametrize("guard", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_imports_for_types_only_are_exempt_from_layers_but_not_from_cycles(guard: str) -> None:
    assert check_bodies({"_graph/a.py": f"if {guard}:\n    import aioarray._array", "_array.py": ""}) == []
    # Neither is the other branch, nor is there a way to jaxlib.
    otherwise = {"_graph/a.py": f"if {guard}:\n    import jaxlib\nelse:\n    from aioarray._array import Array"}
    first, second = check_bodies(otherwise)
    assert first.startswith("aioarray/_graph/a.py:3: imports jaxlib")
    assert second.startswith("aioarray/_graph/a.py:5: imports aioarray._array of layer 6")
    circle = {
        "_graph/a.py": f"if {guard}:\n    from aioarray._graph import b",
        "_graph/b.py": "from aioarray._graph import a",
    }
    (finding,) = check_bodies(circle)
    assert "closing an import cycle" in finding
    allowed = {("aioarray/_graph/a.py", "aioarray._graph.b"): "why"}
    assert check_bodies(circle, circles=allowed) == []
    (finding,) = check_bodies({"_graph/a.py": "", "_graph/b.py": ""}, circles=allowed)
    assert "a circle through aioarray._graph.b that is not there" in finding


# Operations that are no chapter of functions -> what they are for.
OPERATIONS_OF = {
    "_array": {"in_place", "masking", "subscripts"},
    "arithmetic": {"modular"},
    "linalg": {"matrix_functions", "norms"},
    "nn": {"convolution", "pooling"},
    "random": {"counts", "multivariate", "rejection", "transformed", "threefry"},
}


def test_chapters_of_operations_are_those_of_functions() -> None:
    def chapters(folder: str) -> set[str]:
        return {path.stem for path in (ROOT / PACKAGE / folder).glob("[a-z]*.py")}

    named = chapters("_functions") | {name for name in LAYERS if not name.startswith("_")}
    assert chapters("_ops") - named == set().union(*OPERATIONS_OF.values())


def test_layers_are_read_from_the_page() -> None:
    page = "| layer | where |\n|---|---|\n| 0 | `_a` | plain `b` |\n| 12 | `c` `_d` | what |\n"
    assert read_layers(page) == {"_a": 0, "c": 12, "_d": 12}
    assert set(LAYERS) - {""} == {
        path.stem
        for path in (ROOT / PACKAGE).iterdir()
        if (path.is_dir() and path.name != "__pycache__") or (path.suffix == ".py" and path.name != "__init__.py")
    }


def test_private_names_used_by_the_top_layer_are_used() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / PACKAGE).rglob("*.py")}
    modules = frozenset(map(module_name, sources))
    used = set()
    for name, path in sources.items():
        collector = ImportCollector(name, modules)
        collector.visit(ast.parse(path.read_text(encoding="utf-8")))
        used |= {(unit(module_name(name)), unit(imported.target)) for imported in collector.imports}
    assert set(PRIVATE_BELOW) <= used


def test_allowed_lazy_import_is_accepted_and_must_be_in_use() -> None:
    lazy = {("aioarray/io.py", "safetensors"): "optional"}
    assert check_bodies({"io.py": "def f():\n    import safetensors"}, lazy) == []
    (finding,) = check_bodies({"io.py": ""}, lazy)
    assert finding == "aioarray/io.py:1: the allow-list has a lazy import of safetensors that is not there"


def test_the_page_names_files_that_there_are() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:aioarray/)?((?:_?[a-z]+/)+_?[a-z_]+\.py)\b", page)) - {"x/y.py", "tests/x/test_y.py"}
    assert len(named) > 10
    folders = [ROOT, ROOT / PACKAGE]
    assert [path for path in sorted(named) if not any((folder / path).exists() for folder in folders)] == []
