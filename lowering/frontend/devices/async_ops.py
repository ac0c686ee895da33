"""`async_start` and `async_done` in a sequential program."""

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import clone_op, is_used, replace_op


def inline_async(done: ir.Operation) -> None:
    """Compute where the result is asked for; `async_start` goes with the last that asks."""
    owner = done.operands[0].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.async_start":
        raise op_error(done, "waits for what another function has started: start it here")
    start = owner.operation
    block = start.regions[0].blocks[0]
    values = dict(zip(block.arguments, start.operands, strict=True))
    *body, returned = [view.operation for view in block.operations]
    for inner in body:
        clone_op(inner, values, ir.InsertionPoint(done))
    replace_op(done, [values.get(value, value) for value in returned.operands])
    if not is_used(start.results[0]):
        start.erase()
