"""Which loops are parallel, and which of them are worth threads."""

import math
from collections.abc import Callable, Hashable, Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.rewriting.layer_functions import is_layer
from mlir_fp8.lowering.rewriting.stablehlo import names

PARALLEL = "mlir_fp8.parallel"
"""On a function whose last arguments are a range of iterations, the end exclusive."""

# What an iteration may hold besides pure ops and the memory accesses checked below.
_HARMLESS = names("scf", "for if yield while condition index_switch") | names(
    "memref", "alloca alloc dealloc"
)
_VIEWS = names("memref", "cast collapse_shape expand_shape reinterpret_cast subview")
FRESH = ("memref.alloc", "memref.alloca")
_RESHAPES = names("memref", "collapse_shape expand_shape")
_PURE_DIALECTS = frozenset({"arith", "math", "complex", "index", "affine"})
_PURE_VECTORS = names("vector", "broadcast constant_mask extract extract_strided_slice shuffle")
LOADS = {"memref.load": None, "vector.load": None, "vector.maskedload": -2}
"""Ops that read a buffer, with the end of their index operands."""
STORES = ("memref.store", "vector.store")
FUNCTION_COST = 16
_FUNCTION_TIME, _MEMORY_TIME = 64, 4
"""Costs in units of some 0.01 ns, the time of a scalar op inside a vector op."""
_LEAST_TIME = 1 << 23
"""Some 0.1 ms: below it, waking threads costs what they save."""
_GRAIN_TIME = 1 << 18
_GRAIN_ELEMENTS = 64
"""The grain of a loop without inner loops is a multiple of this: whole vectors."""


