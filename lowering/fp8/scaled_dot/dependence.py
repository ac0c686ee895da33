"""Which ops of a block depend on a value, and whether they may be moved."""

from functools import cmp_to_key

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.rewriting.stablehlo import names

_EFFECTS = names("stablehlo", "custom_call infeed outfeed send recv rng rng_bit_generator")
_DIALECTS = ("stablehlo.", "chlo.", "fp8.")


def dependents(value: ir.Value, before: ir.Operation) -> list[ir.Operation]:
    """The ops that need `value`, in order, up to and with `before`, whose block they are in."""
    found: dict[ir.Operation, None] = {}
    pending = [value]
    while pending:
        for user in users(pending.pop()):
            op = _in_block(user, before.block)
            if op is None or op in found or before.is_before_in_block(op):
                continue
            found[op] = None
            pending.extend(op.results)
    return sorted(found, key=cmp_to_key(_order))


def _order(a: ir.Operation, b: ir.Operation) -> int:
    return -1 if a.is_before_in_block(b) else 1


def may_move(ops: list[ir.Operation]) -> bool:
    """Whether the `ops` may be reordered with others: no side effects."""
    inner = [op for each in ops for op in operations(each)]
    return all(op.name.startswith(_DIALECTS) and op.name not in _EFFECTS for op in inner)


def _in_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """`op`, or the op of `block` that holds it."""
    while op.block != block:
        parent = op.parent
        if parent is None or parent.operation.name in ("func.func", "builtin.module"):
            return None
        op = parent.operation
    return op
