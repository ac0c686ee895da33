"""`memref-copy-to-linalg`: copies become loops.

Upstream lowers a copy between strided buffers to a runtime routine that the wheel does not ship.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import copy


@dataclass(frozen=True)
class MemrefCopyToLinalg(ModulePass):
    """Turn each `memref.copy` into `linalg.copy`."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "memref.copy"):
            _to_linalg(op)


def _to_linalg(op: ir.Operation) -> None:
    source, target = op.operands
    if not all(isinstance(value.type, ir.MemRefType) for value in op.operands):
        raise op_error(op, "of unranked memrefs has no loops: cast both to a ranked type first")
    with ir.InsertionPoint(op), op.location:
        copy(source, target)
    op.erase()
