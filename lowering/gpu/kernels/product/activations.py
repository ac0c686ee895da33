"""Activations of a product, on f32 registers."""

import math

from mlir_fp8.lowering.gpu.kernels import functions
from mlir_fp8.lowering.gpu.kernels.product.rounding import rounded
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_CUBIC = 0.044715
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


def _constant(text: GpuText, number: float, element: str) -> str:
    return rounded(text, text.f32(number), element)


def _times(text: GpuText, x: str, y: str, element: str) -> str:
    return rounded(text, text.value(f"arith.mulf {x}, {y} : f32"), element)
