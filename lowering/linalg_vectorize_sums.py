"""`linalg-vectorize-sums`: sums along contiguous numbers add 16 or 64 at once.

A float addition may not be moved by LLVM, which leaves a sum to one addition after the other. How
many sums are kept depends on the shapes alone, so that the result is the same bits on each machine.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._float_codec import constant
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import names

LANES = 16
WIDE = 4
"""Vectors of `LANES` that are summed side by side, where there is little else to keep."""
_NEUTRAL = {"arith.addf": -0.0, "arith.mulf": 1.0}
_ELEMENTWISE = names(
    "arith",
    """addf subf mulf divf negf maximumf minimumf maxnumf minnumf cmpf extf truncf select bitcast
    constant addi subi muli andi ori xori shli shrui shrsi cmpi extui extsi trunci sitofp uitofp
    maxsi maxui minsi minui""",
)
_WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class LinalgVectorizeSums(ModulePass):
    """Turn `linalg.generic` sums and products of floats on buffers into loops over vectors.

    The innermost loop must be the reduction, along the last dimension of what it reads, and at
    least 16 long. What is left of the length goes through a mask.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and _is_taken(op):
                    with ir.InsertionPoint(op), op.location:
                        _Sum(op).emit()
                    op.erase()


def _maps(op: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]


def _is_taken(op: ir.Operation) -> bool:
    iterators = [str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    operands, maps = list(op.operands), _maps(op)
    if not iterators or "reduction" not in iterators[-1] or len(op.results):
        return False
    if list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1] != 1:
        return False
    if not all(map(_has_vectors, operands)):
        return False
    along = [_place(map_, len(iterators) - 1) for map_ in maps]
    if along[-1] is not None or any(
        a not in (None, len(m.results) - 1) for a, m in zip(along, maps, strict=True)
    ):
        return False
    if not any(a is not None and operands[i].type.shape[a] >= LANES for i, a in enumerate(along)):
        return False
    return _added(op) is not None


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
    known = all(each.name in _ELEMENTWISE or _is_function_of_f32(each) for each in body)
    first, second = combiner.operands
    return (second if first == accumulator else first) if known else None


def _is_function_of_f32(op: ir.Operation) -> bool:
    """Those of f64 are calls, of one number each."""
    return op.name.startswith("math.") and isinstance(op.results[0].type, ir.F32Type)


