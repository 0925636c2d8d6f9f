"""NumPy's everyday ways of choosing elements, and of applying functions to parts of an array.

How many elements a condition selects depends on its values, so an Array is read: await it before. With ``size`` nothing
is read, and the functions work inside jit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._array import Array, ArrayLike, as_array, call, from_host, fused
from .._base import dtypes
from .._base.host_values import host_array
from .._dispatch.arguments import axis_of, integer_of
from .._ops import searching
from .._ops._rules import index_dtype, normalize_axis
from .arithmetic import remainder
from .comparison import clip, less
from .creation import arange
from .data_types import astype
from .indexing import take, take_along_axis
from .manipulation import broadcast_arrays, broadcast_to, concat, moveaxis, permute_dims, reshape, stack, unstack
from .searching import count_nonzero, where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["apply_along_axis", "choose", "compress", "extract", "flatnonzero", "piecewise", "select"]

# So many results of apply_along_axis are joined by one program.
JOINED = 64


def flatnonzero(x: ArrayLike, /, *, size: int | None = None, fill_value: int = 0) -> Array:
    """Where the flattened ``x`` is not zero. ``size`` and ``fill_value`` as for ``nonzero``.

    >>> aio.flatnonzero(aio.asarray([[0, 3], [5, 0]]))
    Array([1, 2], dtype=int32)
    """
    if size is not None:
        return _flatnonzero(
            x,
            size=integer_of("flatnonzero", "size", size),
            fill_value=integer_of("flatnonzero", "fill_value", fill_value),
        )
    places = np.flatnonzero(_host("flatnonzero", x))
    return from_host(places.astype(index_dtype(np.size(x))), x.device if isinstance(x, Array) else None)


@fused
def _flatnonzero(x: ArrayLike, /, *, size: int, fill_value: int) -> Array:
    return call(searching.nonzero, (reshape(x, (-1,)),), size, fill_value)[0]


def _host(function: str, x: ArrayLike) -> np.ndarray:
    return np.asarray(x) if isinstance(x, Array) else host_array(function, x)


def compress(
    condition: ArrayLike,
    x: ArrayLike,
    /,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: complex = 0,
) -> Array:
    """The slices of ``x`` along ``axis`` (None: of the flattened array) where the vector ``condition`` is true.

    It may be shorter than the axis. ``condition`` is read; with ``size``, the first so many, then ``fill_value``, and
    nothing is read. ``ValueError`` for a condition that is no vector, or longer than the axis.

    >>> aio.compress([False, True, True], aio.asarray([10, 20, 30]))
    Array([20, 30], dtype=int32)
    """
    array = as_array("compress", x)
    place = None if axis is None else normalize_axis("compress", axis_of("compress", axis), array.ndim)
    if size is not None:
        return _compressed(
            as_array("compress", condition), array, fill_value, axis=place, size=integer_of("compress", "size", size)
        )
    chosen = _host("compress", condition)
    _check_condition(chosen.shape, array, place)
    places = np.flatnonzero(chosen)
    return _taken(array, places.astype(index_dtype(array.size)), axis=place)


def _check_condition(shape: tuple[int, ...], x: Array, axis: int | None) -> None:
    length = x.size if axis is None else x.shape[axis]
    if len(shape) != 1 or shape[0] > length:
        raise ValueError(f"compress: condition of shape {shape}; it takes a vector of at most {length} elements")


@fused
def _taken(x: ArrayLike, places: ArrayLike, /, *, axis: int | None) -> Array:
    if axis is None:
        return take(reshape(x, (-1,)), places, axis=0)
    return take(x, places, axis=axis)


@fused
def _compressed(condition: ArrayLike, x: ArrayLike, fill: ArrayLike, /, *, axis: int | None, size: int) -> Array:
    array, chosen, value = as_array("compress", x), as_array("compress", condition), as_array("compress", fill)
    _check_condition(chosen.shape, array, axis)
    if axis is None:
        array, axis = reshape(array, (-1,)), 0
    (places,) = call(searching.nonzero, (chosen,), size, 0)
    if array.shape[axis] == 0:
        return broadcast_to(astype(value, array.dtype), (*array.shape[:axis], size, *array.shape[axis + 1 :]))
    taken = take(array, places, axis=axis)
    there = less(arange(size), count_nonzero(chosen))
    shape = tuple(size if k == axis else 1 for k in range(array.ndim))
    return where(reshape(there, shape), taken, astype(value, array.dtype))


def extract(condition: ArrayLike, x: ArrayLike, /, *, size: int | None = None, fill_value: complex = 0) -> Array:
    """The elements of ``x`` where ``condition``, of its shape, is true. ``size`` as for ``compress``.

    >>> aio.extract(aio.asarray([[True, False], [False, True]]), aio.asarray([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return compress(reshape(condition, (-1,)), x, size=size, fill_value=fill_value)


@fused(arrays=("default",), sequences=("condlist", "choicelist"))
def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], /, default: ArrayLike = 0) -> Array:
    """The element of the first of ``choicelist`` whose condition is true; ``default`` where none is.

    Conditions are bool; all arrays broadcast, choices and ``default`` promote. ``ValueError`` unless there are as many
    conditions as choices, at least one.

    >>> x = aio.arange(6)
    >>> aio.select([x < 2, x > 3], [x, x**2], -1)
    Array([ 0,  1, -1, -1, 16, 25], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select: {len(condlist)} conditions and {len(choicelist)} choices; give one choice for each condition"
        )
    result = as_array("select", default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        chosen = as_array("select", condition)
        if chosen.dtype != dtypes.bool_:
            raise TypeError(f"select: a condition has dtype {chosen.dtype.name}; conditions are bool")
        result = where(chosen, choice, result)
    return result


def choose(
    x: ArrayLike, choices: Sequence[ArrayLike] | ArrayLike, /, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Array:
    """For each integer of ``x``, the element of that one of ``choices``; all broadcast.

    Integers out of range take the last or first choice, or with "wrap" start again; none raises, since values are not
    known when the function returns. ``TypeError`` for other dtypes than integers and bool.

    >>> aio.choose(aio.asarray([1, 0, 1]), [aio.asarray([1, 2, 3]), aio.asarray([10, 20, 30])])
    Array([10,  2, 30], dtype=int32)
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode={mode!r} is not known; use 'wrap' or 'clip'")
    return _chosen(x, choices, wrap=mode == "wrap")


@fused(sequences=("choices",))
def _chosen(x: ArrayLike, choices: Sequence[ArrayLike] | ArrayLike, /, *, wrap: bool) -> Array:
    index = as_array("choose", x)
    if index.dtype not in dtypes.INTEGRAL_OR_BOOLEAN:
        raise TypeError(f"choose: x has dtype {index.dtype.name}; it takes integers")
    several = list(choices) if isinstance(choices, (list, tuple)) else list(unstack(as_array("choose", choices)))
    if not several:
        raise ValueError("choose: no choices given; it takes at least one")
    index = astype(index, dtypes.int32 if index.dtype.itemsize < 4 else dtypes.int64)
    index = remainder(index, len(several)) if wrap else clip(index, 0, len(several) - 1)
    places, *stretched = broadcast_arrays(index, *several)
    return take_along_axis(stack(stretched), places[None], axis=0)[0]


def piecewise(
    x: ArrayLike,
    condlist: Sequence[ArrayLike] | ArrayLike,
    funclist: Sequence[Callable[..., ArrayLike] | ArrayLike],
    /,
    *args: Any,
    **kw: Any,
) -> Array:
    """A function of ``x`` in pieces: where a condition is true, what its function gives; in the dtype of ``x``.

    The last of several true conditions counts. A number stands for a constant; one more function than conditions is for
    elsewhere, which is otherwise 0. Every function is called once, with the whole of ``x``, ``args`` and ``kw``: NumPy
    gives it the selected elements only, which are not known here. ``ValueError`` for another number of functions.

    >>> x = aio.asarray([-2.0, -1.0, 0.0, 1.0])
    >>> aio.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * 10])
    Array([ 2.,  1.,  0., 10.], dtype=float32)
    """
    array = as_array("piecewise", x)
    if not isinstance(condlist, (list, tuple)) or (condlist and isinstance(condlist[0], (bool, np.bool_))):
        conditions = as_array("piecewise", condlist)
        condlist = [conditions] if conditions.shape == array.shape else list(unstack(conditions))
    if len(funclist) - len(condlist) not in (0, 1):
        raise ValueError(
            f"piecewise: {len(condlist)} conditions and {len(funclist)} functions; give as many, or one more"
        )
    values = [f(array, *args, **kw) if callable(f) else f for f in funclist]
    return _pieces(array, list(condlist), values)


@fused(sequences=("conditions", "values"))
def _pieces(x: ArrayLike, conditions: Sequence[ArrayLike], values: Sequence[ArrayLike], /) -> Array:
    array = as_array("piecewise", x)
    elsewhere = values[-1] if len(values) > len(conditions) else 0
    result, *_ = broadcast_arrays(astype(as_array("piecewise", elsewhere), array.dtype), array)
    for condition, value in zip(conditions, values, strict=False):
        result = where(condition, astype(as_array("piecewise", value), array.dtype), result)
    return result


def apply_along_axis(func1d: Callable[..., ArrayLike], axis: int, x: ArrayLike, /, *args: Any, **kwargs: Any) -> Array:
    """``func1d(v, *args, **kwargs)`` of every vector ``v`` along ``axis`` of ``x``; the results' axes go there.

    The function is called for every vector, as NumPy does; for many vectors a function of the whole array, or
    ``lax.map``, takes fewer launches. ``ValueError`` for no vectors, whose results would have no shape.

    >>> aio.apply_along_axis(lambda v: v[0] + v[-1], 0, aio.asarray([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    array = as_array("apply_along_axis", x)
    k = normalize_axis("apply_along_axis", axis_of("apply_along_axis", axis), array.ndim)
    others = array.shape[:k] + array.shape[k + 1 :]
    vectors = reshape(moveaxis(array, k, -1), (int(np.prod(others)), array.shape[k]))
    if vectors.shape[0] == 0:
        raise ValueError(
            f"apply_along_axis: shape {array.shape} has no vector along axis {axis} to call the function on"
        )
    results = [as_array("apply_along_axis", func1d(v, *args, **kwargs)) for v in vectors]
    parts = [stack(results[i : i + JOINED]) for i in range(0, len(results), JOINED)]
    inner = results[0].ndim
    whole = reshape(concat(parts), (*others, *results[0].shape))
    places = (*range(k), *range(len(others), len(others) + inner), *range(k, len(others)))
    return permute_dims(whole, places)
