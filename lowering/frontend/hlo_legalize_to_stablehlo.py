"""`hlo-legalize-to-stablehlo`: MHLO ops, held unregistered in this MLIR, to StableHLO."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class HloLegalizeToStablehlo(ModulePass):
    """Legalize MHLO to StableHLO (in jaxlib's MLIR, the home of MHLO)."""

    def run(self, module: ir.Operation) -> None:
        if not _holds_mhlo(module):
            return
        from mlir_fp8.artifacts import mhlo
        from mlir_fp8.artifacts.portable import read

        refuse_foreign(
            module,
            {"builtin", "func", "mhlo", "stablehlo", "chlo"},
            "cannot stand in one module with MHLO: only func, stablehlo and chlo ops can; "
            "legalize the MHLO part on its own",
        )
        text = str(module.get_asm(print_generic_op_form=True, enable_debug_info=True))
        try:
            # "-" is the file of locations that come from MHLO text.
            artifact = mhlo.legalize_to_artifact(mhlo.parse_mhlo(text, "-"), "-")
        except Fp8Error as error:
            raise Fp8Error(str(error).removeprefix("-: ")) from None
        replace_module(module, read(artifact, module.context, "-").operation)


def _holds_mhlo(module: ir.Operation) -> bool:
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = op.name.startswith("mhlo.")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def refuse_foreign(module: ir.Operation, dialects: set[str], reason: str) -> None:
    """Raise `Fp8Error` with `reason` for the first op that is of none of the `dialects`."""
    for op in operations(module):
        if op.name.partition(".")[0] not in dialects:
            raise op_error(op, reason)


def replace_module(module: ir.Operation, replacement: ir.Operation) -> None:
    """Give `module` the body and attributes of `replacement`, which is left empty."""
    body = module.regions[0].blocks[0]
    for op in list(body.operations):
        op.operation.erase()
    for op in list(replacement.regions[0].blocks[0].operations):
        body.append(op)
    for name in list(module.attributes):
        del module.attributes[name]
    for name, attribute in replacement.attributes.items():
        module.attributes[name] = attribute