class _Sum:
    """Emits one sum, at the current insertion point."""

    def __init__(self, op: ir.Operation) -> None:
        self._operands, self._maps = list(op.operands), _maps(op)
        self._block = op.regions[0].blocks[0]
        self._added = _added(op)
        self._combiner = self._block.operations[len(self._block.operations) - 1].operands[0].owner
        self._element = self._block.arguments[len(self._block.arguments) - 1].type
        sizes: dict[int, int] = {}
        for map_, value in zip(self._maps, self._operands, strict=True):
            for index, expr in enumerate(map_.results):
                if isinstance(expr, ir.AffineDimExpr):
                    sizes[ir.AffineDimExpr(expr).position] = value.type.shape[index]
        self._sizes = [sizes[loop] for loop in range(len(sizes))]
        self._last = len(sizes) - 1
        has_functions = any(o.operation.name.startswith("math.") for o in self._block.operations)
        self._wide = 1 if has_functions or self._sizes[-1] < 2 * WIDE * LANES else WIDE

    def emit(self) -> None:
        self._nest([])

    def _nest(self, position: list[ir.Value]) -> None:
        if len(position) < self._last:
            size = self._sizes[len(position)]
            loop = scf.ForOp(_index(0), _index(size), _index(1))
            with ir.InsertionPoint(loop.body):
                self._nest([*position, loop.induction_variable])
                scf.YieldOp([])
            return
        size = self._sizes[-1]
        lanes = LANES * self._wide
        sums = self._neutral(lanes)
        sums = self._chunks(position, 0, size // lanes * lanes, lanes, sums)
        while lanes > LANES:
            lanes //= 2
            sums = self._halved(sums, lanes)
        whole = size // LANES * LANES
        sums = self._chunks(
            position, size // (LANES * self._wide) * LANES * self._wide, whole, LANES, sums
        )
        if whole < size:
            sums = self._with_rest(position, whole, size - whole, sums)
        while lanes > 1:
            lanes //= 2
            sums = self._halved(sums, lanes)
        out = self._operands[-1]
        indices = self._indices(len(self._operands) - 1, position)
        total = vector.extract(sums, [], [0])
        memref.store(self._combined(memref.load(out, indices), total), out, indices)

    def _chunks(
        self, position: list[ir.Value], first: int, end: int, lanes: int, sums: ir.Value
    ) -> ir.Value:
        """`sums` and what is added in steps of `lanes` from `first` to `end`."""
        if first == end:
            return sums
        loop = scf.ForOp(_index(first), _index(end), _index(lanes), [sums])
        with ir.InsertionPoint(loop.body):
            value = self._values([*position, loop.induction_variable], lanes, None)
            scf.YieldOp([self._combined(loop.inner_iter_args[0], value)])
        return loop.results[0]

    def _with_rest(
        self, position: list[ir.Value], first: int, count: int, sums: ir.Value
    ) -> ir.Value:
        type_ = ir.VectorType.get([LANES], ir.IntegerType.get_signless(1))
        mask = vector.constant_mask(type_, [count])
        value = self._values([*position, _index(first)], LANES, mask)
        return self._combined(sums, arith.select(mask, value, self._neutral(LANES)))

    def _values(self, position: list[ir.Value], lanes: int, mask: ir.Value | None) -> ir.Value:
        mapping: dict[ir.Value, ir.Value] = {}
        arguments = list(self._block.arguments)[:-1]
        for index, argument in enumerate(arguments):
            mapping[argument] = self._read(index, position, lanes, mask)
        for inner in list(self._block.operations)[:-1]:
            if inner.operation != self._combiner.operation:
                self._vectorize(inner.operation, mapping, lanes)
        assert self._added is not None
        return self._spread(self._added, mapping, lanes)

    def _read(
        self, index: int, position: list[ir.Value], lanes: int, mask: ir.Value | None
    ) -> ir.Value:
        operand = self._operands[index]
        if not isinstance(operand.type, ir.MemRefType):
            return _broadcast(operand, lanes)
        indices = self._indices(index, position)
        if _place(self._maps[index], self._last) is None:
            return _broadcast(memref.load(operand, indices), lanes)
        type_ = ir.VectorType.get([lanes], operand.type.element_type)
        if mask is None:
            return vector.load(type_, operand, indices)
        zero = constant(type_, operand.type.element_type, 0)
        return vector.maskedload(type_, operand, indices, mask, zero)

    def _indices(self, index: int, position: list[ir.Value]) -> list[ir.Value]:
        return [
            position[ir.AffineDimExpr(expr).position]
            if isinstance(expr, ir.AffineDimExpr)
            else _index(ir.AffineConstantExpr(expr).value)
            for expr in self._maps[index].results
        ]

    def _vectorize(self, op: ir.Operation, mapping: dict[ir.Value, ir.Value], lanes: int) -> None:
        type_ = ir.VectorType.get([lanes], op.results[0].type)
        attributes = dict(op.attributes.items())
        if op.name == "arith.constant":
            attributes["value"] = ir.DenseElementsAttr.get_splat(type_, attributes["value"])
        operands = [self._spread(value, mapping, lanes) for value in op.operands]
        new = ir.Operation.create(op.name, [type_], operands, attributes)
        mapping[op.results[0]] = new.results[0]

    def _spread(self, value: ir.Value, mapping: dict[ir.Value, ir.Value], lanes: int) -> ir.Value:
        return mapping[value] if value in mapping else _broadcast(value, lanes)

    def _halved(self, sums: ir.Value, lanes: int) -> ir.Value:
        def half(offset: int) -> ir.Value:
            type_ = ir.VectorType.get([lanes], self._element)
            return vector.extract_strided_slice(type_, sums, [offset], [lanes], [1])

        return self._combined(half(0), half(lanes))

    def _combined(self, left: ir.Value, right: ir.Value) -> ir.Value:
        name = self._combiner.operation.name
        return ir.Operation.create(name, [left.type], [left, right]).results[0]

    def _neutral(self, lanes: int) -> ir.Value:
        type_ = ir.VectorType.get([lanes], self._element)
        return constant(type_, self._element, _NEUTRAL[self._combiner.operation.name])


def _broadcast(value: ir.Value, lanes: int) -> ir.Value:
    return vector.broadcast(ir.VectorType.get([lanes], value.type), value)


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
