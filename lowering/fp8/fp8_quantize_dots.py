"""`fp8-quantize-dots`: dots and convolutions in f32, bf16 and f16 to scaled FP8."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.options import ScalingPass
from mlir_fp8.lowering.fp8.scaling.products import quantize_products
from mlir_fp8.lowering.fp8.scaling.selection import Selection


@dataclass(frozen=True)
class Fp8QuantizeDots(ScalingPass):
    """Make the dots and convolutions of a function scaled FP8, with scales by a recipe.

    See docs/scaling.md. Operands become `fp8.quantize` (saturating), products `fp8.scaled_dot` and
    `fp8.scaled_convolution` with the declared result type.

    Dots are left out by `mlir_fp8.skip` on them, and by `min-size`, `skip-first`, `skip-last` and
    `skip-batched`, see `Selection`; `ScalingPass` has the other options.
    """

    min_size: int = 0
    skip_first: int = 0
    skip_last: int = 0
    skip_batched: bool = False

    def run(self, module: ir.Operation) -> None:
        selection = Selection(self.min_size, self.skip_first, self.skip_last, self.skip_batched)
        self.remark(quantize_products(module, self.scaling(), selection, self.entry))
