"""`fp8-fuse-scaled-dot`: dots and convolutions of scaled f8 tensors become one op each."""

import sys
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaled_dot.findings import remarks
from mlir_fp8.lowering.fp8.scaled_dot.fuse import fuse


@dataclass(frozen=True)
class Fp8FuseScaledDot(ModulePass):
    """Fuse dequantize, dot or convolution, epilogue and quantize into one op of the `fp8` dialect.

    The module's results stay the same to the bit, but for which NaN a NaN is: the fused op records
    where the program rounds. Calls of private functions are inlined.

    Options: `assume-finite-scales` lets zeros that are added to scaled data be added before; the
    results then differ where a scale is infinite, NaN, zero or negative. `remarks` prints on stderr
    what became of each dot and convolution, and what is in the way of the rest.
    """

    assume_finite_scales: bool = False
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        findings = fuse(module, assume_finite_scales=self.assume_finite_scales)
        if self.remarks:
            for line in (line for finding in findings for line in remarks(finding)):
                print(line, file=sys.stderr)
