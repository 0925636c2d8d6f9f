"""The programs of one jitted function: found by what they depend on, built, and run."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from .._array import enqueue
from .._base.errors import CompileBudgetError
from .._dispatch.launch import fast_entry
from .._dispatch.operands import common_device
from .._dispatch.programs import make_program
from .._engine import engine
from .._engine.budget import exceeded
from .._xla import trees
from .arguments import Key
from .donation import give_up
from .tracing import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .._array import Array
    from .._dispatch.launch import FastEntry
    from .._engine import Program
    from .._graph import ArraySpec
    from .._xla.trees import TreeDef
    from .arguments import Arguments
    from .buckets import Plan
    from .signature import Signature
    from .tracing import Traced

# A function called with so many shapes is told of once.
MANY_SHAPES: Final = 32


class Programs:
    """The programs of one function. Calls may be made on any thread."""

    def __init__(self, function: Callable[..., Any], signature: Signature, max_programs: int | None) -> None:
        self.name = signature.name
        # Key -> entry: of all programs, and of those that may be launched on the spot. The cache of programs, which
        # evicts from both, knows them by these names.
        self.programs: dict[Any, Entry] = {}
        self.fast: dict[Any, Entry] = {}
        self._function = function
        self._signature = signature
        self._max_programs = max_programs
        self._built = 0  # programs, evicted ones too
        self._told = False  # that they are many

    def run_for(self, arguments: Arguments) -> Any:
        """Run the program for ``arguments``, built if need be; its results, as the function returned them."""
        entry = self.programs.get(arguments.key)
        if entry is None:
            entry = self.build(arguments, self.trace(arguments))
            self._tell_of_many_shapes(arguments.key)
        else:
            entry.mark_used()
        return self.run_entry(entry, arguments)

    def run_entry(self, entry: Entry, arguments: Arguments) -> Any:
        """Run the program of ``entry``, which is that for ``arguments``."""
        program = entry.program
        if program is None:
            return entry.result(())
        key = arguments.key
        arrays = [*arguments.arrays, *entry.captured]
        operands = [x._operand(self.name) for x in arrays]
        if entry.donated:
            give_up(arrays, operands, entry.donated, functools.partial(self._describe, key))
        results: Sequence[Array] = enqueue(program, operands)
        if len(key) == 2 and not entry.donated:
            entry.fast = fast_entry(program)
            if entry.fast is None:
                self.fast.pop(key, None)
            else:
                self.fast[key] = entry
        for index in entry.donated:
            arrays[index].delete()
        if entry.plan is not None and arguments.padding is not None and self._signature.buckets is not None:
            results = self._signature.buckets.cut(results, arguments.padding, entry.plan)
        return entry.result(results)

    def trace(self, arguments: Arguments, specs: Sequence[ArraySpec] | None = None) -> Traced:
        """The function as nodes, for ``arguments``, or such of other ``specs``."""
        known = [] if arguments.state is None else arguments.state.arrays
        given = arguments.specs if specs is None else specs
        function = functools.partial(arguments.passed_to, self._function)
        return trace(self.name, function, given, common_device(self.name, given), known)

    def build(self, arguments: Arguments, traced: Traced) -> Entry:
        """Enter the program that ``traced`` becomes. Raises ``CompileBudgetError``."""
        key = arguments.key
        if self._max_programs is not None and self._built >= self._max_programs:
            raise CompileBudgetError(
                f"{self.name} needs a new program, number {self._built + 1} under "
                f"jit(max_programs={self._max_programs}): {self._explain(key)}"
            )
        donated = self._donated_leaves(arguments)
        plan = None
        if arguments.padding is not None and self._signature.buckets is not None:
            again = functools.partial(self.trace, arguments)
            plan = self._signature.buckets.plan(arguments.padding, arguments.specs, again)
        program = None
        if traced.outputs:
            program = make_program(
                self.name, traced.inputs, traced.outputs, traced.device, single=False, donated=frozenset(donated)
            )
        captured = () if program is None else traced.captured
        entry = Entry(program, captured, donated, traced.structure, plan)
        added: Entry = engine.programs.add(entry, self, key, program, functools.partial(self._explain, key))
        self._built += added is entry
        return added

    def check_same(self, arguments: Arguments, key: tuple[Any, ...]) -> None:
        """``TypeError`` unless ``arguments`` are for the program under ``key``."""
        if arguments.key != key:
            difference = explain(self._signature, arguments.key, [key])
            raise TypeError(f"{self.name} was compiled for other arguments: {difference}")

    def _tell_of_many_shapes(self, key: tuple[Any, ...]) -> None:
        """Warn, once, where calls have made many programs that differ in shapes alone."""
        if self._told or self._signature.buckets is not None or self._built % MANY_SHAPES:
            return
        alike = sum(1 for other in list(self.programs) if differ_in_shape_alone(other, key))
        if alike >= MANY_SHAPES:
            self._told = True
            exceeded(
                "warn",
                f"{self.name} has been compiled for {alike} shapes of its arguments, each of which takes time and "
                "memory: let jit pad them to a few sizes, jit(buckets=..., bucket_axes=...), or give it arguments of "
                "few shapes; jit(max_programs=...) makes it an error",
            )

    def _donated_leaves(self, arguments: Arguments) -> tuple[int, ...]:
        donated = self._signature.donated
        if not donated:
            return ()
        args, kwargs = arguments.filled(range(arguments.leaves))
        given = [args[position] for position in donated.positions if position < len(args)]
        given += [kwargs[name] for name in donated.names if name in kwargs]
        return tuple(sorted(trees.flatten(given)[0]))

    def _explain(self, key: tuple[Any, ...]) -> str:
        return explain(self._signature, key, list(self.programs))

    def _describe(self, key: tuple[Any, ...], index: int) -> str:
        names = self._signature.leaf_names(key[0], len(key) == 2)
        if index < len(names):
            return f"{self.name}: argument {names[index]}"
        return f"{self.name}: an Array that the function closes over"


class Entry:
    """A program of a function: what it takes besides the arguments, and what it gives."""

    __slots__ = ("captured", "donated", "fast", "leaf", "plan", "program", "structure", "used")

    def __init__(
        self,
        program: Program | None,
        captured: tuple[Array, ...],
        donated: tuple[int, ...],
        structure: TreeDef,
        plan: Plan | None,
    ) -> None:
        self.program = program  # None if the function has no results
        self.captured = captured  # passed after the arguments
        self.donated = donated  # the arguments that are given up, by position among the leaves
        self.structure = structure  # of the result
        self.plan = plan  # how the results are cut, where arguments are padded
        self.leaf = structure.num_nodes == 1 and structure.num_leaves == 1
        self.fast: FastEntry | None = None  # set before it is entered among those of the fast path
        self.used = True  # for the cache of programs, where there is no program

    def mark_used(self) -> None:
        """Tell the cache of programs that it was asked for."""
        if self.program is not None:
            self.program.used = True

    def result(self, arrays: Sequence[Array]) -> Any:
        """The arrays that came out, as the tree that the function returned."""
        return arrays[0] if self.leaf else self.structure.unflatten(arrays)


def shown(spec: ArraySpec) -> str:
    """A spec in a message."""
    number = " from a Python number" if spec.weak else ""
    return f"{spec.dtype.name}[{','.join(map(str, spec.shape))}]{number}"


def explain(signature: Signature, new: tuple[Any, ...], others: Iterable[tuple[Any, ...]]) -> str:
    """How ``new`` differs from the one of the keys ``others`` that is nearest to it; empty if there are none."""
    found: list[list[str]] = [_differences(signature, old, new) for old in others]
    if not found:
        return ""
    nearest: list[str] = min(found, key=len)
    return "; ".join(nearest) + ". Pad what varies to a few sizes (see jit's buckets), or mark it static"


def differ_in_shape_alone(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two keys are equal but for the shapes of the arguments, which may be equal too."""
    if one[0] != other[0] or one[2:] != other[2:] or len(one[1]) != len(other[1]):
        return False
    return all(a.dtype == b.dtype and a.weak == b.weak for a, b in zip(one[1], other[1], strict=True))


