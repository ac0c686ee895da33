"""Which elementwise ops a kernel computes in front of a quantization, and of what operands."""

import math

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand, users
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.elementwise import DIRECTIONS, OPS
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

FUSED = names(
    "stablehlo",
    """abs add and broadcast_in_dim clamp compare concatenate convert cosine divide exponential
    exponential_minus_one iota log log_plus_one logistic maximum minimum multiply negate or pad
    power reshape rsqrt select sign sine slice sqrt subtract tanh transpose""",
) | names("chlo", "erf erfc square")
"""What XLA computes within the kernel that reads it."""
STEPS = {f"stablehlo.{op}": op for op in OPS} | {"chlo.square": "multiply"}
_DOTS = ("stablehlo.dot_general", "stablehlo.convolution", "fp8.scaled_dot")


def is_taken(op: ir.Operation, root: ir.Operation) -> bool:
    """Whether a kernel that computes `root` can compute `op` too."""
    if op.name not in STEPS or op.block != root.block or is_of_dot(op):
        return False
    if splat_number(op.results[0]) is not None:
        return False
    shape = ir.RankedTensorType(root.results[0].type).shape
    if not _has_numbers(op.results[0], shape) and not _has_flags(op.results[0], shape):
        return False
    if op.name == "stablehlo.compare" and direction_of(op) not in DIRECTIONS:
        return False
    return all(_is_operand(each, shape, root) for each in op.operands)


def inner_ops(op: ir.Operation, root: ir.Operation) -> list[ir.Operation]:
    """The ops that make operands of `op`, each once, which a kernel computes too."""
    found: list[ir.Operation] = []
    for operand in op.operands:
        each = producer(operand)
        if each is not None and each not in found and is_taken(each, root):
            found.append(each)
    return found


def _is_operand(value: ir.Value, shape: list[int], root: ir.Operation) -> bool:
    if _has_numbers(value, shape):
        return True
    if not ir.RankedTensorType(value.type).rank:  # a bound of clamp
        return str(element_type(value)) in ELEMENTS
    maker = producer(value)
    return _has_flags(value, shape) and maker is not None and is_taken(maker, root)


def _has_numbers(value: ir.Value, shape: list[int]) -> bool:
    type_ = ir.RankedTensorType(value.type)
    return str(type_.element_type) in ELEMENTS and type_.shape == shape


def _has_flags(value: ir.Value, shape: list[int]) -> bool:
    type_ = ir.RankedTensorType(value.type)
    return str(type_.element_type) == "i1" and type_.shape == shape


def direction_of(op: ir.Operation) -> str:
    """That of a comparison of floats; "" of other ops."""
    if op.name != "stablehlo.compare":
        return ""
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        return "TOTALORDER"
    return str(op.attributes["comparison_direction"]).rstrip(">").split()[-1]


def is_of_dot(op: ir.Operation) -> bool:
    """Whether XLA computes `op` in the call of the dot before it: its scale, a narrower result."""
    if op.name == "stablehlo.convert":
        x = op.operands[0]
        if str(element_type(x)) != "f32" or str(element_type(op.results[0])) == "f32":
            return False
    elif op.name in ("stablehlo.multiply", "stablehlo.divide"):
        scales = [each for each in op.operands if _is_one_number(each)]
        if not scales:
            return False
        x = other_operand(op, scales[0])
    else:
        return False
    maker = producer(x)
    if maker is None or users(x) != [op]:
        return False
    return maker.name in _DOTS or is_of_dot(maker)


def _is_one_number(value: ir.Value) -> bool:
    spread = spread_of(value)
    return splat_number(value) is not None or (spread is not None and spread[1] == "none")


def spread_of(value: ir.Value) -> tuple[ir.Value, str] | None:
    """What is broadcast to `value`, and with what of a matrix that varies."""
    type_ = ir.RankedTensorType(value.type)
    if not type_.rank:
        return value, "none"
    op = producer(value)
    if op is None or op.name != "stablehlo.broadcast_in_dim":
        return None
    one = op.operands[0]
    sizes = list(ir.RankedTensorType(one.type).shape)
    to = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    if math.prod(sizes) == 1:
        return one, "none"
    spread = [1] * type_.rank
    for size, dim in zip(sizes, to, strict=True):
        spread[dim] = size
    *leading, columns = type_.shape
    if to != sorted(to):
        return None
    if spread == [*leading, 1]:
        return one, "rows"
    return (one, "columns") if spread == [*[1] * len(leading), columns] else None
