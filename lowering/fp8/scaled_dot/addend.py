"""What is added to a dot: the matrix `c`, times `beta`, or the vector `bias`."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_scales import DATA_TYPES, WIDE_TYPES
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale, read_scale
from mlir_fp8.lowering.fp8.scaled_dot.uses import other_operand
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type

_BIAS_TYPES = ("f32", "bf16", "f16")


@dataclass(frozen=True)
class Matrix:
    """`value`, of the result's shape, times the constant `beta`, if any."""

    value: ir.Value
    beta: float | None


@dataclass(frozen=True)
class Bias:
    """One number for each index along the dimension `size` is that of."""

    numbers: Scale
    size: int

    def build(self) -> ir.Value:
        if not self.numbers.is_single:
            return self.numbers.build([self.size], _BIAS_TYPES)
        single = self.numbers.build([], _BIAS_TYPES)
        element = element_type(single)
        assert element is not None
        vector = ir.RankedTensorType.get([self.size], element)
        dimensions = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        return build("broadcast_in_dim", vector, [single], dimensions)


def match_addend(op: ir.Operation, value: ir.Value, dimension: int) -> Matrix | Bias | Obstacle:
    """What `op` adds to `value`, whose dimension `dimension` a bias runs along."""
    other = other_operand(op, value)
    numbers = read_scale(other)
    if numbers is None or not numbers.broadcasts or not shape(value):
        return _matrix(other)
    carried = numbers.spread.carried()
    if carried in ([], [dimension]) and numbers.spread.compact_shape is not None:
        size = shape(value)[dimension]
        if numbers.is_single or numbers.spread.compact_shape[dimension] == size:
            return Bias(numbers, size)
    message = f"{op.name} adds a broadcast along dimensions {carried}, not {dimension} alone"
    edit = (
        f"add a vector of {shape(value)[dimension]} elements broadcast along dimension {dimension}"
    )
    return Obstacle("bias-dimension", "bias", message, op.location, edit)


def _matrix(value: ir.Value) -> Matrix:
    op = producer(value)
    if op is not None and op.name == "stablehlo.multiply":
        for factor, matrix in ((0, 1), (1, 0)):
            beta = splat_number(op.operands[factor])
            if beta is not None:
                return Matrix(_unconverted(op.operands[matrix]), beta)
    return Matrix(_unconverted(value), None)


def _unconverted(value: ir.Value) -> ir.Value:
    """`value` before a convert, which the op does itself."""
    op = producer(value)
    if op is None or op.name != "stablehlo.convert":
        return value
    source = str(element_type(op.operands[0]))
    return op.operands[0] if source in (*DATA_TYPES, *WIDE_TYPES) else value
