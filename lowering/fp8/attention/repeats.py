"""Values behind broadcasts, reshapes and transposes, as index maps."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaled_dot.moves import Move, move_scale
from mlir_fp8.lowering.fp8.scaled_dot.spread import Spread
from mlir_fp8.lowering.rewriting.stablehlo import names

MOVES = names("stablehlo", "broadcast_in_dim reshape transpose")


def unmoved(value: ir.Value) -> ir.Value:
    """`value`, before broadcasts to its own type and the like."""
    while (op := producer(value)) is not None and op.name in MOVES:
        if op.name == "stablehlo.transpose" or op.operands[0].type != value.type:
            break
        value = op.operands[0]
    return value


def moved(spread: Spread, op: ir.Operation) -> Spread | None:
    """`spread` of the operand of `op`, of `MOVES`, as that of its result."""
    return move_scale(spread, Move(op, 0))


def spread_of(value: ir.Value) -> Spread:
    """The fewest elements that `value` repeats, as far as `MOVES` tell."""
    chain: list[ir.Operation] = []
    root = value
    while (op := producer(root)) is not None and op.name in MOVES:
        chain.append(op)
        root = op.operands[0]
    return along(Spread.whole(root), chain[::-1], value)


def along(spread: Spread, chain: Sequence[ir.Operation], end: ir.Value) -> Spread:
    """`spread` after all of `chain`, which gives `end`; `end` as it is where a cut is untold."""
    found: Spread | None = spread
    for op in chain:
        found = None if found is None else moved(found, op)
    if found is None or found.compact_shape is None:
        return Spread.whole(end)
    return found
