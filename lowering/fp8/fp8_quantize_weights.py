"""`fp8-quantize-weights`: weights become f8 arguments and constants with their scales."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaling.block_recipes import MX_BLOCK
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.scaling.recipes import WEIGHT_ONLY, WeightOnly, recipe_named
from mlir_fp8.lowering.fp8.scaling.selection import Selection
from mlir_fp8.lowering.fp8.weights.decisions import total_bytes
from mlir_fp8.lowering.fp8.weights.layouts import check_layout
from mlir_fp8.lowering.fp8.weights.quantize import quantize_weights
from mlir_fp8.lowering.fp8.weights.wide import DEFAULT


@dataclass(frozen=True)
class Fp8QuantizeWeights(ModulePass):
    """Let a function take its weights in f8, with scales as further arguments; fold constants.

    See docs/inference.md. `weights` are names of arguments or patterns, with `;` between them, or
    `constants`; `scales` is tensor, channel, block, group32, group64 or group128. `recipe` is
    weight_only, or that of activations: current, block, delayed, flax, transformer_engine, mx,
    nvfp4, int8; mx and nvfp4 have scales of their own, mx with `block` and `scale-rounding`. The
    function is `entry`. `wide` are weights that stay wide, by default routers. `per` is that of
    `current` and `int8`.
    Factors of SmoothQuant for channels are the attribute `mlir_fp8.smoothing` of arguments.
    `min-size`, `skip-first` and `skip-last` are those of `fp8-quantize-dots`.
    `remarks` prints a line on stderr for each weight and product, and the bytes of all.
    """

    weights: str = "*"
    recipe: str = WEIGHT_ONLY
    scales: str = "channel"
    forward: str = "f8E4M3FN"
    backward: str = ""
    entry: str = "main"
    min_size: int = 0
    skip_first: int = 0
    skip_last: int = 0
    wide: str = DEFAULT
    per: str = "tensor"
    block: int = MX_BLOCK
    scale_rounding: str = "floor"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        check_layout(self.scales)
        patterns = [each for each in self.weights.split(";") if each]
        if not patterns:
            raise Fp8Error("weights names nothing: give names, patterns or constants")
        recipe = (
            WeightOnly(forward=self.forward)
            if self.recipe == WEIGHT_ONLY
            else recipe_named(
                self.recipe,
                forward=self.forward,
                backward=self.backward,
                per=self.per,
                block=self.block,
                scale_rounding=self.scale_rounding,
            )
        )
        wide = [each for each in self.wide.split(";") if each]
        selection = Selection(self.min_size, self.skip_first, self.skip_last)
        decisions, weights = quantize_weights(
            module, recipe, selection, self.entry, patterns, self.scales, wide
        )
        if self.remarks:
            print_remarks((each.location, str(each)) for each in (*weights, *decisions))
            print_remarks([(ir.Location.unknown(module.context), total_bytes(weights))])
