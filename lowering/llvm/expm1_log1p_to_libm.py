"""`expm1-log1p-to-libm`: math.expm1 and math.log1p on f64 become calls of the C library.

Upstream's convert-math-to-llvm expands them to exp(x) - 1 and log(1 + x), which cancel for small
arguments: expm1(1e-20) would be 0. This pass runs before it, on scalars; `math-expand-in-f64` has
the narrower floats.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.retype import element_type

_ROUTINES = {"math.expm1": "expm1", "math.log1p": "log1p"}


@dataclass(frozen=True)
class Expm1Log1pToLibm(ModulePass):
    """Call `expm1` and `log1p` of the C library, which are exact to an ulp in f64."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, *_ROUTINES):
            _to_call(module, op, _ROUTINES[op.name])


def _to_call(module: ir.Operation, op: ir.Operation, routine: str) -> None:
    element = op.results[0].type
    if not isinstance(element, ir.F64Type):
        is_expanded = str(element_type(element)) in ("f16", "f32")
        way_out = "run math-expand-in-f64 before" if is_expanded else "use f64 scalars"
        raise op_error(op, f"on {element} is not a call: {way_out}")
    _declare(module, routine, element)
    with ir.InsertionPoint(op), op.location:
        call = ir.Operation.create(
            "func.call",
            results=[element],
            operands=list(op.operands),
            attributes={"callee": ir.FlatSymbolRefAttr.get(routine)},
        )
    replace_op(op, call.results)


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
