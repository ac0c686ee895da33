"""Buffers that a function works on by pointers, between tensors."""

from torch_mlir import ir
from torch_mlir.dialects import bufferization, memref


def allocated(type_: ir.RankedTensorType) -> ir.Value:
    """A buffer of its own."""
    return memref.alloc(ir.MemRefType.get(type_.shape, type_.element_type), [], [])


def copied(value: ir.Value) -> ir.Value:
    """A buffer of its own with `value` in it, which no pass shares with anything."""
    buffer = allocated(ir.RankedTensorType(value.type))
    bufferization.MaterializeInDestinationOp(None, value, buffer, restrict=True, writable=True)
    return buffer


def tensor_of(buffer: ir.Value) -> ir.Value:
    """What is in `buffer`, which nothing else is told of."""
    type_ = ir.MemRefType(buffer.type)
    return bufferization.to_tensor(
        ir.RankedTensorType.get(type_.shape, type_.element_type), buffer, restrict=True
    )
