"""Codes with the scales of their blocks: computed from a wide tensor, and turned back into one."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects import fp8
from mlir_fp8.lowering.fp8.ops.power_of_two import power_of_two
from mlir_fp8.lowering.fp8.ops.scaling import (
    broadcast,
    number,
    rescale,
    to_element,
    with_shape,
)
from mlir_fp8.lowering.fp8.weights.code_formats import INT8, LARGEST_INT8, largest_code
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, divides, scale_shape
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, names, with_element

_LEAST_NORMAL = 2.0**-126


@dataclass(frozen=True)
class Scaled:
    """`codes` that times `scale` are about the numbers; `blocks` are those of `scale`.

    `name` is that of the weight. With NVFP4 all numbers are times `factor` too, f32 of rank 0, or
    of the rank of `codes`, with size 1 but where each index has its own.
    """

    codes: ir.Value
    scale: ir.Value
    blocks: Blocks
    name: str = ""
    factor: ir.Value | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all blocks are of one size, as the `fp8` dialect has them."""
        return divides(_shape(self.codes), self.blocks)

    @property
    def is_integer(self) -> bool:
        """Whether codes are of `INT8`, whose blocks are always whole."""
        return str(element_type(self.codes)) == INT8

    def wide(self, element: ir.Type) -> ir.Value:
        """The numbers, of type `element`, at the current insertion point."""
        f32 = ir.F32Type.get()
        if self.is_integer:
            wide = rescale(convert(self.codes, f32), self.scale, divide=False)
        elif self.is_whole:
            wide = fp8.dequantize(self.codes, self.scale, f32)
        else:
            wide = convert(self.codes, f32)
            spread = _spread(convert(self.scale, f32), _shape(self.codes), self.blocks)
            wide = build("multiply", wide.type, [wide, spread])
        if self.factor is not None:
            wide = rescale(wide, self.factor, divide=False)
        return convert(wide, element)


_DECODING = names("stablehlo", "broadcast_in_dim convert multiply reshape slice") | {
    "fp8.dequantize"
}


def decoding_ops(wide: ir.Value) -> list[ir.Operation]:
    """The ops that make `wide` of codes and scales, see `Scaled.wide`."""
    op = producer(wide)
    if op is None or op.name not in _DECODING:
        return []
    return [each for operand in op.operands for each in decoding_ops(operand)] + [op]


def block_amax(x: ir.Value, blocks: Blocks) -> ir.Value:
    """The largest magnitude in each block of `x`, f32, in the shape of its scale; NaN for a NaN."""
    shape = _shape(x)
    if not any(blocks):
        return maximum(build("abs", x.type, [x]), range(len(shape)), [])
    counts = scale_shape(shape, blocks)
    inner = [block or size for size, block in zip(shape, blocks, strict=True)]
    padded = padded_to(x, [a * b for a, b in zip(counts, inner, strict=True)])
    parts = [size for pair in zip(counts, inner, strict=True) for size in pair]
    apart = build("reshape", with_shape(x, parts), [padded])
    return maximum(build("abs", apart.type, [apart]), range(1, len(parts), 2), counts)


def scale_of_amax(
    amax: ir.Value, format_: str, margin: float = 0, *, is_power_of_two: bool = False
) -> ir.Value:
    """`amax / max(format_) * 2**margin`, f32; 1 where that is 0, subnormal, infinite or NaN.

    As `fp8.update_scale` has it with recipe "current", for each block.
    """
    return scale_of_limit(amax, largest_code(format_), margin, is_power_of_two=is_power_of_two)


def scale_of_limit(
    amax: ir.Value, largest: float, margin: float = 0, *, is_power_of_two: bool = False
) -> ir.Value:
    """As `scale_of_amax`, of codes that end at `largest`."""
    scale = build("divide", amax.type, [amax, number(amax.type, largest)])
    if margin:
        scale = build("multiply", amax.type, [scale, number(amax.type, 2.0**margin)])
    flags = with_element(amax.type, ir.IntegerType.get_signless(1))
    is_normal = _compare(scale, number(amax.type, _LEAST_NORMAL), "GE", flags)
    is_finite = _compare(scale, number(amax.type, float("inf")), "LT", flags)
    usable = build("and", flags, [is_normal, is_finite])
    scale = build("select", amax.type, [usable, scale, number(amax.type, 1.0)])
    return power_of_two(scale) if is_power_of_two else scale


