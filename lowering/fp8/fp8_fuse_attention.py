"""`fp8-fuse-attention`: products with a softmax between them become one op each."""

import sys
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.attention.fuse import fuse_attention
from mlir_fp8.lowering.fp8.scaled_dot.findings import remarks


@dataclass(frozen=True)
class Fp8FuseAttention(ModulePass):
    """Fuse q . k, scale, masks, softmax in f32 and the product with v into an `fp8.attention`.

    Q, K, V and the probabilities may be of f8 with scales, or wide; heads of K and V may be shared.
    The results stay the same: the op records where the program rounds, and sums may only add in
    another order. Calls of private functions are inlined. Run it before `fp8-fuse-scaled-dot`.

    Options: `allow-excess-precision` scales scores in f32 where a program does in bf16 or f16,
    before it converts them: results then lack a rounding that the program has. `remarks` prints on
    stderr what became of each softmax, and what is in the way.
    """

    allow_excess_precision: bool = False
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        findings = fuse_attention(module, allow_excess_precision=self.allow_excess_precision)
        if self.remarks:
            for line in (line for finding in findings for line in remarks(finding)):
                print(line, file=sys.stderr)
