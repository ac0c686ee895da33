"""Bodies of `linalg.generic` on buffers, vectorized along the innermost loop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector

from mlir_fp8.lowering.codec.float_codec import constant
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps
from mlir_fp8.lowering.rewriting.stablehlo import names

LANES = 16
_ELEMENTWISE = names(
    "arith",
    """addf subf mulf divf negf maximumf minimumf maxnumf minnumf cmpf extf truncf select bitcast
    constant addi subi muli andi ori xori shli shrui shrsi cmpi extui extsi trunci sitofp uitofp
    maxsi maxui minsi minui""",
)
_WIDTHS = (8, 16, 32, 64)
Position = list[ir.Value]
"""The induction variables."""


def runs_along(op: ir.Operation, results: int) -> bool:
    """Whether the innermost loop of `op` is a reduction to `results` buffers, of at least `LANES`
    contiguous numbers."""
    iterators = [str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    if not iterators or "reduction" not in iterators[-1] or len(op.results):
        return False
    if ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1] != results:
        return False
    operands, maps = list(op.operands), indexing_maps(op)
    if not all(map(_has_vectors, operands)):
        return False
    along = [_place(map_, len(iterators) - 1) for map_ in maps]
    if any(a is not None for a in along[-results:]):
        return False
    if any(a not in (None, len(m.results) - 1) for a, m in zip(along, maps, strict=True)):
        return False
    return any(a is not None and operands[i].type.shape[a] >= LANES for i, a in enumerate(along))


def is_elementwise(op: ir.Operation) -> bool:
    """Whether `op` has a vector form. Functions of f64 are scalar calls."""
    is_function = op.name.startswith("math.") and isinstance(op.results[0].type, ir.F32Type)
    return op.name in _ELEMENTWISE or is_function


def _has_vectors(value: ir.Value) -> bool:
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return isinstance(type_, ir.FloatType | ir.IntegerType)
    element = type_.element_type
    if not isinstance(element, ir.FloatType | ir.IntegerType) or element.width not in _WIDTHS:
        return False
    return type_.rank == 0 or type_.get_strides_and_offset()[0][-1] == 1


def _place(map_: ir.AffineMap, loop: int) -> int | None:
    """Which dimension of an operand `loop` indexes; -1 where it does so in another way."""
    place = None
    for index, result in enumerate(map_.results):
        if isinstance(result, ir.AffineDimExpr):
            if ir.AffineDimExpr(result).position == loop:
                place = index if place is None else -1
        elif not isinstance(result, ir.AffineConstantExpr):
            return -1
    return place


@dataclass(frozen=True)
class VectorBody:
    """The elementwise part of a reduction that `runs_along`, at the current insertion point."""

    op: ir.Operation
    elementwise: Sequence[ir.Operation]
    """The ops of the body that are computed on vectors, in order."""

    @cached_property
    def block(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    @cached_property
    def maps(self) -> list[ir.AffineMap]:
        return indexing_maps(self.op)

    @cached_property
    def sizes(self) -> list[int]:
        """The trip counts."""
        sizes: dict[int, int] = {}
        for map_, value in zip(self.maps, self.op.operands, strict=True):
            for index, expr in enumerate(map_.results):
                if isinstance(expr, ir.AffineDimExpr):
                    sizes[ir.AffineDimExpr(expr).position] = value.type.shape[index]
        return [sizes[loop] for loop in range(len(sizes))]

    def nest(self, emit: Callable[[Position], None], outer: Position | None = None) -> None:
        """Loops over all but the innermost, around what `emit` makes at a position in them."""
        position = outer or []
        if len(position) == len(self.sizes) - 1:
            emit(position)
            return
        loop = scf.ForOp(index(0), index(self.sizes[len(position)]), index(1))
        with ir.InsertionPoint(loop.body):
            self.nest(emit, [*position, loop.induction_variable])
            scf.YieldOp([])

    def value(
        self, value: ir.Value, position: Position, lanes: int, mask: ir.Value | None = None
    ) -> ir.Value:
        """`value` of the body in `lanes` iterations of the innermost loop from `position` on."""
        inputs = len(self.op.operands) - self._results
        mapping: dict[ir.Value, ir.Value] = {
            argument: self._read(number, position, lanes, mask)
            for number, argument in enumerate(list(self.block.arguments)[:inputs])
        }
        for op in self.elementwise:
            _vectorize(op, mapping, lanes)
        return _spread(value, mapping, lanes)

    def indices(self, number: int, position: Position) -> list[ir.Value]:
        """Where operand `number` is read or written."""
        return [
            position[ir.AffineDimExpr(expr).position]
            if isinstance(expr, ir.AffineDimExpr)
            else index(ir.AffineConstantExpr(expr).value)
            for expr in self.maps[number].results
        ]

    @cached_property
    def _results(self) -> int:
        return ir.DenseI32ArrayAttr(self.op.attributes["operandSegmentSizes"])[1]

    def _read(self, number: int, position: Position, lanes: int, mask: ir.Value | None) -> ir.Value:
        operand = self.op.operands[number]
        if not isinstance(operand.type, ir.MemRefType):
            return _broadcast(operand, lanes)
        indices = self.indices(number, position)
        if _place(self.maps[number], len(self.sizes) - 1) is None:
            return _broadcast(memref.load(operand, indices), lanes)
        type_ = ir.VectorType.get([lanes], operand.type.element_type)
        if mask is None:
            return vector.load(type_, operand, indices)
        zero = constant(type_, operand.type.element_type, 0)
        return vector.maskedload(type_, operand, indices, mask, zero)


def _vectorize(op: ir.Operation, mapping: dict[ir.Value, ir.Value], lanes: int) -> None:
    type_ = ir.VectorType.get([lanes], op.results[0].type)
    attributes = dict(op.attributes.items())
    if op.name == "arith.constant":
        attributes["value"] = ir.DenseElementsAttr.get_splat(type_, attributes["value"])
    operands = [_spread(value, mapping, lanes) for value in op.operands]
    mapping[op.results[0]] = ir.Operation.create(op.name, [type_], operands, attributes).results[0]


def _spread(value: ir.Value, mapping: dict[ir.Value, ir.Value], lanes: int) -> ir.Value:
    return mapping[value] if value in mapping else _broadcast(value, lanes)


def _broadcast(value: ir.Value, lanes: int) -> ir.Value:
    return vector.broadcast(ir.VectorType.get([lanes], value.type), value)


def first_lanes_mask(count: int) -> ir.Value:
    """The first `count` of `LANES`."""
    type_ = ir.VectorType.get([LANES], ir.IntegerType.get_signless(1))
    return vector.constant_mask(type_, [count])


def halves(lanes: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The lower and the upper lanes."""
    type_ = ir.VectorType(lanes.type)
    count = type_.shape[0] // 2
    half = ir.VectorType.get([count], type_.element_type)
    lower, upper = (
        vector.extract_strided_slice(half, lanes, [first], [count], [1]) for first in (0, count)
    )
    return lower, upper


def index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
