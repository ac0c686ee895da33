"""Inlines StableHLO's bodies, which compute on rank-0 tensors, into scalar code."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.rewriting.stablehlo import names

_REDUCTIONS = names("stablehlo", "reduce reduce_window select_and_scatter")


def refuse_in_reduction(op: ir.Operation, reason: str) -> None:
    """The body of a reduction becomes that of one linalg op, which holds scalar ops alone.

    In `reason` {} stands for the reduction's name.
    """
    parent = op.block.owner.operation
    while parent.name != "builtin.module":
        if parent.name in _REDUCTIONS:
            raise op_error(op, reason.format(parent.name))
        parent = parent.block.owner.operation


def inline_body(body: ir.Block, elements: Sequence[ir.Value]) -> list[ir.Value]:
    """Move the ops of `body` to the current insertion point; the scalars that it returns.

    `elements` are the scalars that its arguments stand for. The ops stay on rank-0 tensors, for the
    passes that lower them. `body` is left with its terminator alone.
    """
    for argument, element in zip(body.arguments, elements, strict=True):
        argument.replace_all_uses_with(tensor.from_elements(argument.type, [element]))
    *computation, terminator = [op.operation for op in body.operations]
    results = [tensor.extract(value, []) for value in terminator.operands]
    for op in computation:
        op.move_before(results[0].owner)
    return results
