"""`math-freeze-constants`: keeps functions of constants from upstream's folders.

These call the C library of the compiling machine, which is some ULP off in f32, and fold atan2(0,
0) to NaN. They don't look through `llvm.freeze`, which `math-expand-in-f64` removes.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.real_functions.expansions import FREEZE, has_expansion
from mlir_fp8.lowering.real_functions.of_constants import Constants


@dataclass(frozen=True)
class MathFreezeConstants(ModulePass):
    """Freeze the first operand of scalar functions that `math-expand-in-f64` knows.

    Only operands that canonicalization may fold: those computed from constants alone. A freeze that
    is there already is removed.
    """

    def run(self, module: ir.Operation) -> None:
        constants = Constants()
        ops = operations(module)
        functions = [op for op in ops if has_expansion(op)]
        for op in [op for op in ops if op.name == FREEZE]:
            replace_op(op, [op.operands[0]])
        for op in functions:
            if not isinstance(op.results[0].type, ir.FloatType):
                continue
            operand = op.operands[0]
            if constants.may_hold(operand):
                with ir.InsertionPoint(op), op.location:
                    frozen = ir.Operation.create(FREEZE, [operand.type], [operand])
                op.operands[0] = frozen.results[0]
