"""dot_general and convolution, with operands whose sums of products are exact."""

from math import prod

from bodies import result_check
from builder import Builder
from elements import FLOATS, INTEGERS, NARROW
from grid import Grid, accumulator
from movement import array
from program import Value
from reductions import Windows, windows

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS


def _sum_of_products(lhs: Value, rhs: Value, count: int, result: str) -> tuple[bool, Grid | None]:
    """Whether sums of `count` products are exact, and the grid that they are on."""
    if lhs.element not in FORMATS:
        return True, None
    if lhs.grid is None or rhs.grid is None:
        return False, None
    total = lhs.grid.times(rhs.grid).summed(count)
    exact = total.is_exact_in(accumulator(lhs.element, rhs.element, result))
    return exact, total.rounded_to(result)


def _types(b: Builder, element: str) -> tuple[str, str]:
    """The types of the other operand and of the result."""
    if element not in FORMATS:
        signed = element.startswith("i")
        wide = [each for each in INTEGERS if each.startswith("i") == signed]
        wide = wide[wide.index(element) :]
        return element, b.one_of(wide)
    if element not in NARROW:
        return element, element
    other = b.one_of([element, *NARROW]) if b.chance(30) else element
    return other, b.one_of([element, "f32", "bf16", "f16", *NARROW])


def dot_general(b: Builder) -> None:
    """Batch and contracting dims anywhere; mixed narrow types, and wide results."""
    lhs = b.on_grid((*FLOATS, *INTEGERS), 1, 4)
    roles = [b.one_of(("contract", "free", "batch")) for _ in lhs.shape]
    batch = [dim for dim, role in enumerate(roles) if role == "batch"]
    contract = [dim for dim, role in enumerate(roles) if role == "contract"]
    free = [dim for dim, role in enumerate(roles) if role == "free"]
    others = list(b.shape(0, max(1, 3 - len(batch) - len(contract))))
    sources = [*batch, *contract, *(-1 for _ in others)]
    order = b.permutation(len(sources))
    sizes = [*(lhs.shape[dim] for dim in (*batch, *contract)), *others]
    element, result = _types(b, lhs.element)
    rhs_shape = [sizes[place] for place in order]
    shape = (*(lhs.shape[d] for d in batch), *(lhs.shape[d] for d in free))
    rhs_free = [sizes[place] for place in order if place >= len(batch) + len(contract)]
    shape = (*shape, *rhs_free)
    count = prod(lhs.shape[dim] for dim in contract)
    if prod(shape) * max(count, 1) > 20000 or prod(rhs_shape) > 600:
        return
    rhs = b.like(rhs_shape, element, on_grid=True)
    exact, grid = _sum_of_products(lhs, rhs, count, result)
    if not exact:
        return
    rhs_batch = [order.index(place) for place in range(len(batch))]
    rhs_contract = [order.index(len(batch) + place) for place in range(len(contract))]
    b.op(
        "stablehlo.dot_general",
        [lhs, rhs],
        TensorSpec(shape, result),
        attributes=f"<{{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {batch}, "
        f"rhs_batching_dimensions = {rhs_batch}, lhs_contracting_dimensions = {contract}, "
        f"rhs_contracting_dimensions = {rhs_contract}>}}>",
        check=result_check(result),
        grid=grid if result in FORMATS else None,
    )


def _placed(b: Builder, names: list[str], sizes: list[int]) -> tuple[str, list[int]]:
    """Dims in any order: their names as text, and the shape."""
    order = b.permutation(len(names)) if b.chance(40) else list(range(len(names)))
    return ", ".join(names[place] for place in order), [sizes[place] for place in order]


def convolution(b: Builder) -> None:
    """Grouped, batch-grouped, strided, dilated both ways, reversed, padded; any layout."""
    element = b.element((*FLOATS, *INTEGERS))
    _, result = _types(b, element)
    rank = b.one_of((1, 2, 0, 3))
    around = windows(b, rank)
    groups, batch_groups = b.one_of(((1, 1), (2, 1), (1, 2)))
    spatial = [b.one_of((3, 5, 2, 1)) for _ in range(rank)]
    batch, per_group = b.integer(1, 2) * batch_groups, b.integer(1, 3)
    features = b.integer(1, 2) * groups * batch_groups
    letters = [str(dim) for dim in range(rank)]
    image_dims, image_shape = _placed(
        b, ["b", *letters, "f"], [batch, *spatial, per_group * groups]
    )
    kernel_dims, kernel_shape = _placed(
        b, [*letters, "i", "o"], [*around.sizes, per_group, features]
    )
    counts = around.counts(spatial)
    out_dims, shape = _placed(b, ["b", *letters, "f"], [batch // batch_groups, *counts, features])
    lhs = b.like(image_shape, element, on_grid=True)
    rhs = b.like(kernel_shape, element, on_grid=True)
    exact, grid = _sum_of_products(lhs, rhs, prod(around.sizes) * per_group, result)
    if not exact:
        return
    b.op(
        "stablehlo.convolution",
        [lhs, rhs],
        TensorSpec(tuple(shape), result),
        attributes=f"<{{{_attributes(b, around)}, "
        f"dimension_numbers = #stablehlo.conv<[{image_dims}]x[{kernel_dims}]->[{out_dims}]>, "
        f"feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64}}>",
        check=result_check(result),
        grid=grid if result in FORMATS else None,
    )


def _attributes(b: Builder, around: Windows) -> str:
    rank = len(around.sizes)
    reversal = [str(b.chance(20)).lower() for _ in range(rank)]
    flags = f"array<i1: {', '.join(reversal)}>" if reversal else "array<i1>"
    rows = ", ".join(str(list(each)) for each in around.padding)
    padding = f"dense<[{rows}]> : tensor<{rank}x2xi64>" if rank else "dense<> : tensor<0x2xi64>"
    return (
        f"window_strides = {array(around.strides)}, padding = {padding}, "
        f"lhs_dilation = {array(around.base_dilations)}, "
        f"rhs_dilation = {array(around.dilations)}, window_reversal = {flags}"
    )
