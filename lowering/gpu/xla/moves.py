"""Moves of codes between their quantization and dots, which the wide tensor makes instead.

Rounding is elementwise and the largest magnitude is that in any order, so both stay as they were.
"""

from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.moves import Move, move_data
from mlir_fp8.lowering.fp8.scaled_dot.uses import only_user

_MOVES = ("stablehlo.reshape", "stablehlo.transpose")


def moves_of(codes: ir.Value, is_wanted: Callable[[ir.Value], bool]) -> list[ir.Operation]:
    """The ops behind which `codes` are a wanted matrix, each the one reader of what is before it.

    None where `codes` are wanted as they are, and where they never become so.
    """
    found: list[ir.Operation] = []
    while not is_wanted(codes):
        op = only_user(codes)
        if op is None or op.name not in _MOVES:
            return []
        found.append(op)
        codes = op.results[0]
    return found


def has_copy(moves: list[ir.Operation]) -> bool:
    """Whether any of them is more than another shape for the same bytes."""
    return any(each.name == "stablehlo.transpose" and _reorders(each) for each in moves)


def moved(x: ir.Value, moves: list[ir.Operation]) -> ir.Value:
    """`x` after the same moves."""
    return move_data(x, [Move(each, 0) for each in moves])


def permutation(transpose: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))


def _reorders(transpose: ir.Operation) -> bool:
    sizes = ir.RankedTensorType(transpose.operands[0].type).shape
    long = [dim for dim in permutation(transpose) if sizes[dim] > 1]
    return long != sorted(long)
