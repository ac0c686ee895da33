"""gather and scatter with any layout of windows, and indices beyond the ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from bodies import BODIES, exact_sum, region, result_check
from builder import Builder
from elements import ALL, INTEGERS, ON_GRID
from movement import array
from program import Value, weakest

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS


@dataclass(frozen=True)
class Layout:
    """How windows of an operand line up with another tensor, one window per index vector."""

    mapped: list[int]
    """The operand's dims that the components of an index vector start at."""
    removed: list[int]
    sizes: list[int]
    indices_shape: list[int]
    vector_dim: int
    window_dims: list[int]
    other_shape: list[int]


def _layout(b: Builder, shape: Sequence[int]) -> Layout:
    rank = len(shape)
    mapped = b.permutation(rank)[: b.integer(min(1, rank), rank)]
    sizes = [b.integer(min(1, size), size) for size in shape]
    removed = [dim for dim in range(rank) if shape[dim] and b.chance(40)]
    for dim in removed:
        sizes[dim] = 1
    batch = list(b.shape(0, 2))
    implicit = len(mapped) == 1 and b.chance(40)
    vector_dim = len(batch) if implicit else b.integer(0, len(batch))
    indices_shape = list(batch)
    if not implicit:
        indices_shape.insert(vector_dim, len(mapped))
    kept = [sizes[dim] for dim in range(rank) if dim not in removed]
    other_rank = len(batch) + len(kept)
    window_dims = sorted(b.permutation(other_rank)[: len(kept)])
    rest, windows = iter(batch), iter(kept)
    other = [next(windows) if dim in window_dims else next(rest) for dim in range(other_rank)]
    return Layout(mapped, removed, sizes, indices_shape, vector_dim, window_dims, other)


def _operand(b: Builder) -> Value:
    value = b.value(lambda value: 1 <= len(value.shape) <= 3, ALL)
    return value if 1 <= len(value.shape) <= 3 else b.fresh(b.shape(1, 3), value.element)


def _indices(b: Builder, layout: Layout) -> Value:
    return b.like(layout.indices_shape, b.one_of(INTEGERS))


def gather(b: Builder) -> None:
    """Windows from anywhere, clamped into the operand."""
    operand = _operand(b)
    layout = _layout(b, operand.shape)
    if prod(layout.other_shape) > 2000:
        return
    indices = _indices(b, layout)
    numbers = (
        f"offset_dims = {layout.window_dims}, collapsed_slice_dims = {layout.removed}, "
        f"start_index_map = {layout.mapped}, index_vector_dim = {layout.vector_dim}"
    )
    b.op(
        "stablehlo.gather",
        [operand, indices],
        TensorSpec(tuple(layout.other_shape), operand.element),
        attributes=f"<{{dimension_numbers = #stablehlo.gather<{numbers}>, "
        f"slice_sizes = {array(layout.sizes)}}}>",
        check=operand.check,
        grid=operand.grid,
    )


def scatter(b: Builder) -> None:
    """Windows to anywhere, skipped where beyond the ends; `None` for a body that overwrites."""
    body = b.one_of([None, *BODIES])
    operand = _operand(b)
    if body is not None and (not operand.is_exact or operand.element not in body.elements):
        operand = b.fresh(operand.shape, b.element(body.elements))
    layout = _layout(b, operand.shape)
    if prod(layout.other_shape) > 2000:
        return
    sums = body is not None and body.sums
    if sums and operand.grid is None:
        operand = b.fresh(operand.shape, operand.element, ON_GRID)
    updates = b.like(layout.other_shape, operand.element, on_grid=sums)
    grid = None
    if sums:
        count = prod(updates.shape) + 1
        grid = exact_sum([operand.grid, updates.grid], count, operand.element)
        # Each update rounds to the declared type.
        if grid is None or not grid.is_exact_in(FORMATS[operand.element]):
            return
    indices = _indices(b, layout)
    scalar = f"tensor<{operand.element}>"
    overwrite = f'({{^bb0(%x: {scalar}, %y: {scalar}): "stablehlo.return"(%y) : ({scalar}) -> ()}})'
    numbers = (
        f"update_window_dims = {layout.window_dims}, inserted_window_dims = {layout.removed}, "
        f"scatter_dims_to_operand_dims = {layout.mapped}, index_vector_dim = {layout.vector_dim}"
    )
    b.op(
        "stablehlo.scatter",
        [operand, indices, updates],
        operand.spec,
        attributes=f"<{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}>",
        region=overwrite if body is None else region(body.name, operand.element),
        check=weakest([operand, updates]) if body is None else result_check(operand.element),
        grid=grid,
    )
