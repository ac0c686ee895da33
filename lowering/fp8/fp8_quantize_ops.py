"""`fp8-quantize-ops`: scaled FP8 operands and results around ops of any kind."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.scaling.operations import quantize_operations
from mlir_fp8.lowering.fp8.scaling.recipes import recipe_named


@dataclasses.dataclass(frozen=True)
class Fp8QuantizeOps(ModulePass):
    """Surround ops by quantizers: dequantize, the op in its wide type, amax and quantize.

    `ops` are names with commas between (`stablehlo.add,stablehlo.tanh`), or all: those that compute
    on floats. Results are dequantized for those who read them in wide types, so that signatures
    stay. The other options are those of `fp8-quantize-dots`; see docs/scaling.md.
    """

    ops: str = "all"
    recipe: str = "delayed"
    history: int = 1024
    margin: int = 0
    algorithm: str = "max"
    forward: str = "f8E4M3FN"
    backward: str = "f8E5M2"
    entry: str = "main"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        recipe = recipe_named(
            self.recipe,
            history=self.history,
            margin=self.margin,
            algorithm=self.algorithm,
            forward=self.forward,
            backward=self.backward,
        )
        decisions = quantize_operations(module, recipe, self.ops.split(","), self.entry)
        if self.remarks:
            print_remarks((each.location, str(each)) for each in decisions)
