"""The `algorithm` of a `dot_general`: its operands rounded or split, and its products."""

import dataclasses

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat, NonFinite
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    convert,
    convert_operand,
    element_type,
    has_static_shape,
    splat,
    with_element,
)

ALGORITHM_ROUNDING = "mlir_fp8.algorithm_rounding"
"""On a convert: that the algorithm of a dot asks for this rounding, also with excess precision."""

_TF32 = dataclasses.replace(FORMATS["f32"], name="tf32", mantissa_bits=10)

_PIECES = {3: 2, 6: 3, 9: 3}
"""How many pieces an operand is split into, by the number of primitive operations."""

_LOW_BITS = {"bf16": 16, "tf32": 13}


def apply_algorithm(op: ir.Operation) -> ir.Type:
    """Do what the algorithm says and drop it; the type in which the one dot left is to add up.

    To a dot of integers alone it means nothing. Raises `Fp8Error` for an algorithm that adds in
    another type than f32 and f64.
    """
    if all(isinstance(element_type(v), ir.IntegerType) for v in (*op.operands, *op.results)):
        del op.attributes["algorithm"]
        return _element(op.results[0].type)
    algorithm = _stablehlo.DotAlgorithm(op.attributes["algorithm"])
    accumulator = algorithm.accumulation_type
    if not isinstance(accumulator, ir.F32Type | ir.F64Type):
        raise op_error(
            op, f"has an algorithm that accumulates in {accumulator}; give one that does in f32"
        )
    for value in (*op.operands, *op.results):
        if str(element_type(value)) not in FORMATS:
            raise op_error(op, f"has an algorithm for floats, but {value.type}; give none")
    del op.attributes["algorithm"]
    primitives = algorithm.num_primitive_operations
    if primitives in _PIECES:
        _split(op, _LOW_BITS[str(algorithm.lhs_precision_type)], primitives)
    else:
        _round_operand(op, 0, algorithm.lhs_precision_type)
        _round_operand(op, 1, algorithm.rhs_precision_type)
    return accumulator


def _round_operand(op: ir.Operation, index: int, precision: ir.Type) -> None:
    source = FORMATS[str(element_type(op.operands[index]))]
    target = _TF32 if str(precision) == "tf32" else FORMATS[str(precision)]
    if _holds(target, source):
        return
    if target is not _TF32:
        convert_operand(op, index, precision)
        rounding = ir.OpResult(op.operands[index]).owner.operation
        rounding.attributes[ALGORITHM_ROUNDING] = ir.UnitAttr.get()
        return
    i32 = ir.IntegerType.get_signless(32)
    bits = {
        "exponent_bits": ir.IntegerAttr.get(i32, target.exponent_bits),
        "mantissa_bits": ir.IntegerAttr.get(i32, target.mantissa_bits),
    }
    operand = op.operands[index]
    with ir.InsertionPoint(op), op.location:
        op.operands[index] = build("reduce_precision", operand.type, [operand], bits)
    convert_operand(op, index, ir.F32Type.get())


def _holds(outer: FloatFormat, inner: FloatFormat) -> bool:
    """Whether every value of `inner`, non-finite ones included, is one of `outer`."""
    return (
        inner.mantissa_bits <= outer.mantissa_bits
        and inner.max <= outer.max
        and inner.smallest_subnormal >= outer.smallest_subnormal
        and (inner == outer or outer.nonfinite is NonFinite.IEEE754)
    )


def _split(op: ir.Operation, low_bits: int, primitives: int) -> None:
    """Make `op` the dot of the leading pieces, and add to it the dots of the others.

    Those of 3 and 6 leave out the smallest. The pieces of a number have its sign, so that where the
    leading dot is infinite the others are so, too, or NaN (infinity times a zero piece): that NaN
    is taken for zero, as XLA does it.
    """
    if not all(map(has_static_shape, (*op.operands, *op.results))):
        raise op_error(op, "has an algorithm of pieces, for static shapes: refine shapes first")
    count, f32 = _PIECES[primitives], ir.F32Type.get()
    declared = op.results[0].type
    attributes = {name: op.attributes[name] for name in op.attributes}
    with ir.InsertionPoint(op), op.location:
        sides = [_pieces(convert(operand, f32), low_bits, count) for operand in op.operands]
    op.operands[0], op.operands[1] = (side[0] for side in sides)
    sum_type = with_element(declared, f32)
    op.results[0].set_type(sum_type)
    last = count - 1 if primitives < 9 else 2 * count
    order = sorted(
        ((i, j) for i in range(count) for j in range(count) if 0 < i + j <= last),
        key=lambda pair: -sum(pair),
    )
    with ir.InsertionPoint.after(op), op.location:
        dots = [
            build("dot_general", sum_type, [sides[0][i], sides[1][j]], attributes) for i, j in order
        ]
        rest = dots[0]
        for dot in dots[1:]:
            rest = build("add", sum_type, [rest, dot])
        is_number = _compare("EQ", rest, rest)
        rest = build("select", sum_type, [is_number, rest, _zeros(sum_type)])
        total = build("add", sum_type, [op.results[0], rest])
        result = convert(total, _element(declared))
    op.results[0].replace_all_uses_except(result, ir.OpResult(total).owner.operation)


def _element(tensor: ir.Type) -> ir.Type:
    return ir.ShapedType(tensor).element_type


def _pieces(value: ir.Value, low_bits: int, count: int) -> list[ir.Value]:
    """`value` cut, toward zero, into pieces without low bits; the last loses what is left."""
    integers = with_element(value.type, ir.IntegerType.get_signless(32))
    is_finite = build(
        "is_finite", with_element(value.type, ir.IntegerType.get_signless(1)), [value]
    )
    zeros, mask = _zeros(value.type), splat(integers, -1 << low_bits)
    pieces = []
    for _ in range(count):
        bits = build("bitcast_convert", integers, [value])
        cut = build("and", integers, [bits, mask])
        head = build("bitcast_convert", value.type, [cut])
        pieces.append(build("select", value.type, [is_finite, head, zeros if pieces else value]))
        value = build("subtract", value.type, [value, head])
    return pieces


def _zeros(tensor: ir.Type) -> ir.Value:
    zero = ir.FloatAttr.get(_element(tensor), 0.0)
    value = ir.DenseElementsAttr.get_splat(tensor, zero)
    return build("constant", tensor, [], {"value": value})


def _compare(direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    i1 = with_element(lhs.type, ir.IntegerType.get_signless(1))
    how = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", i1, [lhs, rhs], {"comparison_direction": how})
