"""The public names: each has a docstring and a signature of its own, and the examples in docstrings are true.

In an example `aio` is in scope, and `await` may stand at its top level, as in `python -m asyncio`.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import inspect
import pkgutil
import re
from typing import TYPE_CHECKING, Any

import pytest

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# Functions that take any number of arguments of one kind; everywhere else `*args` hides what is allowed.
VARIADIC = {
    "apply_along_axis": "further arguments of the function",
    "broadcast_arrays": "any number of arrays, by the standard",
    "broadcast_shapes": "any number of shapes, as broadcast_arrays",
    "lax.cond": "the operands of the branches",
    "einsum": "as many operands as the subscripts have terms",
    "einsum_path": "as many operands as the subscripts have terms",
    "eval_shape": "the arguments of the function",
    "export.save": "the arguments of the function",
    "export.serialize": "the arguments of the function",
    "gradient": "the distances along each axis",
    "ix_": "a vector for each axis",
    "meshgrid": "any number of arrays, by the standard",
    "pad": "further arguments of the function",
    "piecewise": "further arguments of the functions",
    **dict.fromkeys(["savez", "savez_compressed"], "any number of arrays, as NumPy's"),
    "serving.onnx_model": "the options of Batcher",
    "result_type": "any number of arrays and dtypes, by the standard",
    "run_sync": "the arguments of the function it is given",
    "lax.switch": "the operands of the branches",
}


# Functions whose example would need more than there is in one.
WITHOUT_EXAMPLE = {"aioarray.serving.cancel_on_disconnect": "a request over HTTP"}


def public_modules() -> list[ModuleType]:
    """The package and every module right under it whose name has no leading underscore."""
    names = sorted(m.name for m in pkgutil.iter_modules(aio.__path__) if not m.name.startswith("_"))
    return [aio, *(importlib.import_module(f"aioarray.{name}") for name in names)]


def is_ours(thing: object) -> bool:
    """Whether it is a function or class of this package; a dtype, for one, is NumPy's."""
    return callable(thing) and str(getattr(thing, "__module__", "")).split(".")[0] == "aioarray"


def public_callables() -> dict[str, Any]:
    """Qualified name -> function or class, each once, under the first public name it has."""
    found: dict[int, tuple[str, Any]] = {}
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if is_ours(thing):
                found.setdefault(id(thing), (f"{module.__name__}.{name}", thing))
    return dict(found.values())


CALLABLES = public_callables()
FUNCTIONS = {name: thing for name, thing in CALLABLES.items() if not inspect.isclass(thing)}
EXAMPLES = CALLABLES | {module.__name__: module for module in public_modules()}


def each(things: dict[str, Any]) -> pytest.MarkDecorator:
    """Parametrise a test with (name, thing)."""
    return pytest.mark.parametrize(("name", "thing"), things.items(), ids=things.keys())


