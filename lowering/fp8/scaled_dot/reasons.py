"""Why a step after a dot stays outside: the obstacles that the walk along the epilogue meets."""

import math

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.activation import almost_gelu, almost_relu
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, read_scale

PARTS = {"stablehlo.add": "bias", "stablehlo.maximum": "activation"}


def other_users(
    value: ir.Value, found: list[ir.Operation], wanted: ir.Operation | None
) -> Obstacle | None:
    """What to say where the ops `found` all use `value`, of which `wanted` would be a step."""
    special = almost_gelu(value) or almost_relu(value)
    if special is not None or wanted is None:
        return special
    other = next((op for op in found if op != wanted), wanted)
    message = f"{other.name} also uses the value that {wanted.name} takes, so it must be kept"
    edit = f"compute what {other.name} needs otherwise, or leave {wanted.name} outside"
    part = PARTS.get(wanted.name, "output")
    return Obstacle("other-users", part, message, other.location, edit)


def other_type(op: ir.Operation, element: ir.Type, wanted: ir.Type) -> Obstacle:
    message = f"{op.name} is in {element}, the steps before it are in {wanted}"
    edit = f"compute all that follows the dot in {element}"
    part = PARTS.get(op.name, "output")
    return Obstacle("epilogue-types", part, message, op.location, edit)


def unplaced_scale(op: ir.Operation, scale: Scale, divides: bool) -> Obstacle | None:
    if scale.number is not None:
        message = f"{op.name} by {scale.number:g} is not the multiplication right after the dot"
        kind, edit = "alpha-position", "multiply by the constant right after the dot"
        if divides:
            kind = "alpha-divide"
            message = f"{op.name} by {scale.number:g} rounds otherwise than multiplying does"
            edit = f"multiply by {1 / scale.number if scale.number else math.inf:g}"
        return Obstacle(kind, "output", message, op.location, edit)
    message = f"{op.name} scales the result, and neither the sum of f8 products nor an f8 output"
    edit = "multiply it into an operand's scale, or quantize the result to f8 after it"
    return Obstacle("scale-position", "output", message, op.location, edit)


def scaled_by_product(op: ir.Operation, factor: ir.Value) -> Obstacle | None:
    """What to say of a product of two scales, if `factor` is one, in the place of a scale."""
    product = producer(factor)
    if product is None or product.name != "stablehlo.multiply":
        return None
    scales = [read_scale(operand) for operand in product.operands]
    if not all(scale is not None and scale.broadcasts for scale in scales):
        return None
    message = f"{op.name} by the product of two scales rounds otherwise than by one after the other"
    edit = "multiply by the scale of the rows, and its result by that of the columns"
    return Obstacle("scale-product", "output", message, product.location, edit)


def scale_from_amax(op: ir.Operation) -> Obstacle:
    message = "the output scale is computed from the amax of the same values"
    edit = "use the scale of an earlier step (delayed scaling)"
    return Obstacle("scale-from-amax", "output", message, op.location, edit)


def kept_in_place(reduce: ir.Operation) -> Obstacle:
    message = "what uses amax has side effects and stands before the end of the fused op"
    edit = "use amax after the dot's result is quantized"
    return Obstacle("side-effects", "amax", message, reduce.location, edit)
