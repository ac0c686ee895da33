"""`convert-unsigned-to-signless`: `ui8` becomes `i8`, and so on for every width.

StableHLO tells unsigned integers by their type, linalg and what follows by their ops. Legalization
has chosen the ops; what is left of the unsigned types are signatures, casts and moved values.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.retype import retype_signatures, retype_values

_CAST = "builtin.unrealized_conversion_cast"


@dataclass(frozen=True)
class ConvertUnsignedToSignless(ModulePass):
    """Turn unsigned integer types into signless ones, after `stablehlo-legalize-to-linalg`."""

    def run(self, module: ir.Operation) -> None:
        ops = operations(module)
        with ir.Location.unknown(module.context):
            retype_values(ops, _signless)
            retype_signatures(ops, _signless)
        for op in ops:
            if op.name == _CAST and [x.type for x in op.operands] == [x.type for x in op.results]:
                replace_op(op, op.operands)


def _signless(type_: ir.Type) -> ir.Type:
    if isinstance(type_, ir.IntegerType) and type_.is_unsigned:
        return ir.IntegerType.get_signless(type_.width)
    return type_
