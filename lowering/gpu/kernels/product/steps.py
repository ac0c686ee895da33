"""The steps of an epilogue from a sum to the number that is stored, or of which amax is taken."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.product.activations import activated
from mlir_fp8.lowering.gpu.kernels.product.rounding import rounded
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue
from mlir_fp8.lowering.gpu.kernels.text import GpuText


def finished(
    text: GpuText,
    steps: Epilogue,
    x: str,
    factors: Sequence[str | None],
    bias: str | None,
    c: str | None = None,
) -> str:
    """An f32 sum by the factors of both scales, after `alpha`, `c`, `bias` and the activation.

    `c` and `bias` are f32, rounded to the epilogue's type. With a gate, one of its two numbers.
    """
    for factor, divides in zip(factors, (steps.a_inverse, steps.b_inverse), strict=True):
        if factor is not None:
            x = text.value(f"arith.{'divf' if divides else 'mulf'} {x}, {factor} : f32")
    x = rounded(text, rounded(text, x, steps.dot_type), steps.type)
    if steps.alpha is not None:
        x = text.value(f"arith.mulf {x}, {text.f32(steps.alpha)} : f32")
        x = rounded(text, x, steps.type)
    if c is not None:
        if steps.beta is not None:
            c = text.value(f"arith.mulf {c}, {text.f32(steps.beta)} : f32")
            c = rounded(text, c, steps.type)
        x = rounded(text, text.value(f"arith.addf {x}, {c} : f32"), steps.type)
    if bias is not None:
        x = rounded(text, text.value(f"arith.addf {x}, {bias} : f32"), steps.type)
    if not steps.gate:
        x = activated(text, x, steps.activation, steps.type)
    if steps.stored:
        x = rounded(text, x, steps.stored)
    return rounded(text, x, steps.gate) if steps.gate else x


def gated(text: GpuText, steps: Epilogue, gate: str, up: str) -> str:
    """The activation of `gate` times `up`, both finished, in the gate's type."""
    x = activated(text, gate, steps.activation, steps.gate)
    return rounded(text, text.value(f"arith.mulf {x}, {up} : f32"), steps.gate)
