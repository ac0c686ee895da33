"""Shapes of products: what `fp8.scaled_dot` and `fp8.scaled_convolution` give, and refuse."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

DOT_ATTRIBUTES = ("dot_dimension_numbers",)
CONVOLUTION_ATTRIBUTES = (
    "window_strides",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "window_reversal",
    "dimension_numbers",
    "feature_group_count",
    "batch_group_count",
)
"""Those of `stablehlo.convolution`, which may be absent where it lets them."""
_EMPTY = ("array<i64>", "array<i1>", "dense<> : tensor<0x2xi64>")
"""Window attributes that are as good as absent, which upstream's lowering does not know."""


def shape_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes that StableHLO's product of the same shape takes over."""
    names = DOT_ATTRIBUTES if op.name == "fp8.scaled_dot" else CONVOLUTION_ATTRIBUTES
    given = {name: op.attributes[name] for name in names if name in op.attributes}
    return {name: each for name, each in given.items() if str(each) not in _EMPTY}


def shapes_refusal(op: ir.Operation) -> str:
    """What StableHLO says against a product of operands and a result of these shapes.

    It is asked, since its rules for windows and dimensions are many.
    """
    shapes = [value.type.shape for value in (*list(op.operands)[:2], op.results[0])]
    lhs, rhs, result = ("x".join([*map(str, shape), "f32"]) for shape in shapes)
    name = "dot_general" if op.name == "fp8.scaled_dot" else "convolution"
    with op.context:
        answer = _answer(
            f"func.func private @f(%a: tensor<{lhs}>, %b: tensor<{rhs}>) {{\n"
            f'%0 = "stablehlo.{name}"(%a, %b) {ir.DictAttr.get(shape_attributes(op))}'
            f" : (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{result}>\nreturn }}"
        )
    return answer.removeprefix(f"'stablehlo.{name}' op ")


@lru_cache(maxsize=1024)  # asked for each op after each pass
def _answer(text: str) -> str:
    """What MLIR says against a module, in the current context, or nothing."""
    context: Any = ir.Context.current  # the stubs lack what follows
    emits = context.emit_error_diagnostics
    context.emit_error_diagnostics = False  # else whoever listens would hear it
    try:
        ir.Module.parse(text)
    except ir.MLIRError as error:
        return error.error_diagnostics[0].message.splitlines()[0]
    finally:
        context.emit_error_diagnostics = emits
    return ""


def are_dimensions(numbers: Any) -> bool:
    """Whether each side of a `#stablehlo.conv` names each of its dimensions once.

    MLIR's printer aborts on one that does not.
    """
    sides = (
        (numbers.input_batch_dimension, numbers.input_feature_dimension),
        (numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension),
        (numbers.output_batch_dimension, numbers.output_feature_dimension),
    )
    spatial = (
        numbers.input_spatial_dimensions,
        numbers.kernel_spatial_dimensions,
        numbers.output_spatial_dimensions,
    )
    return all(
        sorted([*side, *dims]) == list(range(len(dims) + 2))
        for side, dims in zip(sides, spatial, strict=True)
    )


def dot_shape(lhs: Sequence[int], rhs: Sequence[int], numbers: ir.Attribute) -> list[int]:
    """Batching sizes, then the free ones of `lhs`, then those of `rhs`."""
    batching, free_lhs, free_rhs = result_dimensions(len(lhs), len(rhs), numbers)
    return [lhs[i] for i in (*batching, *free_lhs)] + [rhs[i] for i in free_rhs]


def result_dimensions(
    lhs_rank: int, rhs_rank: int, numbers: ir.Attribute
) -> tuple[list[int], list[int], list[int]]:
    """The dimensions that a dot's result has, in order: batching and free of lhs, free of rhs."""
    of = _stablehlo.DotDimensionNumbers(numbers)
    batching = list(of.lhs_batching_dimensions)
    lhs_taken = {*batching, *of.lhs_contracting_dimensions}
    rhs_taken = {*of.rhs_batching_dimensions, *of.rhs_contracting_dimensions}
    free_lhs = [i for i in range(lhs_rank) if i not in lhs_taken]
    free_rhs = [i for i in range(rhs_rank) if i not in rhs_taken]
    return batching, free_lhs, free_rhs


def convolution_shape(
    lhs: Sequence[int], rhs: Sequence[int], attributes: dict[str, ir.Attribute]
) -> list[int]:
    """The specification's C25 of `convolution`."""
    of = _stablehlo.ConvDimensionNumbers(attributes["dimension_numbers"])
    spatial = list(of.output_spatial_dimensions)
    count = len(spatial)
    strides = _integers(attributes, "window_strides", count)
    lhs_dilation = _integers(attributes, "lhs_dilation", count)
    rhs_dilation = _integers(attributes, "rhs_dilation", count)
    padding = [(0, 0)] * count
    if "padding" in attributes:
        elements = ir.DenseIntElementsAttr(attributes["padding"])
        flat = [elements[i] for i in range(2 * count)] if len(elements) else [0] * (2 * count)
        padding = list(zip(flat[::2], flat[1::2], strict=True))
    batch_groups = ir.IntegerAttr(attributes["batch_group_count"]).value
    shape = [0] * len(lhs)
    shape[of.output_batch_dimension] = lhs[of.input_batch_dimension] // batch_groups
    shape[of.output_feature_dimension] = rhs[of.kernel_output_feature_dimension]
    for i, dim in enumerate(spatial):
        size = lhs[of.input_spatial_dimensions[i]]
        window = rhs[of.kernel_spatial_dimensions[i]]
        padded = _dilated(size, lhs_dilation[i]) + sum(padding[i])
        reach = _dilated(window, rhs_dilation[i])
        is_empty = padded == 0 or reach > padded
        shape[dim] = 0 if is_empty else (padded - reach) // strides[i] + 1
    return shape


def _dilated(size: int, dilation: int) -> int:
    return 0 if size == 0 else (size - 1) * dilation + 1


def _integers(attributes: dict[str, ir.Attribute], name: str, count: int) -> list[int]:
    given = list(ir.DenseI64ArrayAttr(attributes[name])) if name in attributes else []
    return given or [1] * count  # none is the default
