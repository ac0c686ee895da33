"""`math-expand-in-f64`: transcendental functions of f32 become arithmetic in f64, rounded once.

Upstream calls the C library, which is scalar and differs between machines. This expands to
branch-free arith ops: LLVM vectorizes them, and the result is the same bits everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import with_element
from mlir_fp8.lowering.real_functions.expansions import FREEZE, TO_F32, expansion_of
from mlir_fp8.lowering.real_functions.real import Real
from mlir_fp8.lowering.rewriting.retype import element_type


@dataclass(frozen=True)
class MathExpandInF64(ModulePass):
    """Expand `math` functions on f32 and f16, scalars and vectors, to arithmetic in f64.

    A result is within 0.51 ULP of the exact one; special cases are C's. Functions of f64 are left
    to the C library, except exp, log and log1p with `fastmath<afn>`: these are within 2**-44, with
    subnormals flushed to zero. With `mlir_fp8.to_f32` they are expanded as on f32, unrounded. Erf,
    exp and tanh on f32 with `fastmath<afn>` stay in f32, within 2**-20 of the exact result.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            expansion = expansion_of(op)
            if expansion is not None:
                _expand(op, expansion)


def _expand(op: ir.Operation, expansion: Callable[..., Real]) -> None:
    with ir.InsertionPoint(op), op.location:
        value = expansion(*(_operand(_melted(value), op) for value in op.operands))
        declared = _declared(value, op.results[0].type)
    replace_op(op, [declared])


def _melted(value: ir.Value) -> ir.Value:
    if isinstance(value.owner, ir.Block) or value.owner.name != FREEZE:
        return value
    return value.owner.operands[0]


def _operand(value: ir.Value, op: ir.Operation) -> Real:
    if isinstance(element_type(value.type), ir.F16Type):
        return Real(arith.extf(with_element(value.type, ir.F32Type.get()), value))
    if TO_F32 in op.attributes and isinstance(value.owner, ir.Operation | ir.OpView):
        if value.owner.name != "arith.extf":  # a constant that was frozen
            return Real(value).narrow()
        (value,) = value.owner.operands
    return Real(value)


def _declared(value: Real, declared: ir.Type) -> ir.Value:
    if isinstance(element_type(declared), ir.F64Type):
        return value.value
    # LLVM calls a library for f64 to f16; rounding to f32 first costs 2**-13 ULP.
    single = value.narrow().value
    return single if single.type == declared else arith.truncf(declared, single)
