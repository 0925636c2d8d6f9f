"""The arguments of one call of a jitted function: taken apart into Arrays, and what else its program depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .._array import Array, as_array, weak_number
from .._base import config, dtypes
from .._base.marks import mark
from .._dispatch.scalars import is_scalar
from .._engine import engine
from .._graph import ArraySpec, array_spec
from .._xla import trees
from .shapes import ShapeDtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._xla.trees import TreeDef
    from .buckets import Padding
    from .objects import State
    from .signature import Signature

# Position or name, value, mark.
Static = tuple[tuple[int | str, Any, Any], ...]


class Key(NamedTuple):
    """What a program depends on. Calls with positional, dynamic arguments alone use the pair (structure, specs)."""

    structure: TreeDef  # of (args, kwargs); in a pair, of args
    specs: tuple[ArraySpec, ...]
    static: Static = ()
    state: Any = None  # of the object whose method the function is
    defaults: Any = None  # the default dtypes, where they were ever changed


class Arguments(NamedTuple):
    """The arguments of one call. The Arrays are the leaves of the tree, then masks, then those of the object."""

    arrays: list[Array]  # empty where only shapes are asked for
    key: tuple[Any, ...]  # the pair of a ``Key``, or a whole one
    leaves: int
    static: Static
    state: State | None
    padding: Padding | None

    @property
    def structure(self) -> TreeDef:
        return self.key[0]

    @property
    def specs(self) -> tuple[ArraySpec, ...]:
        return self.key[1]  # type: ignore[no-any-return]

    @property
    def of_call(self) -> int:
        """How many of the Arrays are not those of the object."""
        return len(self.arrays) - (0 if self.state is None else len(self.state.arrays))

    def filled(self, leaves: Any) -> tuple[Any, Any]:
        """``args, kwargs`` with these leaves, and None in place of what is static."""
        tree = self.structure.unflatten(leaves)
        return (tree, {}) if len(self.key) == 2 else tree

    def passed_to(self, function: Callable[..., Any], arrays: list[Any]) -> Any:
        """``function`` with ``arrays`` in place of those of the call."""
        args, kwargs = self.filled(arrays[: self.leaves])
        if self.static or self.state is not None:
            args = list(args)
            if self.state is not None:
                args[0] = self.state.instance
            for where, value, _ in self.static:
                if isinstance(where, int):
                    args[where] = value
                else:
                    kwargs[where] = value
        masks = {} if self.padding is None else dict(zip(self.padding.masks, arrays[self.leaves :], strict=False))
        return function(*args, **kwargs, **masks)


def take_apart(
    signature: Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: State | None = None,
    *,
    padded: bool = True,
    shapes_alone: bool = False,
) -> Arguments:
    """The arguments of a call, or only their shapes, where there may be ``ShapeDtype`` among them.

    ``padded`` to buckets, if the function has some. Raises ``TypeError`` for what is no array and not static.
    """
    static: Static = ()
    if signature.static:
        args, kwargs, static = _split(signature, args, kwargs, state)
    buckets = signature.buckets
    # Then the tree is the positional arguments, and these are all there is; otherwise it is (args, kwargs).
    plain = not (kwargs or static or state or config.overridden() or (buckets and buckets.masks))
    leaves, structure = trees.flatten(args if plain else (args, kwargs))
    count = len(leaves)
    padding = None
    if buckets is not None:
        leaves, padding = buckets.pad(leaves, signature.places(structure, plain), padded)
    arrays: list[Array] = []
    if shapes_alone:
        device = next((x.device for x in leaves if isinstance(x, Array)), None) or engine.device()
        specs = [_spec(leaf, device) or _refuse(signature, structure, plain, i, leaf) for i, leaf in enumerate(leaves)]
        if state is not None:
            specs += [x._spec for x in state.arrays]
    else:
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, Array):
                arrays.append(leaf)
            elif is_scalar(leaf):
                arrays.append(weak_number(leaf))
            elif isinstance(leaf, (np.ndarray, np.generic)):
                arrays.append(as_array(signature.name, leaf))
            else:
                _refuse(signature, structure, plain, index, leaf)
        if state is not None:
            arrays += state.arrays
        specs = [x._spec for x in arrays]
    key: tuple[Any, ...] = structure, tuple(specs)
    if not plain:
        defaults = config.current() if config.overridden() else None
        key = Key(structure, tuple(specs), static, None if state is None else state.key, defaults)
    return Arguments(arrays, key, count, static, state, padding)


def _split(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], state: State | None
) -> tuple[tuple[Any, ...], dict[str, Any], Static]:
    """The arguments with None in place of the static ones; and those."""
    static: list[tuple[int | str, Any, Any]] = []
    dynamic = list(args)
    for position in sorted(signature.static.positions):
        if position == 0 and state is not None:
            continue  # it says all about the object
        if position < len(args):
            static.append((position, args[position], mark(args[position])))
            dynamic[position] = None
    if kwargs:
        kwargs = dict(kwargs)
        for name in sorted(signature.static.names & kwargs.keys()):
            value = kwargs.pop(name)
            static.append((name, value, mark(value)))
    for where, value, _ in static:
        if isinstance(value, Array):
            raise TypeError(
                f"{signature.name}: static argument {signature.parameter(where)} is an Array, and a program cannot "
                "depend on its value; leave it out of the static arguments, or pass int(array) or the like"
            )
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"{signature.name}: static argument {signature.parameter(where)} is a {type(value).__name__}, which "
                "cannot be hashed; pass a tuple for a list, or leave it out of the static arguments"
            ) from None
    return tuple(dynamic), kwargs, tuple(static)


def _spec(leaf: Any, device: Any) -> ArraySpec | None:
    if isinstance(leaf, Array):
        return leaf._spec
    if is_scalar(leaf):
        return array_spec((), dtypes.widest_for_rank(dtypes.scalar_rank(leaf)), device, True)
    if isinstance(leaf, (ShapeDtype, np.ndarray, np.generic)):
        return array_spec(leaf.shape, dtypes.as_dtype(leaf.dtype), device)
    return None


def _refuse(signature: Signature, structure: TreeDef, plain: bool, index: int, leaf: Any) -> NoReturn:
    raise TypeError(
        f"{signature.name}: argument {signature.leaf_names(structure, plain)[index]} is a {type(leaf).__name__}, which "
        "is no array, number or tree of them; name it in static_argnames if the program may depend on its value"
    )
