"""Which elements of an operand have one scale by the recipe `block`, and which operand is a weight.

TransformerEngine's `Float8BlockScaling`: weights have squares of 128x128, good for both dots that
contract them, everything else 128 along what is contracted, quantized anew for each direction.
"""

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.scaling.contractions import (
    batching_dims,
    contracting_dims,
    is_convolution,
)
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, blocks_of
from mlir_fp8.lowering.fp8.weights.moves import blocks_after

_SIDES = ("lhs", "rhs")


class SquareWeights:
    """The tensors of `function` that its forward dots have met as weights, as they come."""

    def __init__(self, function: ir.Operation) -> None:
        self._block = function.regions[0].blocks[0]
        self._found: set[ir.Value] = set()

    def side_of(self, op: ir.Operation, verdict: Gradient) -> int | None:
        """Which operand of a dot is a weight, if any.

        In a forward dot without batching dimensions it is the operand that is an argument or a
        constant of the function, or a slice of one; the right one of two. In a backward dot it is
        what was one before.
        """
        if is_convolution(op) or batching_dims(op, 0):
            return None
        sources = [origin(each, through_scaling=True).value for each in list(op.operands)[:2]]
        if verdict.operand != "none":
            sides = [i for i, each in enumerate(sources) if each in self._found]
            return next((i for i in sides if _SIDES[i] != verdict.operand), None)
        side = next((i for i in (1, 0) if self._is_given(sources[i])), None)
        if side is not None:
            self._found.add(sources[side])
        return side

    def _is_given(self, value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return value.owner == self._block
        op = producer(value)
        return op is not None and op.name == "stablehlo.constant"


def recipe_blocks(op: ir.Operation, side: int, source: Origin, *, is_weight: bool) -> Blocks:
    """The blocks of an operand's scales in the arrangement of its origin.

    Where 128 does not divide the last of the dimensions that are contracted, all that is summed has
    one scale, and where it does not divide a weight's other dimension, all of that. Empty where
    scales cannot follow the tensor from its origin: all of it has one then.
    """
    if is_convolution(op):
        return ()
    shape = list(ir.RankedTensorType(source.value.type).shape)
    summed = {dim for dim in source.dims_of(contracting_dims(op, side)) if shape[dim] > 1}
    repeated = source.dims_of(batching_dims(op, side)) - summed
    made = blocks_of("block" if is_weight else "group128", len(shape), summed, repeated)
    partial = {
        dim
        for dim, (size, block) in enumerate(zip(shape, made, strict=True))
        if size % (block or 1)
    }
    if partial & summed:
        partial |= summed
    blocks = tuple(0 if dim in partial else block for dim, block in enumerate(made))
    after: Blocks | None = blocks
    for each in source.moves:
        after = None if after is None else blocks_after(each, 0, after)
    return blocks if after is not None and any(blocks) else ()
