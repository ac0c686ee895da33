"""`pack-weights`: weights become arguments in the panels that kernels read in place."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.kernels.packed_weights.packing import pack_weights
from mlir_fp8.lowering.kernels.vector_code.target import HOST


@dataclass(frozen=True)
class PackWeights(ModulePass):
    """Let a function take its weights packed, as kernels of `target` read them in place.

    See docs/inference.md. `weights` are names of arguments or patterns, with `;` between them;
    those that products do not read as one matrix stay as they are. `target` is as in
    `linalg-contract-to-kernels`; kernels of others make the matrix in each call. The function is
    `entry`. `remarks` prints a line on stderr for each weight.
    """

    weights: str = "*"
    target: str = HOST
    entry: str = "main"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        patterns = [each for each in self.weights.split(";") if each]
        decisions = pack_weights(module, patterns, self.target, self.entry)
        if self.remarks:
            print_remarks((each.location, str(each)) for each in decisions)
