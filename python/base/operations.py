"""The ops of a module, in lists that survive rewriting, one replaced, and their attributes."""

from collections.abc import Callable, Iterable, Iterator

from torch_mlir import ir

from mlir_fp8.base.shardings import annotate, read_sharding


def operations(root: ir.Operation, *names: str, inner_first: bool = False) -> list[ir.Operation]:
    """All ops under and with `root`, or those of `names`, in a list that survives rewriting.

    Pre-order, or post-order with `inner_first`: bodies are then rewritten before their ops.
    """
    found: list[ir.Operation] = []
    add, advance = found.append, ir.WalkResult.ADVANCE  # a hoisted lookup: a fifth of the time

    def visit(op: ir.Operation | ir.OpView) -> ir.WalkResult:
        add(op.operation)
        return advance

    root.walk(visit, ir.WalkOrder.POST_ORDER if inner_first else ir.WalkOrder.PRE_ORDER)
    return [op for op in found if op.name in names] if names else found


def clone_op(
    op: ir.Operation, values: dict[ir.Value, ir.Value], place: ir.InsertionPoint | None = None
) -> ir.Operation:
    """A copy of `op` whose operands are what `values` has for them; it then has the results too."""
    copy = op.clone(place).operation
    for each in operations(copy):
        for index, operand in enumerate(each.operands):
            if operand in values:
                each.operands[index] = values[operand]
    values.update(zip(op.results, copy.results, strict=True))
    return copy


def replace_op(op: ir.Operation, values: Iterable[ir.Value]) -> None:
    """Put `values` into the place of the results of `op`, which goes; they say its shardings."""
    for index, (result, value) in enumerate(zip(op.results, values, strict=True)):
        _keep_sharding(op, index, value)
        result.replace_all_uses_with(value)
    op.erase()


def _keep_sharding(op: ir.Operation, index: int, value: ir.Value) -> None:
    made, sharding = producer(value), read_sharding(op.attributes, index)
    if sharding is None or made is None or op.name == "stablehlo.custom_call":
        return
    if len(made.results) == 1 and value.type == op.results[index].type:
        annotate(made, sharding)


def is_used(value: ir.Value) -> bool:
    """Whether any op uses `value`; a constant that many share has a long list of users."""
    return next(iter(value.uses), None) is not None


def read_instead(value: ir.Value, make: Callable[[ir.Value], ir.Value]) -> None:
    """Let what reads `value` now read what `make` makes of it."""
    uses = [(use.owner, use.operand_number) for use in value.uses]
    made = make(value)
    for user, index in uses:
        user.operation.operands[index] = made


def erase_with_producers(op: ir.Operation, may_go: Callable[[ir.Operation], bool]) -> None:
    """Erase `op` if nothing uses it, and what was there for it alone, as far as `may_go` says."""
    pending = [op]  # each op once, and none that is erased
    while pending:
        op = pending.pop()
        if any(map(is_used, op.results)):
            continue
        above = [producer(operand) for operand in op.operands]
        op.erase()
        for each in above:
            if each is not None and each not in pending and may_go(each):
                pending.append(each)


def producer(value: ir.Value) -> ir.Operation | None:
    """The op that yields `value`; None for an argument of a function or a body."""
    owner = value.owner
    return owner.operation if isinstance(owner, ir.Operation | ir.OpView) else None


def defining_op(value: ir.Value) -> ir.Operation:
    """The op that yields `value`, which is no argument."""
    op = producer(value)
    assert op is not None
    return op


def terminator(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


def function_type(function: ir.Operation | ir.OpView) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)


def call_target(op: ir.Operation) -> str:
    """What `op`, a `custom_call`, calls."""
    return ir.StringAttr(op.attributes["call_target_name"]).value


def callee(call: ir.Operation) -> str:
    """The name of the function that `call`, a `func.call`, calls."""
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def readable_attributes(op: ir.Operation) -> Iterator[tuple[str, ir.Attribute]]:
    """Names and attributes of `op`, but for those that the bindings have no class for.

    Those are dense constants of complex numbers, which hold f32 and f64 alone.
    """
    for name in op.attributes:
        try:
            yield name, op.attributes[name]
        except TypeError:
            continue
