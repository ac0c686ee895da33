"""`math-freeze-constants`: functions of constants are computed as all others are.

Upstream's folders compute them by the C library of the machine that compiles, in f32 to within some
ULP, and take atan2(0, 0) for NaN. They do not look through `llvm.freeze`, which
`math-expand-in-f64` takes away.
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

    Only where canonicalization may make a constant of it: what is computed from constants alone.
    What is frozen already is not any more.
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
