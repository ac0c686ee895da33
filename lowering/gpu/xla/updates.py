"""The `fp8.update_scale`s of a block, in one launch before all, one behind, or both.

The "flax" recipe makes its scale of the history as it comes, which a kernel reads at the start of
the block; the amax that enters the history is known at its end. "transformer_engine" makes both
there.
"""

from collections.abc import Iterable, Iterator, Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import defining_op, is_used, operations, producer, terminator
from mlir_fp8.dialects._fp8_attributes import float_of, is_set, string_of
from mlir_fp8.dialects.scaling_recipes import RECIPES
from mlir_fp8.lowering.fp8.ops.power_of_two import POWERS_OF_TWO
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.gpu.kernels.update_scales import (
    MOST_HISTORY,
    MOST_TENSORS,
    UpdateScales,
    update_scales_kernel,
)
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls

UPDATE = "fp8.update_scale"
LEAST = 2
"""Tensors of one launch: fewer are left to XLA, which needs as many kernels for one."""

_Key = tuple[int, str, str, bool]


def update_groups(module: ir.Operation) -> Iterator[Sequence[ir.Operation]]:
    """Updates of one kind that may be joined, as many as a kernel takes."""
    blocks: list[ir.Block] = []
    for op in operations(module, UPDATE):
        if op.block not in blocks:
            blocks.append(op.block)
    for block in blocks:
        groups: dict[_Key, list[ir.Operation]] = {}
        for op in [each.operation for each in block.operations]:
            if op.name == UPDATE and _may_join(op):
                groups.setdefault(_key(op), []).append(op)
        for ops in groups.values():
            yield from _parts(ops)


def _parts(ops: Sequence[ir.Operation]) -> Iterable[Sequence[ir.Operation]]:
    found = [ops[at : at + MOST_TENSORS] for at in range(0, len(ops), MOST_TENSORS)]
    return [part for part in found if len(part) >= LEAST]


def _key(op: ir.Operation) -> _Key:
    size = ir.RankedTensorType(op.operands[1].type).shape[0]
    algorithm = string_of(op, "algorithm", "max")
    return size, string_of(op, "recipe", ""), algorithm, is_set(op, "power_of_two")


def _may_join(op: ir.Operation) -> bool:
    """Whether what `op` takes is known where the kernels are, and what it gives used behind."""
    size, name, _, _ = _key(op)
    recipe = RECIPES[name]
    if not recipe.has_history or size > MOST_HISTORY:
        return False
    taken = list(op.operands)[:2]
    late = list(op.results) if recipe.counts_this_step else [op.results[1]]
    if not recipe.counts_this_step and any(producer(each) is not None for each in taken):
        return False
    end = terminator(op.block)
    return all(user == end for each in late for user in users(each))


def put_update_kernels(ops: Sequence[ir.Operation], calls: KernelCalls) -> None:
    """Put one kernel in the place of `ops`, or one before all and one behind."""
    counts = RECIPES[_key(ops[0])[1]].counts_this_step
    block = ops[0].block
    end = terminator(block)
    if counts:
        _launch(ops, calls, ir.InsertionPoint(end), scales=True, histories=True)
    else:
        _launch(ops, calls, ir.InsertionPoint.at_block_begin(block), scales=True, histories=False)
        if any(is_used(op.results[1]) for op in ops):
            _launch(ops, calls, ir.InsertionPoint(end), scales=False, histories=True)
    for op in ops:
        op.erase()


def _launch(
    ops: Sequence[ir.Operation],
    calls: KernelCalls,
    place: ir.InsertionPoint,
    *,
    scales: bool,
    histories: bool,
) -> None:
    size, recipe, algorithm, power_of_two = _key(ops[0])
    shape = UpdateScales(
        size,
        tuple(str(ir.TypeAttr(op.attributes["format"]).value) for op in ops),
        tuple(float_of(op, "margin") or 0.0 for op in ops),
        recipe,
        algorithm,
        gives_scale=scales,
        gives_history=histories,
        power_of_two=power_of_two,
    )
    is_taken = (scales, True, shape.takes_amax)
    operands = [x for op in ops for x, taken in zip(op.operands, is_taken, strict=True) if taken]
    is_given = (scales, histories)
    results = [x for op in ops for x, given in zip(op.results, is_given, strict=True) if given]
    with place, ops[0].location:
        made = calls.build(update_scales_kernel(shape), operands, [each.type for each in results])
        if power_of_two and scales:
            numbers = list(range(0, len(made), sum(is_given)))
            defining_op(made[0]).attributes[POWERS_OF_TWO] = ir.DenseI64ArrayAttr.get(numbers)
    for old, new in zip(results, made, strict=True):
        old.replace_all_uses_with(new)
