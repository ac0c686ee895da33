"""`stablehlo-cbrt-expander`: cube roots of complex numbers."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import element_type
from mlir_fp8.lowering.rewriting.text_expansion import expand


@dataclass(frozen=True)
class StablehloCbrtExpander(ModulePass):
    """Replace `cbrt` of complex numbers by its polar form: cbrt(r) at a third of the angle.

    That is the principal root, as in XLA; cbrt(0) is 0. Real numbers are left alone.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, inner_first=True):
            if op.name == "stablehlo.cbrt" and isinstance(
                element_type(op.operands[0]), ir.ComplexType
            ):
                expand(op, _program)


def _program(op: ir.Operation) -> str:
    whole = str(op.operands[0].type)
    part = whole.replace("complex<", "").replace(">>", ">")
    return f"""func.func @cbrt(%z: {whole}) -> {whole} {{
      %x = stablehlo.real %z : ({whole}) -> {part}
      %y = stablehlo.imag %z : ({whole}) -> {part}
      %three = stablehlo.constant dense<3.0> : {part}
      %length = stablehlo.abs %z : ({whole}) -> {part}
      %root = stablehlo.cbrt %length : {part}
      %angle = stablehlo.atan2 %y, %x : {part}
      %third = stablehlo.divide %angle, %three : {part}
      %cosine = stablehlo.cosine %third : {part}
      %sine = stablehlo.sine %third : {part}
      %real = stablehlo.multiply %root, %cosine : {part}
      %imag = stablehlo.multiply %root, %sine : {part}
      %result = stablehlo.complex %real, %imag : {whole}
      return %result : {whole}
    }}"""
