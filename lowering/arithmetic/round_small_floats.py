"""`round-small-floats`: conversions to small floats round toward zero, at random, or saturate.

StableHLO leaves open how `stablehlo.convert` rounds, and every engine rounds to nearest, ties to
even. Here a value is rounded before its convert, to one that the convert need not round.
"""

import dataclasses
from functools import partial

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.rounding_modes import RoundingMode, rounding_mode
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._rounding import MARK, Rounding, round_convert, saturate_convert
from mlir_fp8.lowering.arithmetic._squares import key_constant, squares_key
from mlir_fp8.lowering.rewriting.stablehlo import element_type, narrow_formats


@dataclasses.dataclass(frozen=True)
class RoundSmallFloats(ModulePass):
    """Round every `stablehlo.convert` to f8, f6 and f4 in the way asked for.

    After `float-normalization` every rounding to these types is such a convert. Those that
    `fp8-legalize-to-stablehlo` made, or this pass, keep their rounding, but saturate like the rest.

    Options: `rounding` is nearest-even, toward-zero or stochastic; `saturate` rounds beyond the
    range to the largest value; `formats`, comma-separated, are the types to round to (f8, f6 and f4
    by default; bf16 and f16 can be named). Stochastic rounding draws from Squares, keyed by `seed`
    and the number of the convert among those rewritten, in the order of the text, from 0; in a loop
    it draws the same bits in each iteration: `fp8.convert` takes a seed at run time.
    """

    rounding: str = RoundingMode.NEAREST_EVEN.option
    seed: int = 0
    saturate: bool = False
    formats: str = ""

    def run(self, module: ir.Operation) -> None:
        mode = rounding_mode(self.rounding)
        formats = narrow_formats(self.formats or ",".join(SMALL_FLOATS))
        if mode is RoundingMode.NEAREST_EVEN and not self.saturate:
            return
        converts = [op for op in operations(module) if _rounds(op, formats)]
        with module.context:
            if self.saturate:
                for op in converts:
                    if MARK in op.attributes:
                        saturate_convert(op, _target(op))
            for ordinal, op in enumerate(op for op in converts if MARK not in op.attributes):
                key = None
                if mode is RoundingMode.STOCHASTIC:
                    key = partial(key_constant, squares_key(self.seed, ordinal))
                round_convert(op, _target(op), Rounding(mode, self.saturate, key))


def _target(op: ir.Operation) -> FloatFormat:
    return FORMATS[str(element_type(op.results[0]))]


def _rounds(op: ir.Operation, formats: frozenset[str]) -> bool:
    if op.name != "stablehlo.convert":
        return False
    target = element_type(op.results[0])
    return str(target) in formats and element_type(op.operands[0]) != target
