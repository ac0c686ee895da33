"""`fp8-legalize-to-stablehlo`: ops of the `fp8` dialect as StableHLO that computes the same."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.ops.decompositions import DECOMPOSITIONS
from mlir_fp8.lowering.fp8.ops.functions import decomposition
from mlir_fp8.lowering.rewriting.text_expansion import replace_by


@dataclasses.dataclass(frozen=True)
class Fp8LegalizeToStablehlo(ModulePass):
    """Rewrite the ops of the `fp8` dialect to StableHLO, by the formulas of docs/fp8_dialect.md.

    An `fp8.convert` becomes a `stablehlo.convert` of a value that is rounded before, by the
    formulas of `round-small-floats`: static shapes only, unless it rounds to nearest.

    Options: `chlo` leaves the error function of an exact GELU to CHLO (`chlo.erfc`), which later
    passes round better than StableHLO's own formula does, and ragged dots (`chlo.ragged_dot`),
    which they multiply group by group; without it, there is StableHLO alone.
    `keep_convert` leaves `fp8.convert` as it is.
    """

    chlo: bool = True
    keep_convert: bool = False

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                is_kept = self.keep_convert and op.name == "fp8.convert"
                if op.name in DECOMPOSITIONS and not is_kept:
                    self._replace(op)

    def _replace(self, op: ir.Operation) -> None:
        if not self.chlo and ("activation" in op.attributes or NUMBERS in op.attributes):
            replace_by(op, str(decomposition(op, "decomposition")), list(op.operands))
            return
        put_in_place(op)


def put_in_place(op: ir.Operation) -> None:
    """Replace `op` by its decomposition, with CHLO's error function in an exact GELU."""
    with ir.InsertionPoint(op), op.location:
        values = DECOMPOSITIONS[op.name](op, list(op.operands))
    replace_op(op, values)
