"""The conversions of `float_codec` as StableHLO ops of every version, on tensors of any shape.

One algorithm serves both: it is emitted for scalars in the arith dialect, and each of its ops is
translated. Integers become signless ones of the same width, which StableHLO reads as signed.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering.codec import float_codec as codec
from mlir_fp8.lowering.rewriting.stablehlo import build, with_element

_OPS = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.andi": "and",
    "arith.bitcast": "bitcast_convert",
    "arith.extui": "convert",
    "arith.maxsi": "maximum",
    "arith.maxui": "maximum",
    "arith.minui": "minimum",
    "arith.ori": "or",
    "arith.select": "select",
    "arith.shli": "shift_left",
    "arith.shrui": "shift_right_logical",
    "arith.subf": "subtract",
    "arith.subi": "subtract",
    "arith.trunci": "convert",
    "arith.xori": "xor",
}
# The codec compares codes and magnitudes, whose top bit is clear, so that signed does for unsigned;
# the same holds for the operands of maxui and minui.
_DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE", "LT", "LE", "GT", "GE")
"""By the number of the arith predicate."""


def decode(fmt: FloatFormat, codes: ir.Value) -> ir.Value:
    """f32 from a tensor of ui8 with one code each; exact."""
    i8 = ir.IntegerType.get_signless(8)
    return _emit(i8, codes, lambda code: codec.decode(fmt, code))


def encode(fmt: FloatFormat, values: ir.Value) -> ir.Value:
    """ui8 codes nearest to a tensor of f32 or f64, ties to even; beyond the range as `codec`."""
    wide = ir.ShapedType(values.type).element_type
    return _emit(wide, values, lambda value: codec.encode(fmt, value, saturate=False))


def _emit(scalar: ir.Type, tensor: ir.Value, algorithm: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """The result of `algorithm`, written for a `scalar`, on every element of `tensor`."""
    with ir.Location.unknown():
        scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body):
            function = func.FuncOp("scalar", ir.FunctionType.get([scalar], []))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            result = algorithm(block.arguments[0])
    translation = _Translation(tensor)
    emitted = {block.arguments[0]: tensor}
    for op in block.operations:
        operands = [emitted[operand] for operand in op.operation.operands]
        emitted[op.operation.results[0]] = translation.of(op.operation, operands)
    return emitted[result]


class _Translation:
    """Scalar arith ops to StableHLO ops in the shape of `tensor`, where ops are inserted now."""

    def __init__(self, tensor: ir.Value) -> None:
        self._tensor = tensor
        self._shaped = ir.RankedTensorType(tensor.type)
        self._constants: dict[ir.Attribute, ir.Value] = {}
        self._shape = None if self._shaped.has_static_shape else _shape_of(tensor)

    def of(self, op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
        if op.name == "arith.constant":
            return self._constant(op.attributes["value"])
        result = self._tensor_of(op.results[0].type)
        if op.name != "arith.cmpi":
            return build(_OPS[op.name], result, operands)
        direction = _DIRECTIONS[ir.IntegerAttr(op.attributes["predicate"]).value]
        text = f"#stablehlo<comparison_direction {direction}>"
        attributes = {"comparison_direction": ir.Attribute.parse(text)}
        return build("compare", result, operands, attributes)

    def _tensor_of(self, scalar: ir.Type) -> ir.Type:
        is_code = isinstance(scalar, ir.IntegerType) and scalar.width == 8
        element = ir.IntegerType.get_unsigned(8) if is_code else scalar
        return with_element(self._shaped, element)

    def _constant(self, value: ir.Attribute) -> ir.Value:
        if value not in self._constants:
            self._constants[value] = self._splat(value)
        return self._constants[value]

    def _splat(self, value: ir.Attribute) -> ir.Value:
        tensor = self._tensor_of(value.type)
        if self._shape is None:
            everywhere = ir.DenseElementsAttr.get_splat(tensor, value)
            return build("constant", tensor, [], {"value": everywhere})
        scalar = ir.RankedTensorType.get([], value.type)
        one = ir.DenseElementsAttr.get_splat(scalar, value)
        dimensions = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        operands = [build("constant", scalar, [], {"value": one}), self._shape]
        return build("dynamic_broadcast_in_dim", tensor, operands, dimensions)


def _shape_of(tensor: ir.Value) -> ir.Value:
    """The shape of `tensor` as a tensor<rank x i32>."""
    i32 = ir.IntegerType.get_signless(32)
    scalar, single = ir.RankedTensorType.get([], i32), ir.RankedTensorType.get([1], i32)
    sizes: list[ir.Value] = []
    shaped = ir.RankedTensorType(tensor.type)
    for dimension in range(shaped.rank):
        attributes = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)}
        size = build("get_dimension_size", scalar, [tensor], attributes)
        sizes.append(build("reshape", single, [size]))
    axis = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
    return build("concatenate", ir.RankedTensorType.get([shaped.rank], i32), sizes, axis)
