"""`signed-slice-indices`: start indices of dynamic slices are signed.

linalg clamps them as signed numbers, whatever their type: an index of ui64 beyond the middle of its
range would be taken for negative, and clamped to 0.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import signed_indices

_FIRST_INDEX = {"stablehlo.dynamic_slice": 1, "stablehlo.dynamic_update_slice": 2}


@dataclass(frozen=True)
class SignedSliceIndices(ModulePass):
    """Convert unsigned start indices to i64, the largest i64 for what is beyond."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, *_FIRST_INDEX, inner_first=True):
            _convert(op, _FIRST_INDEX[op.name])


def _convert(op: ir.Operation, first: int) -> None:
    old = list(op.operands)[first:]
    with ir.InsertionPoint(op), op.location:
        new = [signed_indices(index) for index in old]
    if old == new:
        return
    # All indices of one op have one type, so either all change or none.
    for position, index in enumerate(new, first):
        op.operands[position] = index
