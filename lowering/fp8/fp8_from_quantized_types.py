"""`fp8-from-quantized-types`: W8A8 integer models, in quantized types, as scaled FP8."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.quantized_types.from_types import from_quantized_types
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks
from mlir_fp8.lowering.fp8.scaling.recipes import check_format


@dataclass(frozen=True)
class Fp8FromQuantizedTypes(ModulePass):
    """Turn quantized types into f8 with constant scales, and products of them into scaled FP8.

    See docs/quantized_types.md. What is stored in 8 bits or fewer becomes `format`, with a scale by
    which its largest value is as far from 0; more bits stay the expressed type; floats that types
    store already stay as they are. Public functions keep their signatures. `remarks` prints on
    stderr what became of constants, with the SQNR, and of products.
    """

    format: str = "f8E4M3FN"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        check_format("storage", self.format)
        found = from_quantized_types(module, self.format)
        if self.remarks:
            print_remarks(found)
