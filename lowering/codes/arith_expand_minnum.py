"""`arith-expand-minnum`: -0 is less than +0 in `minnumf` and `maxnumf`.

LLVM leaves open which of two zeros `arith.minnumf` and `maxnumf` give, and upstream's folder and
the machine disagree. `minimumf` and `maximumf` order them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class ArithExpandMinnum(ModulePass):
    """Replace `arith.minnumf` by `minimumf` and `maxnumf` by `maximumf`, with selects for NaN.

    Where one operand is NaN, the result is the other.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            ordered = _ORDERED.get(op.name)
            if ordered is None:
                continue
            a, b = op.operands
            with ir.InsertionPoint(op), op.location:
                value = arith.select(_is_nan(b), a, ordered(a, b))
                value = arith.select(_is_nan(a), b, value)
            replace_op(op, [value])


def _is_nan(value: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.UNO, value, value)


_ORDERED: dict[str, Callable[[ir.Value, ir.Value], ir.Value]] = {
    "arith.maxnumf": arith.maximumf,
    "arith.minnumf": arith.minimumf,
}
