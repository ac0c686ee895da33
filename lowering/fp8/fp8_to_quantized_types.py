"""`fp8-to-quantized-types`: scaled FP8 whose scales are known as StableHLO's quantized types."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.quantized_types.to_types import FLOAT, LARGEST, to_quantized_types
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks


@dataclass(frozen=True)
class Fp8ToQuantizedTypes(ModulePass):
    """Turn ops of the `fp8` dialect, whose scales are constants, into integer quantized types.

    See docs/quantized_types.md. `storage` is i8 or i4, symmetric, or f8: a proposal, by which types
    store the small floats as they are. What no type can say, as a scale that is known at run time
    alone, stays FP8. `remarks` prints on stderr what became of each tensor, of constants with the
    SQNR, and why others stay.
    """

    storage: str = "i8"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        if self.storage not in (*LARGEST, FLOAT):
            known = ", ".join((*LARGEST, FLOAT))
            raise Fp8Error(f"'{self.storage}' is no storage: it is one of {known}")
        found = to_quantized_types(module, self.storage)
        if self.remarks:
            print_remarks(found)
