"""Which loops threads may share, and which are worth it."""

import math

from torch_mlir import ir

from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import names

# What an iteration may do, next to pure ops and to what memory is asked below.
_HARMLESS = names("scf", "for if yield while condition index_switch") | names(
    "memref", "alloca alloc dealloc"
)
_VIEWS = names("memref", "cast collapse_shape expand_shape reinterpret_cast subview")
_PURE_DIALECTS = frozenset({"arith", "math", "complex", "index", "affine"})
_MATH_COST = 16
_LEAST_WORK = 1 << 19
"""Of scalar ops; what takes threads longer to begin than the loop takes is not worth it."""
_GRAIN_WORK = 1 << 16
_GRAIN_ELEMENTS = 64
"""Iterations of a loop without inner loops come in multiples of whole vectors."""


def grain(loop: ir.Operation) -> int | None:
    """How many iterations of `loop` a thread takes at once; None where one thread takes all.

    Iterations must not depend on each other: each stores at its own index along some dimension, and
    reads what is stored at that index alone. Buffers with different origins do not overlap: the
    caller has seen to that.
    """
    count = _trip_count(loop)
    if count < 2 or _constant(loop.operands[0]) != 0 or _constant(loop.operands[2]) != 1:
        return None
    body = _work(loop) // count
    if count * body < _LEAST_WORK or not _is_parallel(loop):
        return None
    least = max(1, _GRAIN_WORK // max(body, 1))
    has_inner = any(op.name == "scf.for" for op in operations(loop) if op != loop)
    return least if has_inner else -(-least // _GRAIN_ELEMENTS) * _GRAIN_ELEMENTS


def _constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def _trip_count(loop: ir.Operation) -> int:
    """How often an `scf.for` runs; 1 where that is not known."""
    lower, upper, step = (_constant(bound) for bound in list(loop.operands)[:3])
    if lower is None or upper is None or step is None or step < 1:
        return 1
    return max(0, math.ceil((upper - lower) / step))


def _work(loop: ir.Operation) -> int:
    """About how many scalar ops `loop` runs; loops of unknown length count once."""
    total = 0
    for op in [op.operation for region in loop.regions for block in region for op in block]:
        total += _MATH_COST if op.name.startswith("math.") else 1
        total += _work(op) if len(op.regions) else 0
    return total * (_trip_count(loop) if loop.name == "scf.for" else 1)


def _is_parallel(loop: ir.Operation) -> bool:
    index = loop.regions[0].blocks[0].arguments[0]
    inside = operations(loop)
    own = {result for op in inside for result in op.results}
    stored: dict[ir.Value, tuple[ir.Value, int]] = {}
    for op in inside:
        if op.name != "memref.store" or _origin(op.operands[1]) in own:
            continue
        buffer, *indices = list(op.operands)[1:]
        if index not in indices:
            return False
        place = (buffer, indices.index(index))
        if stored.setdefault(_origin(buffer), place) != place:
            return False
    return all(_keeps_apart(op, index, stored) for op in inside)


def _keeps_apart(
    op: ir.Operation, index: ir.Value, stored: dict[ir.Value, tuple[ir.Value, int]]
) -> bool:
    if op.name == "memref.load":
        buffer, *indices = op.operands
        place = stored.get(_origin(buffer))
        return place is None or (place[0] == buffer and indices[place[1]] == index)
    if op.name == "memref.store" or op.name in _HARMLESS:
        return True
    return op.name in _VIEWS or op.name.partition(".")[0] in _PURE_DIALECTS


def _origin(value: ir.Value) -> ir.Value:
    while not isinstance(value.owner, ir.Block) and value.owner.name in _VIEWS:
        value = value.owner.operands[0]
    return value
