"""`math-freeze-constants`: functions of constants are computed as all others are.

Upstream's folders compute them by the C library of the machine that compiles, in f32 to within some
ULP, and take atan2(0, 0) for NaN. They do not look through `llvm.freeze`, which
`math-expand-in-f64` takes away.
"""

from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering.math_expand_in_f64 import FREEZE, has_expansion


@dataclass(frozen=True)
class MathFreezeConstants(ModulePass):
    """Freeze the first operand of scalar functions that `math-expand-in-f64` knows.

    Only where canonicalization may make a constant of it: what is computed from constants alone.
    What is frozen already is not any more.
    """

    def run(self, module: ir.Operation) -> None:
        constants = _Constants()
        for op in operations(module):
            if op.name == FREEZE:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        for op in operations(module):
            if not has_expansion(op) or not isinstance(op.results[0].type, ir.FloatType):
                continue
            operand = op.operands[0]
            if constants.may_hold(operand):
                with ir.InsertionPoint(op), op.location:
                    frozen = ir.Operation.create(FREEZE, [operand.type], [operand])
                op.operands[0] = frozen.results[0]


@dataclass
class _Constants:
    _known: dict[ir.Value, bool] = field(default_factory=dict)

    def may_hold(self, value: ir.Value) -> bool:
        """Whether nothing but constants, sizes and counters of loops makes `value`."""
        if value not in self._known:
            self._known[value] = True  # of a loop that goes round, what comes in decides
            self._known[value] = self._is_made_of_constants(value)
        return self._known[value]

    def _is_made_of_constants(self, value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return self._is_argument_of_constants(ir.BlockArgument(value))
        op = value.owner.operation
        if op.name == "linalg.index":
            return False
        if op.name in ("arith.select", "scf.if") and self.may_hold(op.operands[0]):
            return True
        # Also what its regions read from outside.
        inside = operations(op) if len(op.regions) else [op]
        return all(self.may_hold(operand) for each in inside for operand in each.operands)

    def _is_argument_of_constants(self, argument: ir.BlockArgument) -> bool:
        op = argument.owner.owner.operation
        if op.name == "func.func":
            return False
        if op.name.startswith("linalg."):
            return self.may_hold(op.operands[argument.arg_number])
        # A loop's: counters, and what may go round once.
        return any(map(self.may_hold, op.operands))
