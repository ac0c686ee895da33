"""`widen-integer-products`: dots and convolutions take integers of their result's type.

linalg extends a narrower operand by its sign, whatever its type, and sums some in the narrow type.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import convert_operand, element_type, names

_PRODUCTS = names("stablehlo", "convolution dot dot_general einsum")


@dataclass(frozen=True)
class WidenIntegerProducts(ModulePass):
    """Convert integer operands of dots and convolutions to the type of the result."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, *_PRODUCTS, inner_first=True):
            wanted = element_type(op.results[0])
            for index, operand in enumerate(op.operands):
                if wanted is not None and isinstance(element_type(operand), ir.IntegerType):
                    convert_operand(op, index, wanted)