def needs_loop(source: str) -> bool:
    """Whether an example awaits at its top level."""
    try:
        compile(source, "<example>", "single")
    except SyntaxError:
        # An example that is wrong in another way is left as it is, and fails with its own message.
        try:
            compile(source, "<example>", "single", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError:
            return False
        return True
    return False


def run_examples(test: doctest.DocTest) -> str:
    """The report on the examples that fail; empty if none does."""
    report: list[str] = []
    with asyncio.Runner() as runner:

        def on_loop(source: str) -> None:
            code = compile(source, test.name, "single", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            # A code object that awaits evaluates to the coroutine that runs it.
            runner.run(eval(code, test.globs))

        test.globs["_on_loop"] = on_loop
        for example in test.examples:
            if needs_loop(example.source):
                example.source = f"_on_loop({example.source!r})\n"
        # verbose=False, or doctest takes a `-v` that was meant for pytest.
        doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)


def examples_of(name: str, thing: object) -> list[doctest.DocTest]:
    """The examples of a function, of a class with its methods, or of a module's own docstring."""
    finder = doctest.DocTestFinder(recurse=not inspect.ismodule(thing), exclude_empty=True)
    return [test for test in finder.find(thing, name, module=False, globs={"aio": aio}) if test.examples]


@each(EXAMPLES)
def test_examples_are_true(name: str, thing: object) -> None:
    report = "\n".join(filter(None, map(run_examples, examples_of(name, thing))))
    assert not report, "\n" + report


@each(CALLABLES)
def test_docstring_begins_with_one_line(name: str, thing: object) -> None:
    first, *rest = inspect.cleandoc(thing.__doc__ or "").splitlines() or [""]
    assert first.strip(), f"{name} has no docstring"
    assert not rest or not rest[0].strip(), f"{name}: the first line of the docstring runs on: {rest[0]!r}"


@each({name: function for name, function in FUNCTIONS.items() if name not in WITHOUT_EXAMPLE})
def test_functions_have_an_example(name: str, thing: object) -> None:
    assert examples_of(name, thing), f"{name} has no example"


# A word about the shapes or dtypes that a function takes or gives, or about what it raises.
SAID = re.compile(
    r"\b(shapes?|dtypes?|ax[ie]s|dimensions?|lengths?|elements?|vectors?|matrix|matrices|booleans?|integers?|numbers?"
    r"|float\d+|Arrays|\w+Error|\w+Warning)\b"
)
# An argument that has a shape or a dtype, or names one.
OF_ARRAYS = re.compile(r"\b(Array|ArrayLike|DTypeLike|Key|Shape)\b")


def says(name: str, seen: tuple[str, ...] = ()) -> bool:
    """Whether the docstring of a function has such a word, or that of a function that it refers to."""
    text = (FUNCTIONS[name].__doc__ or "").split(">>>")[0]
    if SAID.search(text):
        return True
    namespaces = (name.rpartition(".")[0], "aioarray")
    others = [f"{namespace}.{word}" for word in re.findall(r"``(\w+)``", text) for namespace in namespaces]
    return any(says(other, (*seen, name)) for other in others if other in FUNCTIONS and other not in (*seen, name))


@each(FUNCTIONS)
def test_functions_of_arrays_say_what_they_take_or_raise(name: str, thing: Callable[..., object]) -> None:
    annotations = " ".join(str(p.annotation) for p in inspect.signature(thing).parameters.values())
    assert not OF_ARRAYS.search(annotations) or says(name), f"{name}: no word about shapes, dtypes or errors"


@each(FUNCTIONS)
def test_signature_names_every_parameter(name: str, thing: Callable[..., object]) -> None:
    parameters = inspect.signature(thing).parameters.values()
    catch_all = [p.name for p in parameters if p.kind in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
    if name.removeprefix("aioarray.") not in VARIADIC:
        assert catch_all == []


def test_functions_allowed_to_be_variadic_are() -> None:
    kinds = {
        name.removeprefix("aioarray."): {p.kind for p in inspect.signature(function).parameters.values()}
        for name, function in FUNCTIONS.items()
    }
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    assert {n for n in VARIADIC if not variadic & kinds.get(n, set())} == set()


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_public_names_are_listed_once_and_exist(module: ModuleType) -> None:
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(module.__all__) == len(set(module.__all__))


# The runner itself: a false example has to be found, awaited or not.


def parse(text: str) -> doctest.DocTest:
    return doctest.DocTestParser().get_doctest(text, {"asyncio": asyncio}, "sample", None, None)


def test_runner_awaits_on_one_loop_and_prints_values() -> None:
    text = """
    >>> loop = await asyncio.sleep(0, asyncio.get_running_loop())
    >>> await asyncio.sleep(0, 41) + 1
    42
    >>> loop is await asyncio.sleep(0, asyncio.get_running_loop())
    True
    >>> await asyncio.wait_for(asyncio.Event().wait(), 0)
    Traceback (most recent call last):
    TimeoutError
    """
    assert run_examples(parse(text)) == ""


@pytest.mark.parametrize("source", ["1 + 1", "await asyncio.sleep(0, 2)", "await nothing", "1 +", "await await"])
def test_runner_reports_what_is_not_true(source: str) -> None:
    assert "Failed example" in run_examples(parse(f">>> {source}\n3\n"))