def codes_of(x: ir.Value, scale: ir.Value, blocks: Blocks, format_: str) -> ir.Value:
    """`x`, f32, over its scale, saturated and rounded to nearest even in `format_`.

    Of integers NaN is 0.
    """
    if format_ == INT8:
        scaled = over_scale(x, scale, blocks)
        bounds = [number(with_shape(x, []), float(end)) for end in (-LARGEST_INT8, LARGEST_INT8)]
        scaled = build("clamp", x.type, [bounds[0], scaled, bounds[1]])
        whole = build("round_nearest_even", x.type, [scaled])
        return convert(whole, ir.IntegerType.get_signless(8))
    element = ir.Type.parse(format_)
    if divides(_shape(x), blocks):
        return fp8.quantize(x, scale, element, saturate=True)
    return to_element(over_scale(x, scale, blocks), element, saturate=True)


def over_scale(x: ir.Value, scale: ir.Value, blocks: Blocks) -> ir.Value:
    """`x`, f32, over its scale, in f32."""
    if divides(_shape(x), blocks):
        return rescale(x, scale, divide=True)
    factor = _spread(convert(scale, ir.F32Type.get()), _shape(x), blocks)
    return build("divide", x.type, [x, factor])


def quantized(x: ir.Value, blocks: Blocks, format_: str) -> Scaled:
    """`x`, of any wide float type, in `format_` with the scales of its blocks."""
    x = convert(x, ir.F32Type.get())
    scale = scale_of_amax(block_amax(x, blocks), format_)
    return Scaled(codes_of(x, scale, blocks, format_), scale, blocks)


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _compare(x: ir.Value, y: ir.Value, direction: str, flags: ir.Type) -> ir.Value:
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", flags, [x, y], {"comparison_direction": attribute})


def padded_to(x: ir.Value, shape: list[int]) -> ir.Value:
    """`x` with zeros after it along each dimension, to `shape`."""
    if shape == _shape(x):
        return x
    zeros = ir.DenseI64ArrayAttr.get([0] * len(shape))
    after = [new - old for new, old in zip(shape, _shape(x), strict=True)]
    attributes = {
        "edge_padding_low": zeros,
        "edge_padding_high": ir.DenseI64ArrayAttr.get(after),
        "interior_padding": zeros,
    }
    return build("pad", with_shape(x, shape), [x, number(with_shape(x, []), 0.0)], attributes)


def _spread(scale: ir.Value, shape: list[int], blocks: Blocks) -> ir.Value:
    """The scale of each element of a tensor of `shape`, whose last blocks may be smaller."""
    counts = _shape(scale)
    inner = [block or size for size, block in zip(shape, blocks, strict=True)]
    parts = [size for pair in zip(counts, inner, strict=True) for size in pair]
    wide = broadcast(scale, with_shape(scale, parts), list(range(0, len(parts), 2)))
    whole = [a * b for a, b in zip(counts, inner, strict=True)]
    wide = build("reshape", with_shape(scale, whole), [wide])
    attributes = {
        "start_indices": ir.DenseI64ArrayAttr.get([0] * len(shape)),
        "limit_indices": ir.DenseI64ArrayAttr.get(shape),
        "strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
    }
    return build("slice", with_shape(scale, shape), [wide], attributes)


def maximum(x: ir.Value, dims: Sequence[int], shape: list[int]) -> ir.Value:
    """The largest of `x`, none of which is below 0, over `dims`."""
    scalar = with_shape(x, [])
    location = ir.Location.current
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[with_shape(x, shape)],
        operands=[x, number(scalar, 0.0)],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(dims))},
        regions=1,
    )
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        larger = build("maximum", scalar, list(body.arguments))
        ir.Operation.create("stablehlo.return", operands=[larger])
    return op.results[0]
