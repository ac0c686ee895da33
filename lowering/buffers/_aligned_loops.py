"""An `scf.while` whose condition forwards every loop-carried value, as StableHLO's `while` does.

Canonicalization drops unused results and loop-invariant values: then the two regions differ in the
number, the order and the types of their arguments. One-shot bufferization assumes that result i
aliases operand i, whatever the condition forwards.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import bufferization, scf

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import terminator
from mlir_fp8.lowering.buffers._buffer_origins import is_inside


def align(loop: ir.Operation) -> None:
    """Let the condition of `loop` forward the loop-carried values, then the scalars that it
    computes.

    A tensor that it computes is written to one more loop-carried tensor, which starts as
    `tensor.empty`. A value from outside the loop is not forwarded: its users take it directly.
    """
    before, after = (region.blocks[0] for region in loop.regions)
    condition = terminator(before)
    selector, *passed = condition.operands
    carried = list(before.arguments)
    if passed == carried:
        return
    computed = [v for v in dict.fromkeys(passed) if v not in carried and is_inside(v, loop)]
    tensors = [value for value in computed if isinstance(value.type, ir.RankedTensorType)]
    scalars = [value for value in computed if value not in tensors]
    places = {value: place for place, value in enumerate([*carried, *tensors, *scalars])}
    with loop.location:
        inits = [*loop.operands, *_empty(loop, tensors)]
        kept = _materialized(condition, tensors)
        with ir.InsertionPoint(condition):
            scf.ConditionOp(selector, [*before.arguments][: len(carried)] + kept + scalars)
        condition.erase()
        types = [value.type for value in places]
        arguments = [after.add_argument(type_, loop.location) for type_ in types]
        _replace(list(after.arguments)[: len(passed)], passed, arguments, places)
        for _ in passed:
            after.erase_argument(0)
        _yield(after, arguments[len(carried) : len(inits)])
        with ir.InsertionPoint(loop):
            made = ir.Operation.create("scf.while", types, inits, regions=2)
    for block, region in zip((before, after), made.regions, strict=True):
        block.append_to(region)
    _replace(list(loop.results), passed, list(made.results), places)
    loop.erase()


def _empty(loop: ir.Operation, tensors: Sequence[ir.Value]) -> list[ir.Value]:
    for value in tensors:
        if not value.type.has_static_shape:
            raise op_error(
                loop, f"has a condition that computes {value.type} for the body: give it a size"
            )
    with ir.InsertionPoint(loop):
        return [bufferization.alloc_tensor(value.type, []) for value in tensors]


def _materialized(condition: ir.Operation, tensors: Sequence[ir.Value]) -> list[ir.Value]:
    """`tensors` in as many new arguments of the block of `condition`."""
    with ir.InsertionPoint(condition):
        return [
            bufferization.materialize_in_destination(
                value.type, value, condition.block.add_argument(value.type, condition.location)
            )
            for value in tensors
        ]


def _yield(block: ir.Block, more: Sequence[ir.Value]) -> None:
    end = terminator(block)
    with end.location, ir.InsertionPoint(end):
        scf.YieldOp([*end.operands, *more])
    end.erase()


def _replace(
    old: Sequence[ir.Value],
    passed: Sequence[ir.Value],
    new: Sequence[ir.Value],
    places: dict[ir.Value, int],
) -> None:
    """Each of `old` by the value of `new` in the place of what was forwarded, or by that itself."""
    for value, given in zip(old, passed, strict=True):
        value.replace_all_uses_with(new[places[given]] if given in places else given)
