"""Activations of a product, on f32 registers."""

import math

from mlir_fp8.lowering.gpu.kernels import functions
from mlir_fp8.lowering.gpu.kernels.product.rounding import rounded
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_CUBIC = 0.044715
_ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
    1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
_SCALE = math.sqrt(2 / math.pi)


def activated(text: GpuText, x: str, activation: str, element: str) -> str:
    """As `Epilogue` says, each step rounded to `element`."""
    if activation == "relu":
        return text.value(f"arith.maximumf {x}, {text.f32(0.0)} : f32")
    if activation == "silu":
        sigmoid = rounded(text, functions.sigmoid(text, x), element)
        return _times(text, x, sigmoid, element)
    if activation == "gelu_tanh":
        return _gelu(text, x, element)
    if activation == "gelu_erf":
        return _gelu_erf(text, x, element)
    return x


def _gelu(text: GpuText, x: str, element: str) -> str:
    cube = _times(text, x, _times(text, x, x, element), element)
    cubic = _times(text, cube, _constant(text, _CUBIC, element), element)
    inner = rounded(text, text.value(f"arith.addf {x}, {cubic} : f32"), element)
    inner = _times(text, inner, _constant(text, _SCALE, element), element)
    sigmoid = functions.sigmoid(text, text.value(f"arith.addf {inner}, {inner} : f32"))
    if element == "f32":
        return text.value(f"arith.mulf {x}, {sigmoid} : f32")
    # tanh(u) = 2 sigmoid(2u) - 1: far below the rounding of 1 + tanh(u) to `element`.
    twice = text.value(f"arith.addf {sigmoid}, {sigmoid} : f32")
    tanh = rounded(text, text.value(f"arith.subf {twice}, {text.f32(1.0)} : f32"), element)
    raised = rounded(text, text.value(f"arith.addf {tanh}, {text.f32(1.0)} : f32"), element)
    return _times(text, x, _times(text, raised, text.f32(0.5), element), element)


def _gelu_erf(text: GpuText, x: str, element: str) -> str:
    scaled = _times(text, x, _constant(text, -math.sqrt(0.5), element), element)
    erfc = rounded(text, _erfc(text, scaled), element)
    return _times(text, _times(text, x, text.f32(0.5), element), erfc, element)


def _erfc(text: GpuText, x: str) -> str:
    """1 - erf(x), t exp(-x^2 + p(t)) with t = 1 / (1 + |x| / 2) (Press et al., Numerical Recipes,
    6.2): within 4e-7, and where it is small 1e-5 of it in proportion, while that is normal."""
    size = text.word_op("andi", text.bits(x, "f32", "i32"), (1 << 31) - 1)
    size = text.bits(size, "i32", "f32")
    t = functions.approximate(text, "rcp.approx.ftz", text.fma(size, text.f32(0.5), text.f32(1.0)))
    power = text.f32(_ERFC[-1])
    for each in _ERFC[-2::-1]:
        power = text.fma(power, t, text.f32(each))
    opposite = text.value(f"arith.negf {size} : f32")
    power = text.fma(opposite, size, power)
    power = text.value(f"arith.mulf {power}, {text.f32(1 / math.log(2))} : f32")
    tail = text.value(
        f"arith.mulf {t}, {functions.approximate(text, 'ex2.approx.ftz', power)} : f32"
    )
    other = text.value(f"arith.subf {text.f32(2.0)}, {tail} : f32")
    is_below = text.value(f"arith.cmpf olt, {x}, {text.f32(0.0)} : f32")
    return text.value(f"arith.select {is_below}, {other}, {tail} : f32")


def _constant(text: GpuText, number: float, element: str) -> str:
    return rounded(text, text.f32(number), element)


def _times(text: GpuText, x: str, y: str, element: str) -> str:
    return rounded(text, text.value(f"arith.mulf {x}, {y} : f32"), element)
