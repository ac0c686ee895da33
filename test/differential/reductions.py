"""reduce, reduce_window and select_and_scatter, on what they have one right result for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from bodies import (
    BODIES,
    exact_sum,
    limits,
    neutral_for,
    operand_for,
    region,
    result_check,
    sums_exactly,
)
from builder import Builder
from elements import FLOATS, INTEGERS, SMALL
from grid import Grid
from movement import array
from program import BITS, VALUES

from mlir_fp8.arrays.tensor_specs import TensorSpec, element_dtype
from mlir_fp8.dialects.float_formats import FORMATS


def reduce(b: Builder) -> None:
    """Any dims, any body."""
    body = b.one_of(BODIES)
    value = operand_for(b, body)
    initial = neutral_for(b, body, value.element)
    dims = b.subset(len(value.shape))
    count = prod(value.shape[dim] for dim in dims) + 1
    grids = [value.grid, initial.grid]
    if not sums_exactly(body, grids, count, value.element):
        return
    shape = tuple(size for dim, size in enumerate(value.shape) if dim not in dims)
    grid = exact_sum(grids, count, value.element) if body.sums else None
    b.op(
        "stablehlo.reduce",
        [value, initial],
        TensorSpec(shape, value.element),
        attributes=f"<{{dimensions = {array(dims)}}}>",
        region=region(body.name, value.element, swapped=b.chance(20)),
        check=result_check(value.element),
        grid=grid and grid.rounded_to(value.element),
    )


def argmax(b: Builder) -> None:
    """Two operands: the largest number and its index, the first of equal ones; without NaN."""
    value = b.on_grid((*FLOATS, *INTEGERS), 1)
    element = value.element
    dim = b.integer(0, len(value.shape) - 1)
    places = TensorSpec(value.shape, "i32")
    indices = b.op("stablehlo.iota", [], places, attributes=f"<{{iota_dimension = {dim} : i64}}>")
    lowest = np.array(limits(element)[0]).astype(element_dtype(element))
    initial, start = b.given(lowest, element), b.given(np.array(0, np.int32), "i32")
    x, i = f"tensor<{element}>", "tensor<i32>"
    kind = "FLOAT" if element in FLOATS else "SIGNED" if element[0] == "i" else "UNSIGNED"
    attributes = (
        f"<{{comparison_direction = #stablehlo<comparison_direction GE>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}>"
    )
    text = (
        f"({{^bb0(%x: {x}, %i: {i}, %y: {x}, %j: {i}): "
        f'%c = "stablehlo.compare"(%x, %y) {attributes} : ({x}, {x}) -> tensor<i1> '
        f'%v = "stablehlo.select"(%c, %x, %y) : (tensor<i1>, {x}, {x}) -> {x} '
        f'%k = "stablehlo.select"(%c, %i, %j) : (tensor<i1>, {i}, {i}) -> {i} '
        f'"stablehlo.return"(%v, %k) : ({x}, {i}) -> ()}})'
    )
    shape = tuple(size for each, size in enumerate(value.shape) if each != dim)
    b.ops(
        "stablehlo.reduce",
        [value, indices, initial, start],
        [TensorSpec(shape, element), TensorSpec(shape, "i32")],
        attributes=f"<{{dimensions = {array([dim])}}}>",
        region=text,
        # The data is moved, but for a body on narrow floats that is f32 inside.
        check=VALUES if element in FLOATS else BITS,
        grids=[None, None],
    )


@dataclass(frozen=True)
class Windows:
    """Window attributes per dim."""

    sizes: list[int]
    strides: list[int]
    base_dilations: list[int]
    dilations: list[int]
    padding: list[tuple[int, int]]

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many windows there are along each dim of a tensor of `shape`."""
        found: list[int] = []
        for dim, size in enumerate(shape):
            spread = (size - 1) * self.base_dilations[dim] + 1 if size else 0
            padded = spread + sum(self.padding[dim])
            window = (self.sizes[dim] - 1) * self.dilations[dim] + 1
            found.append((padded - window) // self.strides[dim] + 1 if padded >= window else 0)
        return tuple(found)

    @property
    def attributes(self) -> str:
        rows = ", ".join(str(list(each)) for each in self.padding)
        return (
            f"window_dimensions = {array(self.sizes)}, window_strides = {array(self.strides)}, "
            f"base_dilations = {array(self.base_dilations)}, "
            f"window_dilations = {array(self.dilations)}, "
            f"padding = dense<[{rows}]> : tensor<{len(self.sizes)}x2xi64>"
        )


def windows(b: Builder, rank: int, *, dilated: bool = True) -> Windows:
    """Windows of one to three numbers per dim."""
    dims = range(rank)
    return Windows(
        [b.integer(1, 3) for _ in dims],
        [b.integer(1, 3) for _ in dims],
        [b.integer(1, 2) if dilated else 1 for _ in dims],
        [b.integer(1, 2) if dilated else 1 for _ in dims],
        [(b.integer(-1 if dilated else 0, 2), b.integer(-1 if dilated else 0, 2)) for _ in dims],
    )


def reduce_window(b: Builder) -> None:
    """Strided, dilated and padded, by a negative number too."""
    body = b.one_of(BODIES)
    value = operand_for(b, body, 1)
    if len(value.shape) > 3:
        return
    initial = neutral_for(b, body, value.element)
    around = windows(b, len(value.shape))
    count = prod(around.sizes) + 1
    grids = [value.grid, initial.grid]
    if not sums_exactly(body, grids, count, value.element):
        return
    grid = exact_sum(grids, count, value.element) if body.sums else None
    b.op(
        "stablehlo.reduce_window",
        [value, initial],
        TensorSpec(around.counts(value.shape), value.element),
        attributes=f"<{{{around.attributes}}}>",
        region=region(body.name, value.element),
        check=result_check(value.element),
        grid=grid and grid.rounded_to(value.element),
    )


def select_and_scatter(b: Builder) -> None:
    """The largest of each window gets the sum, or the largest, of its sources; without NaN."""
    body = b.one_of([each for each in BODIES if each.name.endswith(("add", "maximum"))])
    elements = [each for each in body.elements if each in (*FLOATS, *INTEGERS)]
    operand = b.on_grid([each for each in elements if not body.sums or each not in SMALL], 1, 3)
    around = windows(b, len(operand.shape), dilated=False)
    padding = [(b.integer(0, size - 1), b.integer(0, size - 1)) for size in around.sizes]
    around = replace(around, padding=padding)
    source = b.like(around.counts(operand.shape), operand.element, on_grid=True)
    initial = neutral_for(b, body, operand.element)
    total: Grid | None = None
    if body.sums:
        total = exact_sum([source.grid, initial.grid], prod(source.shape) + 1, operand.element)
        # Each step rounds to the declared type.
        if total is None or not total.is_exact_in(FORMATS[operand.element]):
            return
    scalar = f"tensor<{operand.element}>"
    kind = "FLOAT" if operand.element in FLOATS else "SIGNED"
    kind = "UNSIGNED" if operand.element.startswith("ui") else kind
    select = (
        f'({{^bb0(%x: {scalar}, %y: {scalar}): %z = "stablehlo.compare"(%x, %y) '
        f"<{{comparison_direction = #stablehlo<comparison_direction GE>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}> : ({scalar}, {scalar}) "
        f'-> tensor<i1> "stablehlo.return"(%z) : (tensor<i1>) -> ()}}'
    )
    scatter = region(body.name, operand.element).removeprefix("(")
    rows = ", ".join(str(list(each)) for each in around.padding)
    b.op(
        "stablehlo.select_and_scatter",
        [operand, source, initial],
        operand.spec,
        attributes=f"<{{window_dimensions = {array(around.sizes)}, "
        f"window_strides = {array(around.strides)}, "
        f"padding = dense<[{rows}]> : tensor<{len(around.sizes)}x2xi64>}}>",
        region=f"{select}, {scatter}",
        check=result_check(operand.element),
        grid=total,
    )