def grain(loop: ir.Operation) -> int | None:
    """The grain of `loop`: the least iterations worth a thread; None where it stays serial.

    A parallel loop has no loop-carried dependence: each iteration stores at its own index along
    some dimension, and loads what is stored at that index alone. The caller guarantees that buffers
    with different origins do not alias.
    """
    count = trip_count(loop)
    if count < 2 or known_integer(loop.operands[0]) != 0 or known_integer(loop.operands[2]) != 1:
        return None
    body = work(loop, _time) // count
    if count * body < _LEAST_TIME or not _is_parallel(loop):
        return None
    least = max(1, _GRAIN_TIME // max(body, 1))
    has_inner = any(op.name == "scf.for" for op in operations(loop) if op != loop)
    return least if has_inner else -(-least // _GRAIN_ELEMENTS) * _GRAIN_ELEMENTS


def known_integer(value: ir.Value) -> int | None:
    """The integer that `value` is a constant of."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def trip_count(loop: ir.Operation) -> int:
    """The trip count of an `scf.for`, or of a block of one at most; 1 where it is not known."""
    lower, upper, step = (known_integer(bound) for bound in list(loop.operands)[:3])
    if lower is None and upper is None:
        lower, upper = 0, _block_size(*list(loop.operands)[:2])
    if lower is None or upper is None or step is None or step < 1:
        return 1
    return max(0, math.ceil((upper - lower) / step))


def _block_size(lower: ir.Value, upper: ir.Value) -> int | None:
    """The c of an `upper` that is `lower + c`, or no more than that (see `_sum_levels`)."""
    for _ in range(2):
        owner = upper.owner
        if isinstance(owner, ir.Block):
            return None
        if owner.name == "arith.addi" and owner.operands[0] == lower:
            return known_integer(owner.operands[1])
        if owner.name != "arith.minui":
            return None
        upper = owner.operands[0]
    return None


def _scalar_ops(op: ir.Operation) -> int:
    return FUNCTION_COST if op.name.startswith("math.") else 1


def _time(op: ir.Operation) -> int:
    if op.name in LOADS or op.name in STORES:
        return _MEMORY_TIME
    return _FUNCTION_TIME if op.name.startswith("math.") else 1


def work(loop: ir.Operation, cost: Callable[[ir.Operation], int] = _scalar_ops) -> int:
    """A cost estimate of `loop` in scalar ops; unknown trip counts count as one."""
    total = 0
    for op in [op.operation for region in loop.regions for block in region for op in block]:
        total += cost(op) * _lanes(op)
        total += work(op, cost) if len(op.regions) else 0
    return total * (trip_count(loop) if loop.name == "scf.for" else 1)


def _lanes(op: ir.Operation) -> int:
    types = [result.type for result in op.results]
    return math.prod(types[0].shape) if types and isinstance(types[0], ir.VectorType) else 1


def _is_parallel(loop: ir.Operation) -> bool:
    return are_independent([loop])


def are_independent(loops: Sequence[ir.Operation]) -> bool:
    """Whether `loops`, fused or one after the other, have no loop-carried dependence."""
    stored: dict[ir.Value, Hashable] = {}
    for loop in loops:
        index, inside = loop.regions[0].blocks[0].arguments[0], operations(loop)
        own = {result for op in inside for result in op.results}
        for op in inside:
            if op.name not in STORES or origin(op.operands[1]) in own:
                continue
            buffer, *indices = list(op.operands)[1:]
            part = _part(buffer, indices, index)
            if part is None or stored.setdefault(origin(buffer), part) != part:
                return False
    return all(
        _keeps_apart(op, loop.regions[0].blocks[0].arguments[0], stored)
        for loop in loops
        for op in operations(loop)
    )


def _part(buffer: ir.Value, indices: list[ir.Value], index: ir.Value) -> Hashable | None:
    """A key that is equal for accesses to the same part of a buffer at the same `index`; or None.

    Where `index` is outermost, that is a run of elements, whatever shape the whole buffer is given.
    """
    if index not in indices:
        return None
    place = indices.index(index)
    buffer, place, offset = _viewed(buffer, place)
    part = _part_of_whole(buffer, place)
    return part if offset == 0 else (part, offset)


def _viewed(buffer: ir.Value, place: int) -> tuple[ir.Value, int, int]:
    """What `buffer` is a view of, as long as dimension `place` has unit stride in it.

    Also gives that dimension there, and the offset along it.
    """
    first = 0
    while not isinstance(buffer.owner, ir.Block):
        view = buffer.owner
        if view.name == "memref.subview":
            offset = ir.DenseI64ArrayAttr(view.attributes["static_offsets"])[place]
            stride = ir.DenseI64ArrayAttr(view.attributes["static_strides"])[place]
            is_known = offset != ir.ShapedType.get_dynamic_stride_or_offset() and stride == 1
            if view.operands[0].type.rank != buffer.type.rank or not is_known:
                break
            first += offset
        elif view.name == "memref.collapse_shape":
            groups = [
                list(ir.ArrayAttr(each)) for each in ir.ArrayAttr(view.attributes["reassociation"])
            ]
            if len(groups[place]) != 1:
                break
            place = ir.IntegerAttr(groups[place][0]).value
        else:
            break
        buffer = view.operands[0]
    return buffer, place, first


def _part_of_whole(buffer: ir.Value, place: int) -> Hashable:
    whole = buffer
    while not isinstance(whole.owner, ir.Block) and whole.owner.name in _RESHAPES:
        whole = whole.owner.operands[0]
    shape = list(buffer.type.shape)
    is_whole = whole == origin(buffer) and buffer.type.has_static_shape
    if is_whole and math.prod(shape[:place]) == 1:
        return math.prod(shape[place + 1 :])
    return buffer, place


def _keeps_apart(op: ir.Operation, index: ir.Value, stored: dict[ir.Value, Hashable]) -> bool:
    if op.name in LOADS:
        buffer, *indices = list(op.operands)[: LOADS[op.name]]
        part = stored.get(origin(buffer))
        return part is None or _part(buffer, indices, index) == part
    if op.name in STORES or op.name in _HARMLESS | _PURE_VECTORS:
        return True
    return op.name in _VIEWS or op.name.partition(".")[0] in _PURE_DIALECTS


def origin(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _VIEWS:
        value = value.owner.operands[0]
    return value


def has_own_origin(value: ir.Value) -> bool:
    """Whether no other value that is passed can alias it (or it is no memory).

    An allocation has. So has an entry function's argument: results never alias anything, and other
    arguments are never written; and a layer's. Other private functions may be called with aliases.
    """
    if isinstance(value.type, ir.IndexType | ir.IntegerType | ir.FloatType | ir.VectorType):
        return True
    if not isinstance(value.type, ir.MemRefType):
        return False
    while not isinstance(value.owner, ir.Block) and value.owner.name in _RESHAPES:
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block):
        function = owner.owner.operation
        is_entry = function.name == "func.func" and owner == function.regions[0].blocks[0]
        visibility = str(function.attributes.get("sym_visibility", ""))
        return is_entry and (visibility != '"private"' or is_layer(function))
    return owner.operation.name in FRESH
