"""`fp8-quantize-ops`: scaled FP8 operands and results around ops of any kind."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.operations import quantize_operations
from mlir_fp8.lowering.fp8.scaling.options import ScalingPass


@dataclass(frozen=True)
class Fp8QuantizeOps(ScalingPass):
    """Surround ops by quantizers: dequantize, the op in its wide type, amax and quantize.

    `ops` are names with commas between (`stablehlo.add,stablehlo.tanh`), or all: those that compute
    on floats. Results are dequantized for those who read them in wide types, so that signatures
    stay. The other options are those of `fp8-quantize-dots`; see docs/scaling.md.
    """

    ops: str = "all"

    def run(self, module: ir.Operation) -> None:
        names = self.ops.split(",")
        self.remark(quantize_operations(module, self.scaling(), names, self.entry))
