"""`linalg-vectorize-argmax`: argmax and argmin on 16 lanes.

Frameworks write it as a reduction to two results, which selects a number and its index by one
comparison: a loop-carried chain that LLVM does not vectorize. Here each lane keeps its first
largest number; a horizontal reduction takes the first of all lanes.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.loops._argmax_form import ArgmaxForm, counts_once, is_unread, matched
from mlir_fp8.lowering.loops._vector_bodies import (
    LANES,
    Position,
    VectorBody,
    first_lanes_mask,
    halves,
    index,
    runs_along,
)
from mlir_fp8.lowering.rewriting.retype import element_type


@dataclass(frozen=True)
class LinalgVectorizeArgmax(ModulePass):
    """Turn `linalg.generic` argmax and argmin on buffers into loops over vectors.

    In JAX's form: NaN before all numbers, and the first of equals. Only the index is a result: the
    number that it belongs to must have no other reader (its zero may have another sign). The
    innermost loop must be the only reduction, along the last dimension, at least 16 long, and no
    longer than the type of the index can count.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name != "linalg.generic" or not runs_along(op, 2):
                    continue
                form = matched(op)
                if form is None or not is_unread(op.operands[len(op.operands) - 2], op):
                    continue
                body = VectorBody(op, form.elementwise)
                if not counts_once(op, body.sizes[-1]):
                    continue
                with ir.InsertionPoint(op), op.location:
                    _Argmax(op, form, body).emit()
                op.erase()


@dataclass(frozen=True)
class _Best:
    """Numbers and their indices, vectors or scalars."""

    numbers: ir.Value
    indices: ir.Value


class _Argmax:
    """Emits one reduction, at the current insertion point."""

    def __init__(self, op: ir.Operation, form: ArgmaxForm, body: VectorBody) -> None:
        self._form, self._body = form, body
        self._numbers, self._indices = list(op.operands)[-2:]
        self._index_type = element_type(self._indices.type)

    def emit(self) -> None:
        self._body.nest(self._emit_at)

    def _emit_at(self, position: Position) -> None:
        size = self._body.sizes[-1]
        whole = size // LANES * LANES
        best = self._candidates([*position, index(0)])
        if whole > LANES:
            loop = scf.ForOp(index(LANES), index(whole), index(LANES), [best.numbers, best.indices])
            with ir.InsertionPoint(loop.body):
                found = self._candidates([*position, loop.induction_variable])
                kept = self._kept(_Best(*loop.inner_iter_args), found)
                scf.YieldOp([kept.numbers, kept.indices])
            best = _Best(*loop.results)
        if whole < size:
            mask = first_lanes_mask(size - whole)
            best = self._kept(best, self._candidates([*position, index(whole)], mask), mask)
        for _ in range(LANES.bit_length() - 1):
            best = self._first(*map(_Best, halves(best.numbers), halves(best.indices)))
        total = _Best(*(vector.extract(each, [], [0]) for each in (best.numbers, best.indices)))
        places = self._body.indices(len(self._body.maps) - 1, position)
        initial = _Best(
            memref.load(self._numbers, self._body.indices(len(self._body.maps) - 2, position)),
            memref.load(self._indices, places),
        )
        memref.store(self._after(initial, total).indices, self._indices, places)

    def _candidates(self, position: Position, mask: ir.Value | None = None) -> _Best:
        numbers = self._body.value(self._form.number, position, LANES, mask)
        type_ = with_element(numbers.type, self._index_type)
        counts = [ir.IntegerAttr.get(self._index_type, lane) for lane in range(LANES)]
        lanes = arith.constant(type_, ir.DenseElementsAttr.get(counts, type_))
        first = arith.index_cast(self._index_type, position[-1])
        return _Best(numbers, arith.addi(vector.broadcast(type_, first), lanes))

    def _kept(self, best: _Best, found: _Best, mask: ir.Value | None = None) -> _Best:
        """Lane by lane, `found` where it is better, else the earlier `best`."""
        i1 = ir.IntegerType.get_signless(1)
        always = constant(found.numbers.type, i1, 1)
        keeps = self._keeps(best, found, always, always)
        if mask is not None:
            keeps = arith.ori(keeps, arith.xori(mask, always))
        return _chosen(keeps, best, found)

    def _first(self, left: _Best, right: _Best) -> _Best:
        """The better ones, and the earlier ones of equals and of NaNs."""
        earlier = arith.cmpi(arith.CmpIPredicate.slt, left.indices, right.indices)
        wins = arith.ori(arith.cmpf(arith.CmpFPredicate.ORD, right.numbers, right.numbers), earlier)
        return _chosen(self._keeps(left, right, earlier, wins), left, right)

    def _after(self, initial: _Best, total: _Best) -> _Best:
        """The body's own order: the earlier number is kept where it is NaN."""
        earlier = arith.cmpi(arith.CmpIPredicate.slt, initial.indices, total.indices)
        always = constant(earlier.type, ir.IntegerType.get_signless(1), 1)
        return _chosen(self._keeps(initial, total, earlier, always), initial, total)

    def _keeps(self, left: _Best, right: _Best, if_equal: ir.Value, if_nan: ir.Value) -> ir.Value:
        better = arith.cmpf(self._form.better, left.numbers, right.numbers)
        equal = arith.cmpf(arith.CmpFPredicate.OEQ, left.numbers, right.numbers)
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, left.numbers, left.numbers)
        tied = arith.ori(arith.andi(equal, if_equal), arith.andi(is_nan, if_nan))
        return arith.ori(better, tied)


def _chosen(keeps: ir.Value, left: _Best, right: _Best) -> _Best:
    return _Best(
        arith.select(keeps, left.numbers, right.numbers),
        arith.select(keeps, left.indices, right.indices),
    )
