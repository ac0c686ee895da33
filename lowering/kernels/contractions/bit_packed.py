"""Operands whose codes of f6 or f4 lie bit-packed: read in place of what a function unpacks."""

from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.kernels.contractions.buffer_uses import BlockOrder, root_buffer
from mlir_fp8.lowering.kernels.vector_code.bit_packed import CODES_OF_BYTES
from mlir_fp8.lowering.kernels.vector_code.expression import Leaf
from mlir_fp8.lowering.rewriting.unpack_calls import unpacked_bits


def packed_leaf(leaf: Leaf, order: BlockOrder, reader: ir.Operation, last: ir.Operation) -> Leaf:
    """`leaf`, which `reader` reads, of the packed codes, where a call has unpacked these for it.

    `last` reads them in the place of `reader`. Strides and the offset count codes.
    """
    unpacked = root_buffer(leaf.buffer)
    call = order.last_writer(unpacked, reader)
    bits = 0 if call is None else unpacked_bits(call)
    if call is None or not bits or leaf.subview is not None:
        return leaf
    packed, made = call.operands
    if made != unpacked or not order.comes_before(call, last):
        return leaf
    if not order.is_unchanged(packed, call, last):
        return leaf
    begins = [leaf.offset, *(step for step in leaf.strides if step != 1)]
    if any(each % CODES_OF_BYTES[bits] for each in begins):
        return leaf
    return replace(leaf, buffer=packed, bits=bits)


def erase_unread_calls(module: ir.Operation) -> None:
    """Erase the calls whose results only kernels read, which take the packed codes."""
    for call in operations(module, "func.call"):
        if not unpacked_bits(call):
            continue
        made = call.operands[1]
        is_alloc = not isinstance(made.owner, ir.Block) and made.owner.name == "memref.alloc"
        if is_alloc and len(list(made.uses)) == 1:
            call.erase()
            ir.OpResult(made).owner.operation.erase()
