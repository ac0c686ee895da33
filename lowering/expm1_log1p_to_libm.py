"""`expm1-log1p-to-libm`: math.expm1 and math.log1p become calls of the C library.

Upstream's convert-math-to-llvm expands them to exp(x) - 1 and log(1 + x), which lose every digit of
a small argument: expm1(1e-10) would be 0. This pass runs before it, on scalars.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.context import op_error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations

_ROUTINES = {
    ("math.expm1", "f32"): "expm1f",
    ("math.expm1", "f64"): "expm1",
    ("math.log1p", "f32"): "log1pf",
    ("math.log1p", "f64"): "log1p",
}


@dataclass(frozen=True)
class Expm1Log1pToLibm(ModulePass):
    """Call `expm1`, `log1p` and their f32 variants of the C library, which are exact to an ulp."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name in ("math.expm1", "math.log1p"):
                _to_call(module, op)


def _to_call(module: ir.Operation, op: ir.Operation) -> None:
    element = op.results[0].type
    routine = _ROUTINES.get((op.name, str(element)))
    if routine is None:
        raise op_error(op, f"on {element} has no C library routine: use it on f32 or f64 scalars")
    _declare(module, routine, element)
    with ir.InsertionPoint(op), op.location:
        call = ir.Operation.create(
            "func.call",
            results=[element],
            operands=list(op.operands),
            attributes={"callee": ir.FlatSymbolRefAttr.get(routine)},
        )
    op.results[0].replace_all_uses_with(call.results[0])
    op.erase()


def _declare(module: ir.Operation, routine: str, element: ir.Type) -> None:
    if routine in ir.SymbolTable(module):
        return
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]), ir.Location.unknown():
        ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(routine),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([element], [element])),
                "sym_visibility": ir.StringAttr.get("private"),
            },
            regions=1,
        )
