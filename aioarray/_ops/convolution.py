"""Convolutions: one ``stablehlo.convolution`` each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import dtypes
from .._graph import ArraySpec, Node, Op, array_spec, definition
from ._primitives import add, reshape, transpose
from ._rules import broadcast_to, check_dtype, convert, int_array, result_dtype, stablehlo
from .manipulation import REVERSE

if TYPE_CHECKING:
    from .._base.dtypes import DType

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def spread(length: int, dilation: int) -> int:
    """What ``length`` elements take with ``dilation - 1`` others between each two."""
    return (length - 1) * dilation + 1 if length else 0


def window_count(length: int, window: int, stride: int) -> int:
    """How many positions a window has in ``length`` elements."""
    return max(0, (length - window) // stride + 1)


def _convolved(
    x: ArraySpec,
    kernel: ArraySpec,
    *,
    stride: Ints,
    padding: Pairs,
    dilation: Ints,
    gaps: Ints,
    groups: int,
    channels_last: bool,
    dtype: DType,
) -> ArraySpec:
    first, outputs = (1, kernel.shape[-1]) if channels_last else (2, kernel.shape[0])
    window = kernel.shape[: len(stride)] if channels_last else kernel.shape[2:]
    spatial = tuple(
        window_count(spread(n, gap) + low + high, spread(k, d), s)
        for n, gap, (low, high), k, d, s in zip(x.shape[first:], gaps, padding, window, dilation, stride, strict=False)
    )
    return array_spec((x.shape[0], *spatial, outputs) if channels_last else (x.shape[0], outputs, *spatial), dtype)


def _attributes(node: Node) -> dict[str, str]:
    stride = node.params["stride"]
    places = ", ".join(map(str, range(len(stride))))
    numbers = (
        f"[b, {places}, f]x[{places}, i, o]->[b, {places}, f]"
        if node.params["channels_last"]
        else f"[b, f, {places}]x[o, i, {places}]->[b, f, {places}]"
    )
    padding = [list(pair) for pair in node.params["padding"]]
    return {
        "dimension_numbers": f"#stablehlo.conv<{numbers}>",
        "feature_group_count": f"{node.params['groups']} : i64",
        "batch_group_count": "1 : i64",
        "window_strides": int_array(stride),
        "padding": f"dense<{padding}> : tensor<{len(stride)}x2xi64>",
        "lhs_dilation": int_array(node.params["gaps"]),
        "rhs_dilation": int_array(node.params["dilation"]),
    }


# x, kernel -> sums of products over windows of x, whose elements stand ``gaps`` apart, and over the channels of a
# group.
CONVOLUTION = Op("convolution", _convolved, stablehlo("stablehlo.convolution", _attributes))


def same_padding(length: int, window: int, stride: int) -> tuple[int, int]:
    """(before, after), so that there are ``ceil(length / stride)`` positions; the odd one comes after."""
    count = -(-length // stride)
    total = max(0, (count - 1) * stride + window - length)
    return total // 2, total - total // 2


def spatial_axes(x: Node, channels_last: bool) -> tuple[int, ...]:
    """Which axes of ``x`` are neither batch nor channels."""
    return tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))


def _check_kernel(function: str, x: Node, kernel: Node, inputs: int, outputs: int, groups: int, layout: str) -> None:
    if kernel.ndim != x.ndim:
        raise ValueError(
            f"{function}: x has {x.ndim} axes, the kernel of shape {kernel.shape} has {kernel.ndim}; it takes {layout}"
        )
    if groups < 1 or inputs * groups != outputs:
        raise ValueError(
            f"{function}: the kernel of shape {kernel.shape} in {groups} groups is for {inputs * groups} channels, x "
            f"of shape {x.shape} has {outputs}; the kernel must be {layout}"
        )


def _with_bias(function: str, x: Node, bias: Node | None, channels: int, axis: int) -> Node:
    if bias is None:
        return x
    if bias.shape != (channels,):
        raise ValueError(
            f"{function}: bias has shape {bias.shape}; it takes ({channels},), one for each output channel"
        )
    shape = tuple(channels if k == axis else 1 for k in range(x.ndim))
    return add(x, broadcast_to(reshape(convert(bias, x.dtype), shape), x.shape))


def _in_sum_dtype(function: str, x: Node, kernel: Node) -> tuple[Node, Node, DType]:
    """Both operands in the dtype that sums are kept in; and the result's."""
    dtype = result_dtype(function, x, kernel)
    x, kernel = convert(x, dtype), convert(kernel, dtype)
    check_dtype(function, x, dtypes.REAL_FLOATING)
    sums = dtypes.float32 if dtype.itemsize < 4 else dtype
    return convert(x, sums), convert(kernel, sums), dtype


