"""`stablehlo-update-slices-in-place`: loops over stacked caches write their rows where they are.

A `lax.scan` over layers takes the cache of a layer as a slice, writes a row into it, and stacks the
slices into a new tensor: in each step the whole cache would be copied.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend._scanned_slices import share_slices
from mlir_fp8.lowering.frontend._updated_slices import write_rows


@dataclass(frozen=True)
class StablehloUpdateSlicesInPlace(ModulePass):
    """Write slices that loops read and stack into the tensor that they are read of.

    Rows that are written into a slice, which is then written back, are written into the whole.
    """

    def run(self, module: ir.Operation) -> None:
        for loop in operations(module, "stablehlo.while", inner_first=True):
            share_slices(loop)
        for op in operations(module, "stablehlo.dynamic_update_slice"):
            write_rows(op)
