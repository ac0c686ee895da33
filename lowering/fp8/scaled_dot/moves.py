"""Data movement between the dequantize and the dot, hoisted to the f8 tensor."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.spread import Spread
from mlir_fp8.lowering.fp8.scaled_dot.values import format_of, is_positive_zero, shape
from mlir_fp8.lowering.rewriting.shardings import is_constraint
from mlir_fp8.lowering.rewriting.stablehlo import build, names, with_element

_MOVES = names("stablehlo", "broadcast_in_dim dynamic_slice reshape reverse slice transpose")
_WITH_ZEROS = names("stablehlo", "pad select")


@dataclass(frozen=True)
class Move:
    """A move of `operand`, one of the op's operands; the elements it adds are zeros, if any."""

    op: ir.Operation
    operand: int

    @property
    def adds_zeros(self) -> bool:
        return self.op.name in _WITH_ZEROS


def moves_through(op: ir.Operation) -> list[Move]:
    """The ways in which `op` only moves one operand, apart from zeros that it may add."""
    if op.name in _MOVES or is_constraint(op):
        return [Move(op, 0)]
    if op.name == "stablehlo.pad":
        return [Move(op, 0)] if is_positive_zero(op.operands[1]) else []
    if op.name == "stablehlo.select":
        return [Move(op, i) for i, j in ((1, 2), (2, 1)) if is_positive_zero(op.operands[j])]
    return []


def is_data_movement(op: ir.Operation) -> bool:
    """Whether `op` keeps values, also where it cannot be moved itself."""
    kept = (
        _MOVES
        | _WITH_ZEROS
        | names("stablehlo", "concatenate dynamic_update_slice gather optimization_barrier sort")
    )
    return op.name in kept or is_constraint(op)


def move_data(value: ir.Value, moves: Sequence[Move]) -> ir.Value:
    """`value` moved as `moves` say, built at the insertion point."""
    element = ir.RankedTensorType(value.type).element_type
    for index, move in enumerate(moves):
        result = with_element(move.op.results[0].type, element)
        name = move.op.name.removeprefix("stablehlo.")
        if name == "reshape":
            # Splitting a dimension for a block scale and joining it again leaves nothing to do.
            if any(each.op.name == move.op.name for each in moves[index + 1 : index + 2]):
                continue
            value = _before_reshape(value)
            if value.type == result:
                continue
        operands = list(move.op.operands)
        operands[move.operand] = value
        if name == "pad":
            operands[1] = _zeros(ir.RankedTensorType.get([], element))
        if name == "select":
            operands[3 - move.operand] = _zeros(result)
        attributes = {key: move.op.attributes[key] for key in move.op.attributes}
        with move.op.location:
            value = build(name, result, operands, attributes)
    return value


def _before_reshape(value: ir.Value) -> ir.Value:
    op = producer(value)
    return op.operands[0] if op is not None and op.name == "stablehlo.reshape" else value


def move_scale(spread: Spread, move: Move) -> Spread | None:
    """The numbers that meet the moved data; None where the move cuts or mixes what they scale."""
    op, result = move.op, shape(move.op.results[0])
    numbers = _Attributes(op)
    if spread.is_single:
        return spread.broadcast_in_dim([], result)
    if is_constraint(op):
        return spread
    match op.name.removeprefix("stablehlo."):
        case "broadcast_in_dim":
            return spread.broadcast_in_dim(numbers["broadcast_dimensions"], result)
        case "transpose":
            return spread.transpose(numbers["permutation"])
        case "reshape":
            return spread.reshape(result)
        case "reverse":
            return spread.reverse(numbers["dimensions"])
        case "slice":
            return spread.slice(
                numbers["start_indices"], numbers["limit_indices"], numbers["strides"]
            )
        case "select":
            return spread
    # Moves along dimensions that share their numbers leave the others' in place.
    changed = [i for i, size in enumerate(shape(op.operands[0])) if _touches(op, i, size)]
    if set(changed) & set(spread.carried()):
        return None
    kept = [i for i in range(len(result)) if i not in changed]
    return spread.transpose(kept).broadcast_in_dim(kept, result)


def _touches(op: ir.Operation, dimension: int, size: int) -> bool:
    if op.name == "stablehlo.dynamic_slice":
        return shape(op.results[0])[dimension] != size
    numbers = _Attributes(op)
    return any(
        numbers[key][dimension]
        for key in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )


class _Attributes:
    """The lists of numbers among an op's attributes."""

    def __init__(self, op: ir.Operation) -> None:
        self._op = op

    def __getitem__(self, name: str) -> list[int]:
        return list(ir.DenseI64ArrayAttr(self._op.attributes[name]))


def _zeros(tensor: ir.Type) -> ir.Value:
    element = ir.RankedTensorType(tensor).element_type
    assert format_of(element) is not None
    splat = ir.DenseElementsAttr.get_splat(tensor, ir.FloatAttr.get(element, 0.0))
    return build("constant", tensor, [], {"value": splat})
