"""Inlines StableHLO's bodies, which compute on rank-0 tensors, into scalar code."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor


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
