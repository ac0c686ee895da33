"""`stablehlo-fold-identity`: slices of scalars and reshapes to the same shape are their operand.

Upstream's conversion to linalg crashes on a slice without an index, and on an unsigned scalar that
is reshaped.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class StablehloFoldIdentity(ModulePass):
    """Fold dynamic slices and updates of scalars, and `stablehlo.reshape` to the same type."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            same = _same(op)
            if same is not None:
                replace_op(op, [same])


def _same(op: ir.Operation) -> ir.Value | None:
    """The operand that is the result of `op`, if one is."""
    operands = list(op.operands)
    if op.name == "stablehlo.dynamic_slice" and len(operands) == 1:
        return operands[0]
    if op.name == "stablehlo.dynamic_update_slice" and len(operands) == 2:
        return operands[1]
    if op.name == "stablehlo.reshape" and operands[0].type == op.results[0].type:
        return operands[0]
    return None
