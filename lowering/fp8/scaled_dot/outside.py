"""What keeps a quantization that comes later from the dot that it quantizes."""

from torch_mlir import ir

from mlir_fp8.lowering.arithmetic.float_normalization import ARITHMETIC
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import is_data_movement
from mlir_fp8.lowering.fp8.scaled_dot.quantization import is_quantizing
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.rewriting.stablehlo import names

_LIMIT = 16
_ELEMENTWISE = ARITHMETIC | names("stablehlo", "abs convert negate")


def left_outside(value: ir.Value) -> Obstacle | None:
    """The op after `value` that is in the way of a quantization of it, if there is one."""
    first = op = only_user(value)
    for _ in range(_LIMIT):
        if op is None or len(op.results) != 1:
            return None
        result = op.results[0]
        if op.name == "fp8.quantize" or is_quantizing(op):
            return None if first is None or first == op else _in_the_way(first)
        if op.name not in _ELEMENTWISE and not (is_data_movement(op) and shape(result)):
            return None
        op = only_user(result)
    return None


def _in_the_way(op: ir.Operation) -> Obstacle:
    message = f"{op.name} stands between the dot and the quantization of its result"
    if is_data_movement(op):
        edit = f"quantize before {op.name}, and apply that to the f8 tensor"
        return Obstacle("movement-between", "output", message, op.location, edit)
    edit = f"quantize before {op.name}, or leave it to be quantized on its own"
    return Obstacle("non-linear-op", "output", message, op.location, edit)
