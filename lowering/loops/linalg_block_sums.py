"""`linalg-block-sums`: long sums are blocked, and the sums of blocks are added in turn.

A serial sum of 10^5 rows loses two digits. `linalg-vectorize-sums` takes contiguous sums; sums of
rows, and those that it can't vectorize, are left for here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps
from mlir_fp8.lowering.sums.sum_form import Sum, added_sums
from mlir_fp8.lowering.sums.sum_levels import Level, Position, fold, nest, sum_levels, whole

_FEW_RESULTS = 1024
Buffers = Sequence[Sequence[ir.Value]]
"""The buffers of each level but the last, one for each result of the op."""


@dataclass(frozen=True)
class LinalgBlockSums(ModulePass):
    """Turn `linalg.generic` on buffers that sum floats, more than 256 for a result, into loops.

    Real or complex sums, each of any elementwise body; other results of the same op may be
    products, maxima and minima. Where parallel loops lie inside the reductions, the accumulators of
    blocks are buffers of that size, else scalars. Shorter sums and other ops stay as they are.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name != "linalg.generic" or len(op.results):
                    continue
                nested = _Nest.of(op)
                sums = None if nested is None else added_sums(op)
                if nested is None or sums is None:
                    continue
                with ir.InsertionPoint(op), op.location:
                    _BlockSums(op, nested, sums).emit()
                op.erase()


