"""`plan-static-memory`: allocations of static size become slices of one for each function.

What one buffer has left, the next one takes: memory of the system, which it has to clear page by
page, is touched once, and more of it is in caches. After outlining, which tells buffers apart by
their allocations.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, func, memref

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loops._callers_memory import take_from_callers
from mlir_fp8.lowering.rewriting.kernel_functions import is_kernel, symbols_of
from mlir_fp8.lowering.rewriting.layer_functions import is_layer

_ALIGNMENT = 64
_MANY_BYTES, _HUGE = 1 << 22, 1 << 21
_MADVISE, _MADV_HUGEPAGE = "madvise", 14
_ELEMENT_BYTES = {"f64": 8, "f32": 4, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}


@dataclass(frozen=True)
class PlanStaticMemory(ModulePass):
    """Give allocations of `min_bytes` or more, freed in the block that they are in, slices.

    Those of kernels stay apart. A layer's function gets its memory from its callers. With
    `huge_pages`, Linux is asked for huge pages (`madvise`) of what is large: it gives and clears
    2 MiB at once, not 4 KiB.
    """

    min_bytes: int = 4096
    huge_pages: bool = False

    def run(self, module: ir.Operation) -> None:
        functions = [op.operation for op in module.regions[0].blocks[0]]
        for function in sorted(functions, key=is_layer, reverse=True):  # before their callers
            if function.name != "func.func" or is_kernel(function):
                continue
            if is_layer(function):
                arena = _planned(function.regions[0].blocks[0], self.min_bytes)
                if arena is not None:
                    take_from_callers(module, function, arena)
            elif len(function.regions[0].blocks):
                self._plan(module, function.regions[0].blocks[0])

    def _plan(self, module: ir.Operation, block: ir.Block) -> None:
        arena = _planned(block, self.min_bytes)
        if arena is None or not self.huge_pages or arena.type.shape[0] < _MANY_BYTES:
            return
        op = ir.OpResult(arena).owner.operation
        op.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _HUGE)
        ops = [each.operation for each in block.operations]
        with ir.InsertionPoint(ops[ops.index(op) + 1]), op.location:
            _ask_for_huge_pages(module, arena)


def _ask_for_huge_pages(module: ir.Operation, arena: ir.Value) -> None:
    """Call the C library's `madvise`, which may say no."""
    i64, i32 = ir.IntegerType.get_signless(64), ir.IntegerType.get_signless(32)
    if _MADVISE not in symbols_of(module):
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            func.FuncOp(_MADVISE, ([i64, i64, i32], [i32]), visibility="private")
    start = arith.index_cast(i64, memref.extract_aligned_pointer_as_index(arena))
    size, advice = arith.constant(i64, arena.type.shape[0]), arith.constant(i32, _MADV_HUGEPAGE)
    func.CallOp([i32], _MADVISE, [start, size, advice])


@dataclass(frozen=True)
class _Buffer:
    alloc: ir.Operation
    dealloc: ir.Operation
    bytes: int


def _planned(block: ir.Block, min_bytes: int) -> ir.Value | None:
    """What the slices are of; None where there are no two buffers."""
    buffers = list(_buffers(block, min_bytes))
    if len(buffers) < 2:
        return None
    offsets, size = _offsets(block, buffers)
    first, last = buffers[0].alloc, block.operations[len(block.operations) - 1]
    with ir.InsertionPoint(first), first.location:
        type_ = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
        arena = memref.alloc(type_, [], [], alignment=_ALIGNMENT)
    for buffer, offset in zip(buffers, offsets, strict=True):
        with ir.InsertionPoint(buffer.alloc), buffer.alloc.location:
            place = arith.constant(ir.IndexType.get(), offset)
            view = memref.view(buffer.alloc.results[0].type, arena, place, [])
        buffer.alloc.results[0].replace_all_uses_with(view)
        buffer.dealloc.erase()
        buffer.alloc.erase()
    with ir.InsertionPoint(last), last.location:
        memref.dealloc(arena)
    return arena


def _buffers(block: ir.Block, min_bytes: int) -> Iterator[_Buffer]:
    for op in (each.operation for each in block.operations):
        if op.name != "memref.alloc":
            continue
        size = _bytes(ir.MemRefType(op.results[0].type))
        users = [use.owner.operation for use in op.results[0].uses]
        frees = [user for user in users if user.name == "memref.dealloc"]
        if size >= min_bytes and len(frees) == 1 and frees[0].block == block:
            yield _Buffer(op, frees[0], size)


def _bytes(type_: ir.MemRefType) -> int:
    """Of all elements, in whole cache lines; 0 where they are not known."""
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    if not type_.has_static_shape or type_.layout != identity:
        return 0
    size = math.prod(type_.shape) * _ELEMENT_BYTES.get(str(type_.element_type), 0)
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _offsets(block: ir.Block, buffers: list[_Buffer]) -> tuple[list[int], int]:
    """Where each buffer begins, and the size of all; by best fit, in the order of the program."""
    allocs = {buffer.alloc: number for number, buffer in enumerate(buffers)}
    frees = {buffer.dealloc: number for number, buffer in enumerate(buffers)}
    offsets, space = [0] * len(buffers), _Space()
    for op in (each.operation for each in block.operations):
        if op in allocs:
            offsets[allocs[op]] = space.taken(buffers[allocs[op]].bytes)
        elif op in frees:
            space.give(offsets[frees[op]], buffers[frees[op]].bytes)
    return offsets, space.end


class _Space:
    """Bytes from 0 to `end`, which grows, and the holes in them."""

    def __init__(self) -> None:
        self.end = 0
        self.holes: list[tuple[int, int]] = []

    def taken(self, size: int) -> int:
        """The place of `size` bytes: in the smallest hole that has them, or at the end."""
        fitting = [hole for hole in self.holes if hole[1] - hole[0] >= size]
        if fitting:
            hole = min(fitting, key=lambda each: each[1] - each[0])
        elif self.holes and self.holes[-1][1] == self.end:
            hole = self.holes[-1]
        else:
            hole = (self.end, self.end)
        begin, end = hole
        self.holes = [each for each in self.holes if each != hole]
        if begin + size < end:
            self.give(begin + size, end - begin - size)
        self.end = max(self.end, begin + size)
        return begin

    def give(self, begin: int, size: int) -> None:
        """Make a hole, one with those beside it."""
        holes: list[tuple[int, int]] = []
        for each in sorted([*self.holes, (begin, begin + size)]):
            if holes and holes[-1][1] == each[0]:
                each = holes.pop()[0], each[1]
            holes.append(each)
        self.holes = holes
