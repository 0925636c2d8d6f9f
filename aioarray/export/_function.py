"""``ExportedFunction``: what ``load`` gives, to be called like a jitted function."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._array import call, from_host
from .._base.errors import FormatError
from .._graph import Definition, Node, array_spec, results
from .._jit import ShapeDtype, jit
from .._jit.ahead import Compiled
from .._ops._rules import convert
from . import _dimensions
from ._dimensions import Expression, NotALength, show
from ._module import Module, module_op

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._array import Array
    from .._base.dtypes import DType
    from .._jit.ahead import Lowered
    from ._container import ArrayType
    from ._structure import Structure


@dataclass(frozen=True, slots=True)
class ExportedSpec:
    """Shape and dtype of an argument or result; a length that may vary is the text of an expression, such as "2*b".

    >>> data = aio.export.serialize(lambda x: x + 1, aio.ShapeDtype((2, 3), "float32"))
    >>> aio.export.load(data).out_specs
    ExportedSpec(shape=(2, 3), dtype=dtype('float32'))
    """

    shape: tuple[int | str, ...]
    dtype: DType


def _spec(kind: ArrayType) -> ExportedSpec:
    return ExportedSpec(tuple(n if isinstance(n, int) else show(n) for n in kind.shape), kind.dtype)


class ExportedFunction:
    """A function from a file. Calling it does not block; its results are pending Arrays, known by shape and dtype.

    Made by ``load``. It may be called inside ``aio.jit``. ``in_specs`` are a pair (args, kwargs), ``out_specs`` a tree
    like the result, of ``ExportedSpec``; ``dimensions`` names the lengths that may vary.

    >>> data = aio.export.serialize(aio.jit(lambda x: {"double": x * 2}), aio.ShapeDtype((2,), "float32"))
    >>> function = aio.export.load(data)
    >>> function(aio.ones(2))
    {'double': Array([2., 2.], dtype=float32)}
    """

    def __init__(
        self,
        name: str,
        source: str,
        module: Module,
        in_tree: Structure,
        in_types: tuple[ArrayType, ...],
        out_tree: Structure,
        out_types: tuple[ArrayType, ...],
        kept: tuple[int, ...],
        platforms: tuple[str, ...],
        platform: str | None,
        buckets: Mapping[str, Sequence[int]] | None,
    ) -> None:
        self.name = name
        self.platforms = platforms
        self._in_tree, self._out_tree = in_tree, out_tree
        self._in_types, self._out_types = in_types, out_types
        self._kept = kept
        self.in_specs: Any = in_tree.build(iter(map(_spec, in_types)))
        self.out_specs: Any = out_tree.build(iter(map(_spec, out_types)))
        names = set().union(*(_dimensions.variables(n) for kind in in_types for n in kind.shape))
        self.dimensions: tuple[str, ...] = tuple(sorted(names))
        self._paths = [path for path, _ in self._leaves(in_tree.build(iter(in_types)))]
        _check(source, module, in_types, out_types, kept, platforms, names)
        first = platforms.index(platform) if platform is not None and len(platforms) > 1 else None
        self._op = module_op(name, module, first)
        self._definition = Definition(name, self._body)
        self._constants = tuple(from_host(value) for _, value in module.constants)
        self._jit: Any = jit(self._apply, name=name, **self._bucket_options(buckets))

    def __repr__(self) -> str:
        return f"<exported {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results. ``TypeError``, ``ValueError`` for arguments of other structure, shapes or dtypes."""
        return self._out_tree.build(iter(self._jit(self._named((args, kwargs)))))

    async def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """Compile it for arguments of these shapes, off the loop, so that no call has to wait for it.

        Arguments are Arrays or ``aio.ShapeDtype``; none at all will do if no length varies. Raises ``CompileError``.

        >>> data = aio.export.serialize(lambda x: x + 1, aio.ShapeDtype((2, 3), "float32"))
        >>> function = aio.export.load(data)
        >>> compiled = await function.compile()
        >>> compiled.cost().flops
        6.0
        """
        lowered = self.lower(*args, **kwargs)
        await lowered.compile()
        return Compiled(self.name, lowered._program, functools.partial(self._call_compiled, lowered))

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program for arguments of these shapes, not yet compiled; arguments as for ``compile``.

        >>> data = aio.export.serialize(lambda x: x + 1, aio.ShapeDtype((2, 3), "float32"))
        >>> function = aio.export.load(data)
        >>> "stablehlo.add" in function.lower().as_text()
        True
        """
        if not args and not kwargs and self._in_types:
            if self.dimensions:
                raise TypeError(
                    f"{self.name}: the lengths {', '.join(self.dimensions)} vary; give arguments, or aio.ShapeDtype, "
                    "for one set of them"
                )
            shapes = [ShapeDtype(_ints(kind), kind.dtype) for kind in self._in_types]
            args, kwargs = self._in_tree.build(iter(shapes))
        lowered: Lowered = self._jit.lower(self._named((args, kwargs)))
        return lowered

    def _call_compiled(self, lowered: Lowered, *args: Any, **kwargs: Any) -> Any:
        return self._out_tree.build(iter(lowered._call(self._named((args, kwargs)))))

    def _leaves(self, tree: Any) -> list[tuple[str, Any]]:
        args, kwargs = tree
        leaves: list[tuple[str, Any]] = []
        positional, keyword = self._in_tree.children
        if len(args) != len(positional.children):
            raise TypeError(f"{self.name}: takes {len(positional.children)} positional arguments, not {len(args)}")
        try:
            positional.flatten(args, "args", leaves)
            keyword.flatten(kwargs, "kwargs", leaves)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        return leaves

    def _named(self, tree: Any) -> dict[str, Any]:
        return {str(i): leaf for i, (_, leaf) in enumerate(self._leaves(tree))}

    def _apply(self, leaves: dict[str, Any]) -> tuple[Array, ...]:
        arrays = tuple(leaves[str(i)] for i in range(len(self._in_types)))
        output: tuple[Array, ...] = call(self._definition, (*arrays, *self._constants))
        return output

    def _bucket_options(self, buckets: Mapping[str, Sequence[int]] | None) -> dict[str, Any]:
        if not buckets:
            return {}
        unknown = buckets.keys() - set(self.dimensions)
        if unknown:
            raise ValueError(
                f"{self.name}: buckets for {', '.join(sorted(unknown))}; the lengths that vary are "
                f"{', '.join(self.dimensions) or 'none'}"
            )
        axes = {
            str(i): {axis: n for axis, n in enumerate(kind.shape) if isinstance(n, str)}
            for i, kind in enumerate(self._in_types)
        }
        return {"buckets": buckets, "bucket_axes": {"leaves": axes}}

    def _body(self, *arguments: Node) -> tuple[Node, ...]:
        nodes, constants = arguments[: len(self._in_types)], arguments[len(self._in_types) :]
        lengths = self._lengths(nodes)
        operands = []
        for node, kind, path in zip(nodes, self._in_types, self._paths, strict=True):
            if node.dtype != kind.dtype and not node.weak:
                raise TypeError(f"{self.name}: {path} is of dtype {node.dtype.name}; it takes {kind.dtype.name}")
            operands.append(convert(node, kind.dtype))
        specs = tuple(
            array_spec(tuple(self._length(n, lengths) for n in kind.shape), kind.dtype) for kind in self._out_types
        )
        if not specs:
            return ()
        return results(self._op(*[operands[i] for i in self._kept], *constants, specs=specs))

    def _lengths(self, nodes: Sequence[Node]) -> dict[str, int]:
        equations: list[tuple[Expression, int]] = []
        for node, kind, path in zip(nodes, self._in_types, self._paths, strict=True):
            if node.ndim != len(kind.shape):
                raise ValueError(f"{self.name}: {path} has shape {node.shape}; it takes {_spec(kind).shape}")
            equations += zip(kind.shape, node.shape, strict=True)
        try:
            lengths = _dimensions.solve(equations)
        except NotALength as error:
            raise ValueError(f"{self.name}: {error}") from None
        for node, kind, path in zip(nodes, self._in_types, self._paths, strict=True):
            if tuple(self._length(n, lengths) for n in kind.shape) != node.shape:
                where = "".join(f", {name} = {lengths[name]}" for name in self.dimensions if name in lengths)
                raise ValueError(f"{self.name}: {path} has shape {node.shape}; it takes {_spec(kind).shape}{where}")
        return lengths

    def _length(self, expression: Expression, lengths: Mapping[str, int]) -> int:
        try:
            return _dimensions.evaluate(expression, lengths)
        except NotALength as error:
            raise ValueError(f"{self.name}: the length {show(expression)} cannot be: {error}") from None
        except KeyError as error:
            raise ValueError(f"{self.name}: the shapes of the arguments do not say what {error} is") from None


def _ints(kind: ArrayType) -> tuple[int, ...]:
    return tuple(n for n in kind.shape if isinstance(n, int))


def _check(
    source: str,
    module: Module,
    in_types: tuple[ArrayType, ...],
    out_types: tuple[ArrayType, ...],
    kept: tuple[int, ...],
    platforms: tuple[str, ...],
    names: set[str],
) -> None:
    """``FormatError`` unless the module takes and gives what the file says."""
    missing = {name for kind in out_types for n in kind.shape for name in _dimensions.variables(n)} - names
    if missing:
        raise FormatError(f"{source}: results depend on {', '.join(sorted(missing))}, which no argument has")
    expected = [in_types[i] for i in kept]
    inputs = module.inputs
    if len(platforms) > 1:
        if not inputs or inputs[0].shape:
            raise FormatError(f"{source}: is for several platforms, but its module takes no number of a platform first")
        inputs = inputs[1:]
    for what, kinds, values in (("arguments", expected, inputs), ("results", list(out_types), module.outputs)):
        if len(kinds) != len(values):
            raise FormatError(f"{source}: should have {len(kinds)} {what}, but its module has {len(values)}")
        for kind, value in zip(kinds, values, strict=True):
            fits = len(kind.shape) == len(value.shape) and all(
                m is None or m == n for n, m in zip(kind.shape, value.shape, strict=True)
            )
            if kind.dtype != value.dtype or not fits:
                raise FormatError(
                    f"{source}: one of the {what} should be {_spec(kind)}, but its module has {value.text}"
                )
