"""`hlo-legalize-to-stablehlo`: MHLO ops, held unregistered in this MLIR, to StableHLO."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class HloLegalizeToStablehlo(ModulePass):
    """Legalize MHLO to StableHLO (in jaxlib's MLIR, the home of MHLO)."""

    def run(self, module: ir.Operation) -> None:
        if not _holds_mhlo(module):
            return
        from mlir_fp8 import mhlo
        from mlir_fp8.artifact import deserialize

        text = str(module.get_asm(print_generic_op_form=True, enable_debug_info=True))
        artifact = mhlo.legalize_to_artifact(mhlo.parse_mhlo(text, "module"), "module")
        replace_module(module, deserialize(artifact, context=module.context).operation)


def _holds_mhlo(module: ir.Operation) -> bool:
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = op.name.startswith("mhlo.")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


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
