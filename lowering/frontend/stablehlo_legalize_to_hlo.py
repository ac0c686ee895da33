"""`stablehlo-legalize-to-hlo`: StableHLO to MHLO ops, which this MLIR holds unregistered."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.hlo_legalize_to_stablehlo import refuse_foreign, replace_module


@dataclass(frozen=True)
class StablehloLegalizeToHlo(ModulePass):
    """Legalize StableHLO to MHLO (in jaxlib's MLIR, the home of MHLO)."""

    def run(self, module: ir.Operation) -> None:
        from mlir_fp8.artifacts import mhlo
        from mlir_fp8.artifacts.portable import fit_of, write

        refuse_foreign(
            module,
            {"builtin", "func", "stablehlo"},
            "does not become MHLO: only func and stablehlo ops do "
            "(chlo ones after chlo-legalize-to-stablehlo)",
        )
        artifact = write(module, fit_of(module, "module"), mhlo.bridge_version())
        text = mhlo.legalize_from_artifact(artifact)
        module.context.allow_unregistered_dialects = True
        replace_module(module, ir.Module.parse(text, module.context).operation)
