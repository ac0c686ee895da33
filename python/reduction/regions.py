"""Reduces ops with regions: to the failing body without the loop or branch around it, and to
bodies with fewer ops."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from torch_mlir import ir

from mlir_fp8.reduction.program import (
    Draft,
    Program,
    changed,
    inner_operations,
    operations,
    spec_of,
)
from mlir_fp8.reduction.trials import Trials

_BRANCHES = ("stablehlo.if", "stablehlo.case")
_WHILE = "stablehlo.while"
# Each iteration costs a compilation of the body.
_MOST_ITERATIONS = 64


def opened(program: Program, trials: Trials) -> Program | None:
    """The region that fails of a program whose only op is a loop or a branching; None if none."""
    if len(program.ops) != 1:
        return None
    (op,) = program.ops
    if op.name in _BRANCHES:
        regions = [_region(program, index, ()) for index in range(len(op.regions))]
        return next(filter(trials.fails, regions), None)
    return _iteration(program, op, trials) if op.name == _WHILE else None


def with_smaller_regions(program: Program, trials: Trials) -> Program:
    """Ops in regions replaced by one of their operands, or by an argument of their block."""
    number = 0
    while number < len(_nested(program.ops)):
        for choice in range(_choices(_nested(program.ops)[number])):
            smaller = changed(program, partial(_replace, number=number, choice=choice))
            if trials.fails(smaller):
                assert smaller is not None
                program = smaller
                break
        else:
            number += 1
    return program


def _iteration(program: Program, op: ir.Operation, trials: Trials) -> Program | None:
    """The condition or body of the first failing iteration, given its loop-carried values."""
    if any(spec_of(value.type) is None for value in op.operands):
        return None
    arguments: list[ir.Value] = list(program.body.arguments)
    carried = [program.arrays[arguments.index(value)] for value in op.operands]
    for _ in range(_MOST_ITERATIONS):
        gave: list[tuple[np.ndarray, ...]] = []
        for index in (0, 1):
            part = _region(program, index, carried)
            if trials.fails(part):
                return part
            results = part and trials.results(part)
            if not results:
                return None
            gave.append(results)
        if not gave[0][0]:
            return None
        carried = list(gave[1])
    return None


def _region(program: Program, index: int, inputs: Sequence[np.ndarray]) -> Program | None:
    """The only op replaced by its region, whose block arguments become those of `main`."""

    def change(draft: Draft) -> bool:
        (op,) = draft.ops
        (block,) = op.regions[index].blocks
        for argument, array in zip(block.arguments, inputs, strict=True):
            argument.replace_all_uses_with(draft.argument(argument.type, array))
        *inner, end = operations(block)
        for each in inner:
            each.move_before(op)
        draft.give(list(end.operands))
        op.erase()
        return True

    return changed(program, change)


def _nested(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """What stands in regions; a loop's are left alone, which might never end."""
    return [inner for op in ops if op.name != _WHILE for inner in inner_operations(op)
            if not _is_in_loop(inner)]  # fmt: skip


def _is_in_loop(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name == _WHILE:
            return True
        parent = parent.operation.parent
    return False


def _candidates(op: ir.Operation) -> list[ir.Value]:
    if len(op.results) != 1:
        return []
    values = [*op.operands, *(op.block.arguments if op.block is not None else ())]
    unique: list[ir.Value] = []
    for value in values:
        if value.type == op.results[0].type and value not in unique:
            unique.append(value)
    return unique


def _choices(op: ir.Operation) -> int:
    return len(_candidates(op))


def _replace(draft: Draft, number: int, choice: int) -> bool:
    op = _nested(draft.ops)[number]
    op.results[0].replace_all_uses_with(_candidates(op)[choice])
    op.erase()
    return True
