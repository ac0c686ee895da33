"""The options that passes which insert scales have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaling.block_recipes import MX_BLOCK
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, OpDecision, print_remarks
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe, RecipeOptions, recipe_named


@dataclass(frozen=True)
class ScalingPass(ModulePass):
    """A pass that scales by a recipe: delayed (as flax has it), flax, transformer_engine, current,
    block, mx, nvfp4 or int8.

    `history`, `margin` and `algorithm` are those of `DelayedScaling`. `forward` and `backward` are
    formats, the latter of gradients; where it is left out f8E5M2, by block f8E4M3FN, by mx
    `forward`. The function is `entry`; with delayed scaling it takes and gives state. `per` is
    tensor, or row with `current` and `int8`: each row has a scale. `power-of-two` scales are
    rounded up to powers of two, those of block always. `shards` is all, or each with `current`:
    where devices compute on their parts of a tensor, each has a scale of its own. `block`,
    `scale-rounding`, `stochastic-gradients` and `hadamard` are those of `MXScaling`, the last two
    of `NVFP4Scaling` too. `remarks` prints a line for each op on stderr: what it became, and why.
    """

    recipe: str = "delayed"
    history: int = 1024
    margin: int = 0
    algorithm: str = "max"
    forward: str = "f8E4M3FN"
    backward: str = ""
    entry: str = "main"
    remarks: bool = False
    per: str = "tensor"
    power_of_two: bool = False
    shards: str = "all"
    block: int = MX_BLOCK
    scale_rounding: str = "floor"
    stochastic_gradients: bool = False
    hadamard: int = 0

    def scaling(self) -> Recipe:
        """The recipe that the options name."""
        own = {each.name: getattr(self, each.name) for each in fields(RecipeOptions)}
        return recipe_named(self.recipe, **own)

    def remark(self, decisions: Sequence[Decision | OpDecision]) -> None:
        """Print `decisions` where that is asked for."""
        if self.remarks:
            print_remarks((each.location, str(each)) for each in decisions)
