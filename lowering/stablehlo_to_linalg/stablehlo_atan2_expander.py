"""`stablehlo-atan2-expander`: angles of complex numbers of f32."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand


@dataclass(frozen=True)
class StablehloAtan2Expander(ModulePass):
    """Compute `atan2` of complex<f32> in complex<f64>; others are left alone.

    LLVM does not finish on what upstream makes of it in f32.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, inner_first=True):
            if op.name == "stablehlo.atan2" and "complex<f32>" in str(op.results[0].type):
                expand(op, _program)


def _program(op: ir.Operation) -> str:
    narrow = str(op.results[0].type)
    wide = narrow.replace("complex<f32>", "complex<f64>")
    return f"""func.func @atan2(%a: {narrow}, %b: {narrow}) -> {narrow} {{
      %x = stablehlo.convert %a : ({narrow}) -> {wide}
      %y = stablehlo.convert %b : ({narrow}) -> {wide}
      %angle = stablehlo.atan2 %x, %y : {wide}
      %result = stablehlo.convert %angle : ({wide}) -> {narrow}
      return %result : {narrow}
    }}"""
