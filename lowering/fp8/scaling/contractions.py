"""What dots and convolutions contract, whichever op they are."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_DOTS = frozenset({"stablehlo.dot_general", "fp8.scaled_dot"})
_CONVOLUTIONS = frozenset({"stablehlo.convolution", "fp8.scaled_convolution"})


def is_product(op: ir.Operation) -> bool:
    """Whether `op` is a dot or convolution of tensors of static shapes."""
    if op.name not in (*_DOTS, *_CONVOLUTIONS, "stablehlo.dot", RAGGED_DOT):
        return False
    return all(has_static_shape(value) for value in (*op.operands, *op.results))


def is_convolution(op: ir.Operation) -> bool:
    return op.name in _CONVOLUTIONS


def contracting_dims(op: ir.Operation, side: int) -> list[int]:
    """The dimensions of operand `side` that a product sums over; of a convolution, the features."""
    if is_convolution(op):
        convolution = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        features = (convolution.input_feature_dimension, convolution.kernel_input_feature_dimension)
        return [features[side]]
    if op.name == "stablehlo.dot":
        return [ir.RankedTensorType(op.operands[0].type).rank - 1] if side == 0 else [0]
    if op.name == RAGGED_DOT:
        return ragged_numbers(op)[("lhs_contracting", "rhs_contracting")[side]]
    numbers = _dot_numbers(op)
    return list((numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)[side])


def batching_dims(op: ir.Operation, side: int) -> list[int]:
    """The dimensions of operand `side` that a dot repeats over; of a convolution, none.

    Those of groups of a ragged dot are none of them.
    """
    if op.name == RAGGED_DOT:
        return ragged_numbers(op)[("lhs_batching", "rhs_batching")[side]]
    if op.name not in _DOTS:
        return []
    numbers = _dot_numbers(op)
    return list((numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)[side])


def repeated_dims(op: ir.Operation, side: int) -> list[int]:
    """The dimensions of operand `side` that are batches, or of a ragged dot groups."""
    groups = ragged_numbers(op)["rhs_group"] if op.name == RAGGED_DOT and side == 1 else []
    return [*batching_dims(op, side), *groups]


def _dot_numbers(op: ir.Operation) -> _stablehlo.DotDimensionNumbers:
    return _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
