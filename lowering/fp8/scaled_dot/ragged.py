"""Ragged dots of small floats, with the scales of the sum behind them, as one fused op."""

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers, producer
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects._fp8_product_rules import STEP_TYPES
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, is_ragged_batch
from mlir_fp8.lowering.fp8.ops.ragged import has_scaled_form
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import move_data
from mlir_fp8.lowering.fp8.scaled_dot.operand import Operand
from mlir_fp8.lowering.fp8.scaled_dot.product import Product
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user, other_operand
from mlir_fp8.lowering.rewriting.stablehlo import element_type


def groups_obstacle(op: ir.Operation) -> Obstacle:
    """What every library lacks for a ragged dot."""
    message = f"{op.name} multiplies groups of rows, which no library's scaled dot does"
    edit = "write it as dots of its groups, or take fp8-kernels-for-xla-gpu"
    return Obstacle("groups", "dot", message, op.location, edit)


def ragged_obstacle(op: ir.Operation, lhs: Operand, rhs: Operand) -> Obstacle | None:
    """What keeps a `chlo.ragged_dot` of small floats from being one fused op, or nothing."""
    if is_ragged_batch(op) or not has_scaled_form(op):
        message = f"{op.name} has batches, or other dimensions than fp8.scaled_ragged_dot"
        edit = "write it as one dot, or as ragged dots of matrices"
        return Obstacle("groups", "dot", message, op.location, edit)
    scaled = next((part for part, each in (("lhs", lhs), ("rhs", rhs)) if each.scale), "")
    if scaled:
        message = f"{op.name} multiplies what is scaled before; fp8.scaled_ragged_dot scales sums"
        edit = f"multiply the FP8 numbers of {scaled} themselves, and then the result by the scale"
        return Obstacle("groups", scaled, message, op.location, edit)
    if str(element_type(op.results[0])) not in STEP_TYPES:
        message = f"{op.name} gives {element_type(op.results[0])}"
        edit = "take f32, bf16 or f16 as its result"
        return Obstacle("groups", "dot", message, op.location, edit)
    return None


def fuse_ragged(product: Product) -> ir.Operation:
    """The fused op in the place of a ragged dot, of multiplications by scales of rank 0 that follow
    an f32 sum, and of the conversion behind them."""
    op, value = product.op, product.op.results[0]
    scales: list[ir.Value] = []
    while len(scales) < 2 and (scale := _scale_of(value)) is not None:
        scales.append(scale)
        value = _user(value).results[0]
    converted = only_user(value)
    if converted is not None and _converts_sum(converted):
        value = converted.results[0]
    last = ir.OpResult(value).owner.operation
    names = dict(zip(("a_scale", "b_scale"), scales, strict=False))
    with ir.InsertionPoint(last), op.location:
        a, b = (move_data(side.source, side.moves) for side in (product.lhs, product.rhs))
        fused = fp8.scaled_ragged_dot(
            a,
            b,
            op.operands[2],
            ragged_dot_dimension_numbers=op.attributes[NUMBERS],
            result_element=ir.RankedTensorType(value.type).element_type,
            fast_accum=product.fast_accum,
            **names,
        )
    value.replace_all_uses_with(fused)
    erase_with_producers(last, lambda each: each.name.startswith(("stablehlo.", "chlo.")))
    return ir.OpResult(fused).owner.operation


def _user(value: ir.Value) -> ir.Operation:
    user = only_user(value)
    assert user is not None
    return user


def _converts_sum(op: ir.Operation) -> bool:
    if op.name != "stablehlo.convert" or not isinstance(element_type(op.operands[0]), ir.F32Type):
        return False
    return str(element_type(op.results[0])) in STEP_TYPES


def _scale_of(value: ir.Value) -> ir.Value | None:
    """The f32 of rank 0 that the only user of `value`, f32, multiplies all of it by."""
    user = only_user(value)
    if user is None or user.name != "stablehlo.multiply":
        return None
    if not isinstance(element_type(value), ir.F32Type):
        return None
    spread = producer(other_operand(user, value))
    if spread is None or spread.name != "stablehlo.broadcast_in_dim":
        return None
    scale = spread.operands[0]
    return scale if str(scale.type) == "tensor<f32>" else None
