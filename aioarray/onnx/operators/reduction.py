"""Reductions: over some axes or all, with the axes an attribute in older versions and an input in newer ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import nn

from .._registry import operator
from .._values import Tensor, as_array, axes_in_range, cast, is_floating, is_known, namespace

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._evaluate import Call


def _sum(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    return namespace(x).sum(x, axis=axes, dtype=x.dtype, keepdims=keepdims)


def _prod(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    return namespace(x).prod(x, axis=axes, dtype=x.dtype, keepdims=keepdims)


def _mean(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    if is_floating(x):
        return namespace(x).mean(x, axis=axes, keepdims=keepdims)
    count = math.prod(x.shape[axis] for axis in axes)
    total = _sum(x, axes, keepdims)
    return namespace(x).floor_divide(total, np.asarray(max(count, 1), x.dtype))


def _lowest(x: Tensor) -> Any:
    if x.dtype == np.dtype(bool):
        return False
    return -np.inf if is_floating(x) else np.iinfo(x.dtype).min


def _highest(x: Tensor) -> Any:
    if x.dtype == np.dtype(bool):
        return True
    return np.inf if is_floating(x) else np.iinfo(x.dtype).max


def _extreme(name: str, empty: Callable[[Tensor], Any]) -> Callable[[Tensor, Any, bool], Tensor]:
    def reduce(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
        if 0 in (x.shape[axis] for axis in axes):
            kept = tuple(n if axis not in axes else 1 for axis, n in enumerate(x.shape) if keepdims or axis not in axes)
            return np.full(kept, empty(x), x.dtype)
        if x.dtype == np.dtype(bool):
            return cast(reduce(cast(x, np.uint8), axes, keepdims), bool)
        return getattr(namespace(x), name)(x, axis=axes, keepdims=keepdims)

    return reduce


def _l1(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    return _sum(namespace(x).abs(x), axes, keepdims)


def _sum_square(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    return _sum(x * x, axes, keepdims)


def _l2(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    wide = x if is_floating(x) else cast(x, np.float64)
    return cast(namespace(x).sqrt(_sum_square(wide, axes, keepdims)), x.dtype)


def _log_sum(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    wide = x if is_floating(x) else cast(x, np.float64)
    return cast(namespace(x).log(_sum(wide, axes, keepdims)), x.dtype)


def _log_sum_exp(x: Tensor, axes: Any, keepdims: bool) -> Tensor:
    wide = as_array(x if is_floating(x) else cast(x, np.float64))
    if 0 in (x.shape[axis] for axis in axes):
        return cast(aio.log(aio.sum(aio.exp(wide), axis=axes, keepdims=keepdims)), x.dtype)
    return cast(nn.logsumexp(wide, axis=axes, keepdims=keepdims), x.dtype)


_REDUCTIONS: dict[str, tuple[Callable[[Tensor, Any, bool], Tensor], int]] = {
    # Operator -> what it computes, and the version from which on the axes are an input.
    "ReduceL1": (_l1, 18),
    "ReduceL2": (_l2, 18),
    "ReduceLogSum": (_log_sum, 18),
    "ReduceLogSumExp": (_log_sum_exp, 18),
    "ReduceMax": (_extreme("max", _lowest), 18),
    "ReduceMean": (_mean, 18),
    "ReduceMin": (_extreme("min", _highest), 18),
    "ReduceProd": (_prod, 18),
    "ReduceSum": (_sum, 13),
    "ReduceSumSquare": (_sum_square, 18),
}


def _declare(name: str, reduce: Callable[[Tensor, Any, bool], Tensor], with_input: int) -> None:
    @operator(name)
    def by_attribute(call: Call, x: Tensor) -> Tensor:
        axes = axes_in_range(call.items("axes", ()), x.ndim) or tuple(range(x.ndim))
        return reduce(x, axes, bool(call.integer("keepdims", 1)))

    @operator(name, since=with_input)
    def by_input(call: Call, x: Tensor, axes: Tensor = None) -> Tensor:
        chosen = () if axes is None else axes_in_range(call.ints(axes, "the axes"), x.ndim)
        if not chosen:
            if call.integer("noop_with_empty_axes", 0):
                # Nothing is summed up, but what is done to each element is done.
                return reduce(x, (), True) if name not in ("ReduceMax", "ReduceMin", "ReduceMean") else x
            chosen = tuple(range(x.ndim))
        return reduce(x, chosen, bool(call.integer("keepdims", 1)))


for _name, (_reduce, _since) in _REDUCTIONS.items():
    _declare(_name, _reduce, _since)


@operator("ArgMax")
def arg_max(call: Call, x: Tensor) -> Tensor:
    return _place("argmax", call, x)


@operator("ArgMin")
def arg_min(call: Call, x: Tensor) -> Tensor:
    return _place("argmin", call, x)


def _place(name: str, call: Call, x: Tensor) -> Tensor:
    axis, keepdims = call.integer("axis", 0), bool(call.integer("keepdims", 1))
    xp = namespace(x)
    if not call.integer("select_last_index", 0):
        return cast(getattr(xp, name)(x, axis=axis, keepdims=keepdims), np.int64)
    found = cast(getattr(xp, name)(xp.flip(x, axis=axis), axis=axis, keepdims=keepdims), np.int64)
    return np.int64(x.shape[axis] - 1) - found


@operator("CumSum")
def cum_sum(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    return _cumulative(call, x, axis, "cumulative_sum", 0)


@operator("CumProd")
def cum_prod(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    return _cumulative(call, x, axis, "cumulative_prod", 1)


def _cumulative(call: Call, x: Tensor, axis: Tensor, name: str, start: int) -> Tensor:
    xp = namespace(x)
    along = axes_in_range([call.scalar(axis, "the axis")], x.ndim)[0]
    backwards, exclusive = call.integer("reverse", 0), call.integer("exclusive", 0)
    if backwards:
        x = xp.flip(x, axis=along)
    if is_known(x):
        y = (np.cumsum if start == 0 else np.cumprod)(x, axis=along, dtype=x.dtype)
    else:
        y = getattr(aio, name)(x, axis=along, dtype=x.dtype)
    if exclusive:
        inner = tuple(slice(None, -1) if k == along else slice(None) for k in range(x.ndim))
        first = tuple(slice(0, 1) if k == along else slice(None) for k in range(x.ndim))
        y = xp.concat([xp.full_like(y[first], start), y[inner]], axis=along)
    return xp.flip(y, axis=along) if backwards else y
