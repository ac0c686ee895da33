"""`boolean-add-to-or`: StableHLO's sum of two i1 is their `or`.

linalg adds them as 1-bit integers, which wrap around: true plus true would be false.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type


@dataclass(frozen=True)
class BooleanAddToOr(ModulePass):
    """Make `stablehlo.or` of `stablehlo.add` on i1, in bodies too."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, inner_first=True):
            if op.name == "stablehlo.add" and str(element_type(op.results[0])) == "i1":
                with ir.InsertionPoint(op), op.location:
                    either = build("or", op.results[0].type, list(op.operands))
                replace_op(op, [either])
