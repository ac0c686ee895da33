"""The fused epilogue of a dot: its steps, and the rules of their types and constants."""

import math
from dataclasses import dataclass
from enum import IntEnum

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.addend import Bias, Matrix
from mlir_fp8.lowering.fp8.scaled_dot.amax import Amax
from mlir_fp8.lowering.fp8.scaled_dot.quantization import Quantization
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale
from mlir_fp8.lowering.fp8.scaled_dot.values import holds, rounded


class Step(IntEnum):
    """The steps of a fused op, in its order."""

    SUM = 0
    ALPHA = 1
    MATRIX = 2
    BIAS = 3
    ACTIVATION = 4


@dataclass(frozen=True)
class Epilogue:
    """The steps from a dot's result to `end`, which the fused op gives in its place."""

    end: ir.Value
    dot_type: ir.Type
    epilogue_type: ir.Type
    step: Step = Step.SUM
    a_scale: Scale | None = None
    b_scale: Scale | None = None
    alpha: float | None = None
    matrix: Matrix | None = None
    bias: Bias | None = None
    activation: str = "none"
    amax: Amax | None = None
    quantization: Quantization | None = None


def converted_types(state: Epilogue, target: ir.Type) -> tuple[ir.Type, ir.Type] | None:
    """The dot's and the epilogue's type after one more convert; None where it is one too many."""
    if holds(state.epilogue_type, state.dot_type):
        return state.dot_type, target
    # The f32 sum is not rounded to f32.
    if isinstance(state.dot_type, ir.F32Type):
        return state.epilogue_type, target
    return None


def alpha_of(number: float, element: ir.Type, divides: bool) -> float | None:
    """What to multiply by; dividing is multiplying for powers of two only."""
    if not divides:
        return number
    if number == 0 or not math.isfinite(number) or abs(math.frexp(number)[0]) != 0.5:
        return None
    return 1 / number if rounded(1 / number, element) == 1 / number else None
