"""Which elementwise ops on buffers may be computed by their reader instead, and what is left over."""

from collections.abc import Iterator

from torch_mlir import ir

from mlir_fp8.lowering._kernel_expression import Expression, Leaf, body_slice
from mlir_fp8.lowering._stablehlo import names

_VIEWS = names("memref", "cast collapse_shape expand_shape reinterpret_cast subview")
_SILENT = ("memref.alloc", "memref.alloca", "memref.get_global")


def root_buffer(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of, or itself."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    return value


def are_distinct(left: ir.Value, right: ir.Value) -> bool:
    """Whether two views cannot share memory."""
    left, right = root_buffer(left), root_buffer(right)
    if left == right:
        return False
    return any(_is_allocated(each) for each in (left, right)) or (
        _is_entry_argument(left) and _is_entry_argument(right)
    )


def _is_allocated(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in _SILENT


def _is_entry_argument(value: ir.Value) -> bool:
    if not isinstance(value.owner, ir.Block):
        return False
    function = value.owner.owner.operation
    visibility = str(function.attributes["sym_visibility"]) if "sym_visibility" in function.attributes else ""
    return function.name == "func.func" and visibility != '"private"'


def written(op: ir.Operation) -> list[ir.Value] | None:
    """The buffers that `op` writes to; None where that is not known."""
    if op.name in _SILENT or op.name in _VIEWS or op.name.startswith("arith."):
        return []
    if op.name.startswith("linalg.") and not len(op.results):
        return list(op.operands)[_input_count(op) :]
    if op.name == "memref.copy":
        return [op.operands[1]]
    return None


def _input_count(op: ir.Operation) -> int:
    if "operandSegmentSizes" in op.attributes:
        return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[0]
    return len(op.operands) - 1


class BlockOrder:
    """The ops of one block, with their places."""

    def __init__(self, block: ir.Block) -> None:
        self.ops = [op.operation for op in block.operations]
        self._places = {op: place for place, op in enumerate(self.ops)}

    def between(self, first: ir.Operation, last: ir.Operation) -> list[ir.Operation] | None:
        """The ops after `first` and before `last`; None where they do not come in that order."""
        places = self._places.get(first), self._places.get(last)
        if places[0] is None or places[1] is None or places[0] >= places[1]:
            return None
        return self.ops[places[0] + 1 : places[1]]

    def before(self, op: ir.Operation) -> Iterator[ir.Operation]:
        """What comes before `op`, the nearest first."""
        return reversed(self.ops[: self._places[op]])


def _unchanged(values: list[ir.Value], ops: list[ir.Operation]) -> bool:
    """Whether none of `ops` writes to what `values` are views of."""
    for op in ops:
        targets = written(op)
        if targets is None:
            return False
        if not all(are_distinct(target, value) for target in targets for value in values):
            return False
    return True


def producer_of(
    reader: ir.Operation, order: BlockOrder, buffer: ir.Value, map_: ir.AffineMap
) -> Expression | None:
    """What the elements of `buffer` are computed by, where `reader` can do that itself.

    `map_` is that of the reader, whose dimensions the strides are along.
    """
    op = _only_writer(buffer)
    between = None if op is None else order.between(op, reader)
    if op is None or between is None:
        return None
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    *inputs, _ = op.operands
    if not maps[-1].is_permutation:
        return None
    block = op.regions[0].blocks[0]
    root = list(block.operations)[-1].operation.operands[0]
    found = body_slice(root)
    if found is None or not found[1] or list(block.arguments)[-1] in found[1]:
        return None
    if not _unchanged(inputs, between):
        return None
    sources: dict[ir.Value, Leaf | ir.Value] = {}
    for argument in found[1]:
        number = list(block.arguments).index(argument)
        read = buffer_leaf(op.operands[number], maps[number])
        if read is None:
            return None
        strides = [0] * map_.n_dims
        for mine, own in zip(dimensions(map_), dimensions(maps[-1]), strict=True):
            strides[mine] = read.strides[own]
        sources[argument] = Leaf(read.buffer, tuple(strides), read.offset)
    return Expression(root, sources)


def dimensions(map_: ir.AffineMap) -> list[int]:
    """The dimensions that a projected permutation gives, in order."""
    return [ir.AffineDimExpr(result).position for result in map_.results]


def buffer_leaf(value: ir.Value, map_: ir.AffineMap) -> Leaf | None:
    """A buffer of static layout as `map_` reads it; None where that takes more than strides."""
    type_ = value.type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape:
        return None
    if not map_.is_projected_permutation:
        return None
    steps, offset = type_.get_strides_and_offset()
    if any(number < 0 for number in [*steps, offset]):
        return None
    strides = [0] * map_.n_dims
    for dimension, step in zip(dimensions(map_), steps, strict=True):
        strides[dimension] = step
    return Leaf(value, tuple(strides), offset)


def _only_writer(buffer: ir.Value) -> ir.Operation | None:
    """The one elementwise op that writes an allocation which otherwise is only read."""
    if isinstance(buffer.owner, ir.Block) or buffer.owner.operation.name != "memref.alloc":
        return None
    writers = []
    for use in buffer.uses:
        user = use.owner.operation
        targets = written(user)
        if user.name in _VIEWS or targets is None:
            return None
        if buffer in targets:
            writers.append(user)
    if len(writers) != 1 or not is_elementwise(writers[0]):
        return None
    return writers[0]


def is_elementwise(op: ir.Operation) -> bool:
    """Whether `op` is a `linalg.generic` of parallel loops with one result."""
    if op.name != "linalg.generic":
        return False
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    if any("parallel" not in str(each) for each in iterators):
        return False
    return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1] == 1


def zero_fill(reader: ir.Operation, order: BlockOrder, out: ir.Value) -> ir.Operation | None:
    """The op that fills `out` with zeros, where nothing touches it until `reader` does."""
    for op in order.before(reader):
        if op.name in _VIEWS or op.name in _SILENT:
            continue
        touches = written(op) is None or any(
            isinstance(operand.type, ir.MemRefType) and not are_distinct(operand, out)
            for operand in op.operands
        )
        if touches:
            return op if _fills_with_zero(op, out) else None
    return None


def _fills_with_zero(op: ir.Operation, out: ir.Value) -> bool:
    if not is_elementwise(op) or op.operands[len(op.operands) - 1] != out:
        return False
    yielded = list(op.regions[0].blocks[0].operations)[-1].operation.operands[0]
    if isinstance(yielded.owner, ir.Block):
        if yielded.owner != op.regions[0].blocks[0]:
            return False
        number = ir.BlockArgument(yielded).arg_number
        if number == len(op.operands) - 1:
            return False
        yielded = op.operands[number]
        if isinstance(yielded.owner, ir.Block):
            return False
    constant = yielded.owner.operation
    return constant.name == "arith.constant" and str(constant.attributes["value"]) == "0.000000e+00 : f32"


def erase_unread(allocations: list[ir.Value]) -> None:
    """Erase allocations that are only written to, and what writes to them."""
    for buffer in allocations:
        users = [use.owner.operation for use in buffer.uses]
        writes = all(
            is_elementwise(user) and list(user.operands).count(buffer) == 1
            and user.operands[len(user.operands) - 1] == buffer
            for user in users
        )
        if writes:
            for user in users:
                user.erase()
            buffer.owner.operation.erase()
