"""`complex-freeze-operands`: keeps complex arithmetic from folds that ignore rounding.

Upstream folds (a + b) - b, log(exp(a)) and a + 0 to a, also where a is -0, but not through
`llvm.freeze`. After `convert-complex-to-standard` all is real arithmetic, whose folders round as
the ops do: `math-freeze-constants` then removes these.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.real_functions.expansions import FREEZE
from mlir_fp8.lowering.rewriting.stablehlo import names

_FOLDED = names("complex", "add div exp log mul sub")


@dataclass(frozen=True)
class ComplexFreezeOperands(ModulePass):
    """Freeze both parts of the last operand of complex add, div, exp, log, mul and sub."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name in _FOLDED and isinstance(op.results[0].type, ir.ComplexType):
                last = len(op.operands) - 1
                with ir.InsertionPoint(op), op.location:
                    op.operands[last] = _frozen(op.operands[last])


def _frozen(value: ir.Value) -> ir.Value:
    part = ir.ComplexType(value.type).element_type
    parts = [_made(f"complex.{name}", part, value) for name in ("re", "im")]
    return _made("complex.create", value.type, *(_made(FREEZE, part, each) for each in parts))


def _made(name: str, type_: ir.Type, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(name, [type_], operands).results[0]
