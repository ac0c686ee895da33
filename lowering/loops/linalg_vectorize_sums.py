"""`linalg-vectorize-sums`: contiguous sums have 16 or 64 partial sums.

LLVM may not reassociate float additions, so it leaves a sum as a serial loop-carried chain. The
number of partial sums depends on the shapes alone: the result is the same bits on each machine.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant
from mlir_fp8.lowering.loops._vector_bodies import (
    LANES,
    Position,
    VectorBody,
    first_lanes_mask,
    halves,
    index,
    is_elementwise,
    runs_along,
)
from mlir_fp8.lowering.sums.sum_levels import Level, fold, nest, sum_levels, whole
from mlir_fp8.lowering.sums.sum_levels import Position as Counters

WIDE = 4
"""The unroll factor: independent accumulators of `LANES`, where registers suffice."""
_NEUTRAL = {"arith.addf": -0.0, "arith.mulf": 1.0}


@dataclass(frozen=True)
class LinalgVectorizeSums(ModulePass):
    """Turn `linalg.generic` sums and products of floats on buffers into loops over vectors.

    The innermost loop must be the reduction, along the last dimension of what it reads, and at
    least 16 long. The remainder is masked.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name != "linalg.generic" or not runs_along(op, 1):
                    continue
                added = _added(op)
                if added is not None:
                    with ir.InsertionPoint(op), op.location:
                        _Sum(op, added).emit()
                    op.erase()


def _added(op: ir.Operation) -> ir.Value | None:
    """What the body adds to the accumulator, if that and elementwise ops are all that it does."""
    block = op.regions[0].blocks[0]
    accumulator = block.arguments[len(block.arguments) - 1]
    *body, terminator = [inner.operation for inner in block.operations]
    uses = list(accumulator.uses)
    total = terminator.operands[0]
    if len(uses) != 1 or isinstance(total.owner, ir.Block):
        return None
    combiner = total.owner.operation
    if combiner.name not in _NEUTRAL or uses[0].owner.operation != combiner:
        return None
    if not isinstance(accumulator.type, ir.F32Type | ir.F64Type) or len(list(total.uses)) != 1:
        return None
    first, second = combiner.operands
    return (second if first == accumulator else first) if all(map(is_elementwise, body)) else None


class _Sum:
    """Emits one sum, at the current insertion point."""

    def __init__(self, op: ir.Operation, added: ir.Value) -> None:
        *body, terminator = [inner.operation for inner in op.regions[0].blocks[0].operations]
        self._combiner = terminator.operands[0].owner.operation
        self._added, self._element = added, added.type
        self._body = VectorBody(op, [inner for inner in body if inner != self._combiner])
        self._out = op.operands[len(op.operands) - 1]
        has_functions = any(inner.name.startswith("math.") for inner in body)
        is_short = self._body.sizes[-1] < 2 * WIDE * LANES
        self._wide = 1 if has_functions or is_short else WIDE
        kinds = [str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
        sizes = dict(enumerate(self._body.sizes[:-1]))
        self._summed = {loop: size for loop, size in sizes.items() if "reduction" in kinds[loop]}
        self._kept = {loop: size for loop, size in sizes.items() if loop not in self._summed}

    def emit(self) -> None:
        levels = self._levels(self._summed)
        if len(levels) == 1:
            self._body.nest(self._emit_at)
            return

        def each(place: Counters, _: list[ir.Value]) -> list[ir.Value]:
            self._emit_levels(levels, place)
            return []

        nest(whole(self._kept), {}, [], each)

    def _levels(self, sizes: dict[int, int]) -> list[Level]:
        """The levels of blocks, around the innermost loop or in it; products gain nothing by more
        than one."""
        is_sum = self._combiner.name == "arith.addf"
        return sum_levels(sizes) if is_sum else [whole(sizes)]

    def _emit_levels(self, levels: list[Level], place: Counters) -> None:
        """One result, whose sums over the innermost loop are added in blocks."""
        indices = self._body.indices(len(self._body.maps) - 1, self._position(place))
        start, neutral = memref.load(self._out, indices), self._neutral(1)
        neutral = vector.extract(neutral, [], [0])

        def added(totals: list[ir.Value], parts: list[ir.Value]) -> list[ir.Value]:
            return [self._combined(totals[0], parts[0])]

        (total,) = fold(
            levels, place, [start], [neutral], added,
            lambda at, totals: added(totals, [self._total(self._position(at))]),
        )  # fmt: skip
        memref.store(total, self._out, indices)

    def _position(self, place: Counters) -> Position:
        """The induction variables as a list, for maps that don't use the missing ones."""
        return [place.get(loop, index(0)) for loop in range(len(self._body.sizes) - 1)]

    def _emit_at(self, position: Position) -> None:
        total = self._total(position)
        indices = self._body.indices(len(self._body.maps) - 1, position)
        memref.store(self._combined(memref.load(self._out, indices), total), self._out, indices)

    def _total(self, position: Position) -> ir.Value:
        """The sum over the innermost loop."""
        size, lanes = self._body.sizes[-1], LANES * self._wide
        wide, whole = size // lanes * lanes, size // LANES * LANES
        sums = self._chunks(position, 0, wide, lanes, self._neutral(lanes))
        while lanes > LANES:
            lanes //= 2
            sums = self._combined(*halves(sums))
        sums = self._chunks(position, wide, whole, LANES, sums)
        if whole < size:
            sums = self._with_rest(position, whole, size - whole, sums)
        while lanes > 1:
            lanes //= 2
            sums = self._combined(*halves(sums))
        return vector.extract(sums, [], [0])

    def _chunks(
        self, position: Position, first: int, end: int, lanes: int, sums: ir.Value
    ) -> ir.Value:
        """`sums` plus the elements from `first` to `end`, `lanes` at a time, in blocks."""
        if first == end:
            return sums

        def added(place: ir.Value, total: ir.Value) -> ir.Value:
            return self._combined(total, self._body.value(self._added, [*position, place], lanes))

        levels = self._levels({0: (end - first) // lanes})
        if len(levels) == 1:
            loop = scf.ForOp(index(first), index(end), index(lanes), [sums])
            with ir.InsertionPoint(loop.body):
                scf.YieldOp([added(loop.induction_variable, loop.inner_iter_args[0])])
            return loop.results[0]
        (total,) = fold(
            levels, {}, [sums], [self._neutral(lanes)],
            lambda totals, parts: [self._combined(totals[0], parts[0])],
            lambda at, totals: [added(_place(first, at[0], lanes), totals[0])],
        )  # fmt: skip
        return total

    def _with_rest(self, position: Position, first: int, count: int, sums: ir.Value) -> ir.Value:
        mask = first_lanes_mask(count)
        value = self._body.value(self._added, [*position, index(first)], LANES, mask)
        return self._combined(sums, arith.select(mask, value, self._neutral(LANES)))

    def _combined(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return ir.Operation.create(self._combiner.name, [left.type], [left, right]).results[0]

    def _neutral(self, lanes: int) -> ir.Value:
        type_ = ir.VectorType.get([lanes], self._element)
        return constant(type_, self._element, _NEUTRAL[self._combiner.name])


def _place(first: int, number: ir.Value, lanes: int) -> ir.Value:
    return arith.addi(index(first), arith.muli(number, index(lanes)))
