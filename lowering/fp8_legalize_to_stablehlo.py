"""`fp8-legalize-to-stablehlo`: ops of the `fp8` dialect as StableHLO that computes the same."""

import dataclasses
from functools import partial

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.rounding_modes import RoundingMode
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._rounding import Rounding, round_convert
from mlir_fp8.lowering._squares import key_constant, run_time_key, squares_key
from mlir_fp8.lowering._stablehlo import build, convert, element_type, narrow_format


@dataclasses.dataclass(frozen=True)
class Fp8LegalizeToStablehlo(ModulePass):
    """Rewrite the ops of the `fp8` dialect to StableHLO, by the formulas of `round-small-floats`.

    An `fp8.convert` becomes a `stablehlo.convert` of a value that is rounded before. Static shapes
    only, unless it rounds to nearest.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "fp8.convert":
                    _legalize_convert(op)


def _legalize_convert(op: ir.Operation) -> None:
    result = op.results[0]
    attributes = op.attributes
    mode = RoundingMode(ir.StringAttr(attributes["rounding"]).value)
    saturate = "saturate" in attributes and attributes["saturate"] != ir.BoolAttr.get(False)
    with ir.InsertionPoint(op), op.location:
        x = op.operands[0]
        if narrow_format(x) is not None:
            x = convert(x, ir.F32Type.get())
        converted = build("convert", result.type, [x])
    fmt = FORMATS[str(element_type(result))]
    key = partial(_key, op) if mode is RoundingMode.STOCHASTIC else None
    round_convert(ir.OpResult(converted).owner.operation, fmt, Rounding(mode, saturate, key))
    result.replace_all_uses_with(converted)
    op.erase()


def _key(op: ir.Operation) -> ir.Value:
    stream = ir.IntegerAttr(op.attributes["seed"]).value if "seed" in op.attributes else 0
    if len(op.operands) == 1:
        return key_constant(squares_key(0, stream))
    return run_time_key(op.operands[1], stream)