@dataclass(frozen=True)
class _Nest:
    """The loops of a sum: parallel, then reductions, then parallel again."""

    outer: Level
    levels: Sequence[Level]
    inner: Level

    @staticmethod
    def of(op: ir.Operation) -> "_Nest | None":
        """None where the sums are short, or sizes are not known."""
        kinds = ["reduction" in str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
        sizes = _loop_sizes(op)
        if sizes is None or not any(kinds) or 0 in sizes.values():
            return None
        levels = sum_levels({loop: size for loop, size in sizes.items() if kinds[loop]})
        if len(levels) == 1:
            return None
        last = max(loop for loop in sizes if kinds[loop])
        outer = {loop: size for loop, size in sizes.items() if not kinds[loop] and loop < last}
        inner = {loop: size for loop, size in sizes.items() if loop > last}
        return _Nest(whole(outer), levels, whole(inner))


def _loop_sizes(op: ir.Operation) -> dict[int, int] | None:
    sizes: dict[int, int] = {}
    for value, map_ in zip(op.operands, indexing_maps(op), strict=True):
        if not isinstance(value.type, ir.MemRefType):
            continue
        if not value.type.has_static_shape:
            return None
        for expr, size in zip(map_.results, value.type.shape, strict=True):
            if isinstance(expr, ir.AffineDimExpr):
                sizes[ir.AffineDimExpr(expr).position] = size
    count = indexing_maps(op)[0].n_dims
    return {loop: sizes[loop] for loop in range(count)} if len(sizes) == count else None


class _BlockSums:
    """Emits the sums of one op, at the current insertion point."""

    def __init__(self, op: ir.Operation, nested: _Nest, sums: Sequence[Sum]) -> None:
        self._op, self._nest, self._sums = op, nested, sums
        self._block = op.regions[0].blocks[0]
        self._maps = indexing_maps(op)
        self._first = len(op.operands) - len(sums)

    def emit(self) -> None:
        buffers = self._buffers() if self._shares_buffers else []

        def each(position: Position, _: list[ir.Value]) -> list[ir.Value]:
            if not self._nest.inner:
                self._emit_scalars(position)
            elif self._shares_buffers:
                self._emit_rows(position, buffers)
            else:
                own = self._buffers()
                self._emit_rows(position, own)
                _free(own)
            return []

        nest(self._nest.outer, {}, [], each)
        _free(buffers)

    def _emit_scalars(self, position: Position) -> None:
        numbers = range(self._first, len(self._op.operands))
        places = [self._indices(number, position) for number in numbers]
        outs = list(self._op.operands)[self._first :]
        starts = [memref.load(out, place) for out, place in zip(outs, places, strict=True)]
        neutral = [each.neutral() for each in self._sums]
        totals = fold(self._nest.levels, position, starts, neutral, self._combined, self._added)
        for total, out, place in zip(totals, outs, places, strict=True):
            memref.store(total, out, place)

    @property
    def _shares_buffers(self) -> bool:
        """Whether all results share one buffer for each level."""
        size = math.prod(piece.size for piece in self._nest.inner)
        return len(self._nest.inner) > 0 and size <= _FEW_RESULTS

    def _buffers(self) -> Buffers:
        shape = [piece.size for piece in self._buffer_loops]
        return [
            [memref.alloc(ir.MemRefType.get(shape, each.type), [], []) for each in self._sums]
            for _ in self._nest.levels[1:]
        ]

    @property
    def _buffer_loops(self) -> Level:
        inner = self._nest.inner
        return (*self._nest.outer, *inner) if self._shares_buffers else inner

    def _emit_rows(self, position: Position, levels: Buffers) -> None:
        """Each level but the last accumulates in buffers, which start neutral."""
        for buffers in levels:
            self._each_result(position, lambda at, buffers=buffers: self._clear(buffers, at))
        self._emit_level(0, position, levels)

    def _each_result(self, position: Position, emit: Callable[[Position], None]) -> None:
        """The inner loops."""

        def each(at: Position, _: list[ir.Value]) -> list[ir.Value]:
            emit(at)
            return []

        nest(self._nest.inner, position, [], each)

    def _clear(self, buffers: Sequence[ir.Value], at: Position) -> None:
        for each, buffer in zip(self._sums, buffers, strict=True):
            memref.store(each.neutral(), buffer, self._in_buffer(at))

    def _emit_level(self, number: int, position: Position, levels: Buffers) -> None:
        """Add the sums of the blocks below to the buffers of this level, or to the results."""

        def each(at: Position, _: list[ir.Value]) -> list[ir.Value]:
            if number < len(levels):
                self._emit_level(number + 1, at, levels)
            self._each_result(at, lambda at: self._add(number, at, levels))
            return []

        nest(self._nest.levels[number], position, [], each)

    def _add(self, number: int, at: Position, levels: Buffers) -> None:
        """Add the accumulators of the level below, or the elements, to those of a level."""
        places = [self._place(number, i, at, levels) for i in range(len(self._sums))]
        totals = [memref.load(*place) for place in places]
        if number < len(levels):
            below = levels[number]
            parts = [memref.load(buffer, self._in_buffer(at)) for buffer in below]
            totals = self._combined(totals, parts)
            self._clear(below, at)
        else:
            totals = self._added(at, totals)
        for total, place in zip(totals, places, strict=True):
            memref.store(total, *place)

    def _place(
        self, number: int, which: int, at: Position, levels: Buffers
    ) -> tuple[ir.Value, list[ir.Value]]:
        """The accumulator of a result at a level: a buffer, and where in it."""
        if number == 0:
            operand = self._first + which
            return self._op.operands[operand], self._indices(operand, at)
        return levels[number - 1][which], self._in_buffer(at)

    def _in_buffer(self, position: Position) -> list[ir.Value]:
        return [position[piece.loop] for piece in self._buffer_loops]

    def _combined(self, totals: list[ir.Value], parts: list[ir.Value]) -> list[ir.Value]:
        return [
            each.combined(total, part)
            for each, total, part in zip(self._sums, totals, parts, strict=True)
        ]

    def _added(self, position: Position, totals: list[ir.Value]) -> list[ir.Value]:
        """`totals` after the body, which adds the elements at `position` to them."""
        mapping = dict(zip(list(self._block.arguments)[self._first :], totals, strict=True))
        for number, argument in enumerate(list(self._block.arguments)[: self._first]):
            value = self._op.operands[number]
            is_buffer = isinstance(value.type, ir.MemRefType)
            mapping[argument] = (
                memref.load(value, self._indices(number, position)) if is_buffer else value
            )
        *body, terminator = [inner.operation for inner in self._block.operations]
        for inner in body:
            if inner.name == "linalg.index":
                loop = ir.IntegerAttr(inner.attributes["dim"]).value
                mapping[inner.results[0]] = position[loop]
                continue
            clone_op(inner, mapping)
        return [mapping[value] for value in terminator.operands]

    def _indices(self, number: int, position: Position) -> list[ir.Value]:
        """Where an operand is read or written."""
        map_ = self._maps[number]
        return [_applied(map_, expr, position) for expr in map_.results]


def _free(levels: Buffers) -> None:
    for buffer in [buffer for level in levels for buffer in level]:
        memref.dealloc(buffer)


def _applied(map_: ir.AffineMap, expr: ir.AffineExpr, position: Position) -> ir.Value:
    """The value of `expr`, a result of `map_`, at a position that has all loops that it names."""
    if isinstance(expr, ir.AffineDimExpr):
        return position[ir.AffineDimExpr(expr).position]
    single = ir.AffineMapAttr.get(ir.AffineMap.get(map_.n_dims, 0, [expr]))
    other = next(iter(position.values()))
    operands = [position.get(loop, other) for loop in range(map_.n_dims)]
    apply = ir.Operation.create("affine.apply", [ir.IndexType.get()], operands, {"map": single})
    return apply.results[0]