def _differences(signature: Signature, old_key: Any, new_key: Any) -> list[str]:
    old, new = Key(*old_key), Key(*new_key)
    if old.structure != new.structure or len(old_key) != len(new_key):
        return [f"the arguments were passed as {old.structure}, now as {new.structure}"] * 2
    names = [f"argument {name}" for name in signature.leaf_names(new.structure, len(new_key) == 2)]
    names += ["a mask, or an attribute of the object whose method it is,"] * (len(new.specs) - len(names))
    found = [
        f"{name} was {shown(before)}, now it is {shown(after)}"
        for name, before, after in zip(names, old.specs, new.specs, strict=False)
        if before is not after
    ]
    before, after = ({where: (value, mark) for where, value, mark in key.static} for key in (old, new))
    for where in sorted(before.keys() | after.keys(), key=str):
        if before.get(where) != after.get(where):
            values = [repr(key[where][0]) if where in key else "not given" for key in (before, after)]
            name = where if isinstance(where, str) else signature.parameter(where)
            found.append(f"static argument {name} was {values[0]}, now it is {values[1]}")
    if old.state != new.state:
        found.append("an attribute of the object whose method it is has changed")
    if old.defaults != new.defaults:
        found.append(f"the default dtypes were {old.defaults}, now they are {new.defaults}")
    return found
