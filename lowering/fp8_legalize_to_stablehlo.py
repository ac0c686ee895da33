"""`fp8-legalize-to-stablehlo`: ops of the `fp8` dialect as StableHLO that computes the same."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._fp8_decompositions import DECOMPOSITIONS
from mlir_fp8.lowering._retype import operations


@dataclasses.dataclass(frozen=True)
class Fp8LegalizeToStablehlo(ModulePass):
    """Rewrite the ops of the `fp8` dialect to StableHLO, and `chlo.erfc` for an exact GELU.

    An `fp8.convert` becomes a `stablehlo.convert` of a value that is rounded before, by the
    formulas of `round-small-floats`: static shapes only, unless it rounds to nearest.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                decompose = DECOMPOSITIONS.get(op.name)
                if decompose is not None:
                    with ir.InsertionPoint(op), op.location:
                        values = decompose(op, list(op.operands))
                    for result, value in zip(op.results, values, strict=True):
                        result.replace_all_uses_with(value)
                    op.erase()
