"""Writing functions as files that ``load`` and ``jax.export.deserialize`` read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import _xla
from .._array import Array, as_array
from .._graph import Graph, Node, array_spec, constant
from .._graph.lower import lower
from .._jit import JitFunction, ShapeDtype, jit
from .._jit.tracing import trace
from ._container import ArrayType, Container, encode
from ._process import ModuleProcess
from ._structure import structure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._graph import ArraySpec


def serialize(function: Callable[..., Any], /, *specs: Any, **named: Any) -> bytes:
    """``function``, for arguments of the shapes and dtypes of ``specs``, as a file that others can run without it.

    ``specs`` are what the function is called with, trees of Arrays or of ``aio.ShapeDtype``. Arrays that it closes over
    become part of the file; their values are waited for. What is written is StableHLO in the format of ``jax.export``:
    ``aio.export.load`` reads it, and so does ``jax.export.deserialize`` in JAX.

    ``TypeError`` for containers that the format does not have (it has tuples, lists, dicts with string keys, None).

    >>> data = aio.export.serialize(aio.jit(lambda x: x @ x), aio.ShapeDtype((2, 2), "float32"))
    >>> type(data), aio.export.load(data).name
    (<class 'bytes'>, '<lambda>')
    """
    jitted = function if isinstance(function, JitFunction) else jit(function)
    leaves: list[Any] = []
    in_tree = structure_of((specs, named), leaves, "the arguments")
    in_specs = tuple(_spec(jitted.name, leaf) for leaf in leaves)
    device = _xla.default_device()
    results: list[Any] = []

    def run(arguments: list[Any]) -> Any:
        args, kwargs = in_tree.build(iter(arguments))
        result = jitted(*args, **kwargs)
        out_trees.append(structure_of(result, results, "the result"))
        return results

    out_trees: list[Any] = []
    traced = trace(
        jitted.name, run, [array_spec(spec.shape, spec.dtype, device, spec.weak) for spec in in_specs], device
    )
    inputs = traced.inputs[: len(in_specs)]
    known = {
        id(node): constant(np.asarray(array))
        for node, array in zip(traced.inputs[len(in_specs) :], traced.captured, strict=True)
    }
    graph = Graph(jitted.name, inputs, tuple(_with_constants(traced.outputs, known)))
    text = lower(graph)
    with ModuleProcess(len(text)) as process:
        _, module = process.ask(jitted.name, "write", text.encode())
    return encode(
        Container(
            jitted.name,
            in_tree,
            tuple(ArrayType(node.shape, node.dtype) for node in inputs),
            out_trees[0],
            tuple(ArrayType(node.shape, node.dtype) for node in graph.outputs),
            (device.platform,),
            module,
            tuple(range(len(inputs))),
            any_platform="stablehlo.custom_call" not in text,
        )
    )


@overload
def save(path: str | os.PathLike[str], function: Callable[..., Any], /, *specs: Any, **named: Any) -> None: ...
@overload
def save(function: Callable[..., Any], /, *specs: Any, **named: Any) -> bytes: ...
def save(
    path_or_function: str | os.PathLike[str] | Callable[..., Any], /, *arguments: Any, **named: Any
) -> bytes | None:
    """Write ``function`` to the file ``path``, as ``serialize`` gives it; without a path, give the bytes.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "double.jax")
    ...     aio.export.save(path, lambda x: x * 2, aio.ShapeDtype((3,), "float32"))
    ...     print(aio.export.load(path)(aio.ones(3)))
    [2. 2. 2.]
    """
    if callable(path_or_function):
        return serialize(path_or_function, *arguments, **named)
    path = os.fspath(path_or_function)
    if not arguments:
        raise TypeError(f"save: no function for the file {path!r}; it takes save(path, function, *specs)")
    data = serialize(*arguments, **named)
    with open(path, "wb") as file:
        file.write(data)
    return None


def _spec(function: str, leaf: Any) -> ArraySpec:
    if isinstance(leaf, ShapeDtype):
        return array_spec(leaf.shape, leaf.dtype)
    array: Array = as_array(function, leaf)
    return array_spec(array.shape, array.dtype)


def _with_constants(outputs: tuple[Node, ...], known: dict[int, Node]) -> list[Node]:
    """``outputs`` with the nodes in ``known`` replaced."""
    if not known:
        return list(outputs)
    done = dict(known)
    stack = list(outputs)
    while stack:
        node = stack[-1]
        waiting = [child for child in node.inputs if id(child) not in done]
        if id(node) in done or waiting:
            stack.extend(waiting)
            if id(node) in done:
                stack.pop()
            continue
        inputs = tuple(done[id(child)] for child in node.inputs)
        done[id(node)] = node if inputs == node.inputs else Node(node.op, inputs, node.params, node.specs)
        stack.pop()
    return [done[id(node)] for node in outputs]
