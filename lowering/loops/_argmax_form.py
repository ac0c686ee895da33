"""Matches an argmax in a `linalg.generic` on buffers."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.lowering.loops._vector_bodies import is_elementwise

_OEQ, _UNE = int(arith.CmpFPredicate.OEQ), int(arith.CmpFPredicate.UNE)
_SLT = int(arith.CmpIPredicate.slt)
_BETTER = {int(each): each for each in (arith.CmpFPredicate.OGT, arith.CmpFPredicate.OLT)}


@dataclass(frozen=True)
class ArgmaxForm:
    """An argmax or argmin, as JAX writes it.

    `keep = acc better than x or acc is NaN; keep_index = keep or acc == x and acc_index < index`.
    """

    number: ir.Value
    """The candidate, computed by `elementwise`."""
    elementwise: list[ir.Operation]
    better: arith.CmpFPredicate


def matched(op: ir.Operation) -> ArgmaxForm | None:
    """The argmax that a `linalg.generic` with two results is, if it is one."""
    block = op.regions[0].blocks[0]
    *body, terminator = [inner.operation for inner in block.operations]
    number, place = list(block.arguments)[-2:]
    if not isinstance(number.type, ir.F32Type | ir.F64Type):
        return None
    chosen, index_ = (defining(value, "arith.select") for value in terminator.operands)
    if chosen is None or index_ is None:
        return None
    if chosen.operands[1] != number or index_.operands[1] != place:
        return None
    candidate, counted = chosen.operands[2], index_.operands[2]
    is_better = _either(chosen.operands[0])
    is_first = _either(index_.operands[0])
    if is_better is None or is_first is None or is_first[0] != chosen.operands[0]:
        return None
    compared = _comparison(is_better[0], number, candidate)
    both = defining(is_first[1], "arith.andi")
    if compared not in _BETTER or both is None or _comparison(is_better[1], number, number) != _UNE:
        return None
    if _comparison(both.operands[0], number, candidate) != _OEQ:
        return None
    if _comparison(both.operands[1], place, counted) != _SLT:
        return None
    if not _counts_last_loop(counted, op):
        return None
    needed = _needed(candidate, body)
    taken = [] if needed is None else [value for each in needed for value in each.operands]
    if needed is None or number in taken or place in taken:
        return None
    return ArgmaxForm(candidate, needed, _BETTER[compared])


def defining(value: ir.Value, name: str) -> ir.Operation | None:
    if isinstance(value.owner, ir.Block) or value.owner.name != name:
        return None
    return value.owner.operation


def _either(value: ir.Value) -> list[ir.Value] | None:
    either = defining(value, "arith.ori")
    return None if either is None else list(either.operands)


def _comparison(value: ir.Value, left: ir.Value, right: ir.Value) -> int | None:
    """The predicate by which `value` compares `left` with `right`."""
    for name in ("arith.cmpf", "arith.cmpi"):
        compare = defining(value, name)
        if compare is not None and list(compare.operands) == [left, right]:
            return ir.IntegerAttr(compare.attributes["predicate"]).value
    return None


def counts_once(op: ir.Operation, size: int) -> bool:
    """Whether the last loop, of trip count `size`, is the only reduction, and its indices fit."""
    kinds = [str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    type_ = ir.MemRefType(op.operands[len(op.operands) - 1].type).element_type
    fits = size <= 1 << (ir.IntegerType(type_).width - 1)
    return fits and sum("reduction" in kind for kind in kinds) == 1


def _counts_last_loop(value: ir.Value, op: ir.Operation) -> bool:
    cast = defining(value, "arith.index_cast")
    counter = None if cast is None else defining(cast.operands[0], "linalg.index")
    last = len(ir.ArrayAttr(op.attributes["iterator_types"])) - 1
    return counter is not None and ir.IntegerAttr(counter.attributes["dim"]).value == last


def _needed(value: ir.Value, body: list[ir.Operation]) -> list[ir.Operation] | None:
    """The ops of `body` that compute `value`, in order, if they are elementwise."""
    wanted, needed = {value}, []
    for op in reversed(body):
        if any(result in wanted for result in op.results):
            wanted.update(op.operands)
            needed.append(op)
    return needed[::-1] if all(map(is_elementwise, needed)) else None


def is_unread(buffer: ir.Value, op: ir.Operation) -> bool:
    """Whether `buffer` is allocated here, filled each time before `op`, and has no other reader."""
    if defining(buffer, "memref.alloc") is None:
        return False
    users = {use.owner.operation for use in buffer.uses} - {op}
    fills = [user for user in users if user.name != "memref.dealloc"]
    return bool(fills) and all(user.block == op.block and _fills(user, buffer) for user in fills)


def _fills(op: ir.Operation, buffer: ir.Value) -> bool:
    if op.name != "linalg.generic" or len(op.operands) != 2 or op.operands[1] != buffer:
        return False
    return op.operands[0] != buffer and not list(op.regions[0].blocks[0].arguments[1].uses)
