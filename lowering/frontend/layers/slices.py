"""Slices at another place in each layer, as of stacked weights, become dynamic ones."""

from torch_mlir import ir

from mlir_fp8.lowering.frontend.layers.layers import Layers, layers_at
from mlir_fp8.lowering.frontend.layers.steps import SLICE, Step, Steps
from mlir_fp8.lowering.rewriting.stablehlo import build, splat


def with_slices(block: Steps, layers: Layers) -> Layers:
    """`layers`, which then take as parameters where the slices begin that differ in that."""
    starts = [layers.start + number * layers.period for number in range(layers.count)]
    index = _Indices(block)
    is_changed = False
    for offset in range(layers.period):
        steps = [block.steps[start + offset] for start in starts]
        if steps[0].op.name == SLICE and len({_begins(step.op) for step in steps}) > 1:
            is_changed = True
            for start, step in zip(starts, steps, strict=True):
                block.steps[start + offset] = _dynamic(block, step, index)
    return layers_at(block, starts, layers.period) if is_changed else layers


def _begins(slice_: ir.Operation) -> tuple[int, ...]:
    return tuple(ir.DenseI64ArrayAttr(slice_.attributes["start_indices"]))


def _dynamic(block: Steps, step: Step, index: "_Indices") -> Step:
    """The same slice, whose place are operands."""
    places = [index.constant(begin) for begin in _begins(step.op)]
    (result,) = step.results
    type_ = step.op.results[0].type
    with ir.InsertionPoint(step.op), step.op.location:
        operands = [step.op.operands[0], *(block.values[place] for place in places)]
        sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get(type_.shape)}
        block.values[result] = build("dynamic_slice", type_, operands, sizes)
    step.op.results[0].replace_all_uses_with(block.values[result])
    step.op.erase()
    op = ir.OpResult(block.values[result]).owner.operation
    return Step(op, step.key, (*step.operands, *places), step.results)


class _Indices:
    """Constants at the begin of a block, each once."""

    def __init__(self, block: Steps) -> None:
        self._block = block
        self._numbers: dict[int, int] = {}

    def constant(self, index: int) -> int:
        """The number of the value."""
        if index not in self._numbers:
            self._numbers[index] = len(self._block.values)
            first = self._block.steps[0].op.block.operations[0]
            with ir.InsertionPoint(first), first.location:
                type_ = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
                self._block.values.append(splat(type_, index))
        return self._numbers[index]
