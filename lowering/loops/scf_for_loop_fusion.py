"""`scf-for-loop-fusion`: adjacent loops over the same rows are fused.

A softmax or a norm, which reads a row four times, then finds it in the L1 cache, and starts threads
once instead of four times.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loop_analysis.parallel_loops import (
    LOADS,
    STORES,
    are_independent,
    has_own_origin,
    origin,
    trip_count,
    work,
)
from mlir_fp8.lowering.rewriting.kernel_functions import is_kernel
from mlir_fp8.lowering.rewriting.stablehlo import names

_MOST_LOOPS = 12
"""The most inner loops of a fused loop: LLVM's loop analyses are quadratic."""
_LEAST_ROW_WORK = 32
"""The least ratio of a row's work to what is computed once per row, which is no longer
vectorized."""
_MOST_WORK = 5
"""The most work per iteration of two loops without inner loops, fills and copies: so fused, they do
not outgrow what fuses into a nest."""
_MOVED = names("memref", "alloc collapse_shape expand_shape get_global subview cast")
_PASSED = ("memref.dealloc",)
_HOLDERS = ("func.func", "scf.for", "scf.while", "scf.if", "scf.index_switch")


@dataclass(frozen=True)
class ScfForLoopFusion(ModulePass):
    """Fuse adjacent `scf.for` ops of equal bounds that share a buffer.

    The fused loop must have no loop-carried dependence.
    """

    def run(self, module: ir.Operation) -> None:
        for function in [op.operation for op in module.regions[0].blocks[0]]:
            if is_kernel(function):  # whose loops are final
                continue
            for op in operations(function, *_HOLDERS, inner_first=True):
                for block in [block for region in op.regions for block in region]:
                    _fuse_block(block)


def _fuse_block(block: ir.Block) -> None:
    first: ir.Operation | None = None
    between: list[ir.Operation] = []
    for op in [op.operation for op in block.operations]:
        if op.name == "scf.for" and not len(op.results):
            if first is not None and _is_worth_it(first, op) and _may_fuse(first, op):
                _fuse(first, op, between)
            else:
                first = op
            between = []
        elif op.name in _MOVED or op.name.startswith("arith."):
            between.append(op)
        elif op.name not in _PASSED:
            first = None


def _is_worth_it(first: ir.Operation, second: ir.Operation) -> bool:
    count = trip_count(first)
    if count < 2 or list(first.operands) != list(second.operands):
        return False
    inner = [sum(op.name == "scf.for" for op in operations(loop)) - 1 for loop in (first, second)]
    once, rows = sorted((work(first), work(second)))
    if not any(inner):
        is_worth_it = once + rows <= _MOST_WORK * count
    else:
        is_worth_it = sum(inner) <= _MOST_LOOPS and (all(inner) or rows >= _LEAST_ROW_WORK * once)
    if not is_worth_it:
        return False
    return not set(_buffers(first)).isdisjoint(_buffers(second))


def _may_fuse(first: ir.Operation, second: ir.Operation) -> bool:
    buffers = {*_buffers(first), *_buffers(second)}
    return all(map(_is_apart, buffers)) and are_independent([first, second])


def _is_apart(buffer: ir.Value) -> bool:
    is_constant = (
        not isinstance(buffer.owner, ir.Block) and buffer.owner.name == "memref.get_global"
    )
    return is_constant or has_own_origin(buffer)


def _buffers(loop: ir.Operation) -> Iterator[ir.Value]:
    for op in operations(loop):
        if op.name in LOADS:
            yield origin(op.operands[0])
        elif op.name in STORES:
            yield origin(op.operands[1])


def _fuse(first: ir.Operation, second: ir.Operation, between: list[ir.Operation]) -> None:
    for op in between:
        op.move_before(first)
    body, other = first.regions[0].blocks[0], second.regions[0].blocks[0]
    other.arguments[0].replace_all_uses_with(body.arguments[0])
    *moved, _ = [op.operation for op in other.operations]
    end = terminator(body)
    for op in moved:
        op.move_before(end)
    second.erase()
