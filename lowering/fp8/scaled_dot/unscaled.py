"""What is there in the place of an f8 tensor: the obstacle of an operand without one."""

from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.arithmetic.float_normalization import ARITHMETIC, MOVEMENT
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import is_data_movement, moves_through
from mlir_fp8.lowering.fp8.scaled_dot.values import is_small
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_DEPTH = 4
_LOOKED_THROUGH = ARITHMETIC | MOVEMENT | names("stablehlo", "abs convert negate")


def not_fp8(value: ir.Value, part: str) -> Obstacle:
    """What keeps `value` from being an f8 tensor, dequantized; see `wide_operand`."""
    op = producer(value)
    if op is None:
        return Obstacle("not-fp8", part, "an argument", value.location, _quantize(part))
    if _is_f8_behind(op, _DEPTH):
        return _in_the_way(op, part)
    element = element_type(op.operands[0]) if op.operands else None
    if op.name == "stablehlo.convert" and isinstance(element, ir.IntegerType):
        edit = "bitcast_convert codes to f8, or quantize before the dot"
        return Obstacle("not-fp8", part, f"converted from {element}", op.location, edit)
    return Obstacle("not-fp8", part, f"computed by {op.name}", op.location, _quantize(part))


def wide_operand(value: ir.Value, part: str, origin: Obstacle) -> Obstacle:
    """The obstacle that `part` is `value`; `origin`, of `not_fp8`, says what it comes from."""
    why = ", a type for scales" if "f8E8M0FNU" in str(value.type) else ""
    return replace(origin, message=f"{part} is {value.type}{why}, {origin.message}, not FP8 data")


def open_shape(value: ir.Value, part: str) -> Obstacle:
    """The obstacle of an f8 tensor whose sizes are not known."""
    message = f"{part} is made of {value.type}, whose shape is open"
    edit = "refine shapes first (stablehlo-refine-shapes)"
    return Obstacle("open-shape", part, message, value.location, edit)


def _quantize(part: str) -> str:
    return f"quantize {part} to f8 with a scale, and dequantize it before the dot"


def _is_f8_behind(op: ir.Operation, depth: int) -> bool:
    """Whether an f8 tensor comes in through converts, scales, moves and elementwise ops."""
    level = [op]
    for _ in range(depth):
        level = [each for each in level if each.name in _LOOKED_THROUGH and not len(each.regions)]
        operands = {operand for each in level for operand in each.operands}
        if any(map(is_small, operands)):
            return True
        level = [above for operand in operands if (above := producer(operand)) is not None]
    return False


def _in_the_way(op: ir.Operation, part: str) -> Obstacle:
    if is_data_movement(op):
        message = f"{op.name} stands between the dequantize and the dot"
        edit = f"apply {op.name} to the f8 tensor, and dequantize after it"
        if op.name in ("stablehlo.pad", "stablehlo.select") and not moves_through(op):
            message = f"{op.name} brings in other numbers than 0.0 before the dot"
        return Obstacle("movement-between", part, message, op.location, edit)
    message = f"{op.name} stands between the dequantize and the dot"
    edit = f"quantize the result of {op.name}"
    if op.name == "stablehlo.negate":
        edit += ", or negate the result of the dot"
    return Obstacle("non-linear-op", part, message, op.location, edit)
