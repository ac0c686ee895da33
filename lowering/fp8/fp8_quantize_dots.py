"""`fp8-quantize-dots`: dots and convolutions in f32, bf16 and f16 to scaled FP8."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.scaling.products import quantize_products
from mlir_fp8.lowering.fp8.scaling.recipes import recipe_named
from mlir_fp8.lowering.fp8.scaling.selection import Selection


@dataclasses.dataclass(frozen=True)
class Fp8QuantizeDots(ModulePass):
    """Make the dots and convolutions of a function scaled FP8, with scales by a recipe.

    See docs/scaling.md. Operands become `fp8.quantize` (saturating), products `fp8.scaled_dot` and
    `fp8.scaled_convolution` with the declared result type.

    `recipe` is delayed (as flax has it), flax, transformer_engine or current; `history`, `margin`
    and `algorithm` are those of `DelayedScaling`. `forward` and `backward` are formats, the latter
    of gradients. The function is `entry`; with delayed scaling it takes and gives state. Dots are
    left out by `mlir_fp8.skip` on them, and by `min-size`, `skip-first`, `skip-last` and
    `skip-batched`, see `Selection`. `remarks` prints a line for each dot on stderr: what it became,
    and why.
    """

    recipe: str = "delayed"
    history: int = 1024
    margin: int = 0
    algorithm: str = "max"
    forward: str = "f8E4M3FN"
    backward: str = "f8E5M2"
    entry: str = "main"
    min_size: int = 0
    skip_first: int = 0
    skip_last: int = 0
    skip_batched: bool = False
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
        selection = Selection(self.min_size, self.skip_first, self.skip_last, self.skip_batched)
        decisions = quantize_products(module, recipe, selection, self.entry)
        if self.remarks:
            print_remarks((each.location, str(each)) for each in decisions)