@definition
def conv(
    x: Node,
    kernel: Node,
    bias: Node | None,
    stride: Ints,
    padding: Pairs | str,
    dilation: Ints,
    groups: int,
    channels_last: bool,
) -> Node:
    """Sums over windows; the kernel is (out, in / groups, …) or, with ``channels_last``, (…, in / groups, out)."""
    axes = spatial_axes(x, channels_last)
    n = len(axes)
    layout = "(…, in / groups, out)" if channels_last else "(out, in / groups, …)"
    channel = x.ndim - 1 if channels_last else 1
    inputs = kernel.shape[-2] if channels_last and kernel.ndim > 1 else kernel.shape[1] if kernel.ndim > 1 else 0
    _check_kernel("conv", x, kernel, inputs, x.shape[channel], groups, layout)
    outputs = kernel.shape[-1] if channels_last else kernel.shape[0]
    if outputs % groups:
        raise ValueError(f"conv: {outputs} output channels do not divide into {groups} groups")
    window = kernel.shape[:n] if channels_last else kernel.shape[2:]
    pairs = resolve_padding("conv", padding, x, axes, window, stride, dilation)
    x, kernel, dtype = _in_sum_dtype("conv", x, kernel)
    result = CONVOLUTION(
        x,
        kernel,
        stride=stride,
        padding=pairs,
        dilation=dilation,
        gaps=(1,) * n,
        groups=groups,
        channels_last=channels_last,
        dtype=x.dtype,
    )
    return convert(_with_bias("conv", result, bias, outputs, channel), dtype)


def resolve_padding(
    function: str, padding: Pairs | str, x: Node, axes: Ints, window: Ints, stride: Ints, dilation: Ints
) -> Pairs:
    """``padding`` as (before, after) for each of ``axes``."""
    if padding == "valid":
        return ((0, 0),) * len(axes)
    if padding == "same":
        return tuple(
            same_padding(x.shape[axis], spread(k, d), s)
            for axis, k, d, s in zip(axes, window, dilation, stride, strict=True)
        )
    if isinstance(padding, str):
        raise ValueError(f"{function}: padding {padding!r} is not known; use 'same', 'valid' or numbers")
    return padding


@definition
def conv_transpose(
    x: Node,
    kernel: Node,
    bias: Node | None,
    stride: Ints,
    padding: Pairs,
    output_padding: Ints,
    dilation: Ints,
    groups: int,
    channels_last: bool,
) -> Node:
    """The transpose of ``conv``; the kernel is (in, out / groups, …) or, ``channels_last``, (…, out / groups, in)."""
    axes = spatial_axes(x, channels_last)
    n = len(axes)
    layout = "(…, out / groups, in)" if channels_last else "(in, out / groups, …)"
    channel = x.ndim - 1 if channels_last else 1
    if kernel.ndim != x.ndim:
        raise ValueError(
            f"conv_transpose: x has {x.ndim} axes, the kernel of shape {kernel.shape} has {kernel.ndim}; it takes "
            f"{layout}"
        )
    inputs = kernel.shape[-1] if channels_last else kernel.shape[0]
    if groups < 1 or inputs != x.shape[channel] or inputs % groups:
        raise ValueError(
            f"conv_transpose: the kernel of shape {kernel.shape} takes {inputs} channels in {groups} groups, x of "
            f"shape {x.shape} has {x.shape[channel]}; the kernel must be {layout}"
        )
    window = kernel.shape[:n] if channels_last else kernel.shape[2:]
    outputs = (kernel.shape[-2] if channels_last else kernel.shape[1]) * groups
    x, kernel, dtype = _in_sum_dtype("conv_transpose", x, kernel)
    # A convolution of x with gaps by the kernel turned round, inputs and outputs exchanged within each group.
    kernel = REVERSE(kernel, axes=tuple(range(n)) if channels_last else tuple(range(2, 2 + n)))
    result = CONVOLUTION(
        x,
        _exchanged(kernel, groups, channels_last),
        stride=(1,) * n,
        padding=tuple(
            (spread(k, d) - 1 - low, spread(k, d) - 1 - high + more)
            for k, d, (low, high), more in zip(window, dilation, padding, output_padding, strict=True)
        ),
        dilation=dilation,
        gaps=stride,
        groups=groups,
        channels_last=channels_last,
        dtype=x.dtype,
    )
    return convert(_with_bias("conv_transpose", result, bias, outputs, channel), dtype)


def _exchanged(kernel: Node, groups: int, channels_last: bool) -> Node:
    """(in, out / groups, …) as (out, in / groups, …); (…, out / groups, in) as (…, in / groups, out)."""
    n = kernel.ndim - 2
    places = tuple(range(n))
    if channels_last:
        *window, outputs, inputs = kernel.shape
        split = reshape(kernel, (*window, outputs, groups, inputs // groups))
        moved = transpose(split, (*places, n + 2, n + 1, n))
        return reshape(moved, (*window, inputs // groups, groups * outputs))
    inputs, outputs, *window = kernel.shape
    split = reshape(kernel, (groups, inputs // groups, outputs, *window))
    moved = transpose(split, (0, 2, 1, *(k + 3 for k in places)))
    return reshape(moved, (groups * outputs, inputs // groups, *window))
