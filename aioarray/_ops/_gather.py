"""The primitives that read and write at positions known only at run time."""

from __future__ import annotations

from .._base import dtypes
from .._graph import ArraySpec, Emitter, Node, Op
from ._rules import int_array, stablehlo


def _lower_gather(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    window, axes, shape = node.params["window"], node.params["axes"], node.inputs[0].shape
    batch = list(range(node.params.get("batch", 0)))
    sizes = tuple(1 if axis in axes or axis in batch else n for axis, n in enumerate(shape))
    numbers = (
        f"#stablehlo.gather<offset_dims = {list(window)}, collapsed_slice_dims = {list(axes)}, "
        f"operand_batching_dims = {batch}, start_indices_batching_dims = {batch}, "
        f"start_index_map = {list(axes)}, index_vector_dim = {node.inputs[1].ndim - 1}>"
    )
    return emitter.op(
        "stablehlo.gather",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {
            "dimension_numbers": numbers,
            "slice_sizes": int_array(sizes),
            "indices_are_sorted": "false",
        },
    )


def _lower_scatter(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    window, axes, combine = node.params["window"], node.params["axes"], node.params["combine"]
    numbers = (
        f"#stablehlo.scatter<update_window_dims = {list(window)}, inserted_window_dims = {list(axes)}, "
        f"scatter_dims_to_operand_dims = {list(axes)}, index_vector_dim = {node.inputs[1].ndim - 1}>"
    )
    dtype = node.dtype
    if combine is None:
        kind = f"tensor<{dtypes.MLIR_NAMES[dtype]}>"
        old, new = emitter.fresh(), emitter.fresh()
        region = f'{{\n^bb0({old}: {kind}, {new}: {kind}):\n"stablehlo.return"({new}) : ({kind}) -> ()\n}}'
    else:
        region = emitter.reducer(combine, dtype)
    return emitter.op(
        "stablehlo.scatter",
        operands,
        tuple(child.spec for child in node.inputs),
        node.specs,
        {
            "scatter_dimension_numbers": numbers,
            "indices_are_sorted": "false",
            "unique_indices": str(node.params["unique"]).lower(),
        },
        (region,),
    )


def _gathered(
    x: ArraySpec, indices: ArraySpec, *, axes: tuple[int, ...], window: tuple[int, ...], batch: int = 0
) -> ArraySpec:
    kept = iter([n for axis, n in enumerate(x.shape) if axis not in axes and axis >= batch])
    places = iter(indices.shape[:-1])
    ndim = len(window) + indices.ndim - 1
    return x.with_shape(tuple(next(kept) if axis in window else next(places) for axis in range(ndim)))


# x, indices (…, len(axes)): the elements, or whole slices, of x at positions along ``axes``. ``window`` are the
# axes of the result that come from x; the others come from the indices. The first ``batch`` axes of both go
# side by side.
GATHER = Op("getitem", _gathered, _lower_gather)
# x, indices, updates -> x; ``combine`` names the StableHLO operation, None replaces. Out of range: dropped.
SCATTER = Op("setitem", lambda x, indices, updates, *, axes, window, combine, unique: x, _lower_scatter)
DYNAMIC_SLICE = Op(
    "dynamic_slice",
    lambda x, *starts, sizes: x.with_shape(sizes),
    stablehlo("stablehlo.dynamic_slice", lambda node: {"slice_sizes": int_array(node.params["sizes"])}),
)
DYNAMIC_UPDATE_SLICE = Op(
    "dynamic_update_slice", lambda x, update, *starts: x, stablehlo("stablehlo.dynamic_update_slice")
)
