"""Functions of f32 numbers by the hardware's approximations, with their bounds.

By PTX's manual `ex2.approx` is within 2^-22 of the right result in proportion, `rcp.approx` within
2^-23, `rsqrt.approx` within 2^-22, `tanh.approx` within 2^-11.
"""

import math

from mlir_fp8.lowering.gpu.kernels.text import GpuText

_LOG2_E = 1 / math.log(2)
_TANH_BELOW = 0.55
_TANH = (-0.33332947, 0.1332075, -0.052673168, 0.016439823)
"""tanh(x) = x + x^3 P(x^2) below that, within 1.1e-7 in proportion: fitted by least squares."""


def approximate(text: GpuText, name: str, x: str) -> str:
    """`name.f32` of PTX."""
    asm = f'llvm.inline_asm "{name}.f32 $0, $1;", "=f,f" {x}'
    return text.value(f"{asm} : (f32) -> f32")


def exponential(text: GpuText, x: str) -> str:
    """Within 2^-21 + |x| 2^-23 in proportion; 0 below 2^-126."""
    return _exponential(text, x, 1.0)


def sigmoid(text: GpuText, x: str) -> str:
    """1 / (1 + exp(-x)), within 4e-7 in proportion while that is above 0.01.

    Below that within 2^-21 + |x| 2^-23; 0 where it is below 2^-126.
    """
    power = _exponential(text, x, -1.0)
    raised = text.value(f"arith.addf {power}, {text.f32(1.0)} : f32")
    return approximate(text, "rcp.approx.ftz", raised)


def tanh(text: GpuText, x: str) -> str:
    """Within 6e-7 in proportion: a polynomial near 0, elsewhere 1 - 2 / (exp(2 |x|) + 1)."""
    bits = text.bits(x, "f32", "i32")
    size = text.bits(text.word_op("andi", bits, (1 << 31) - 1), "i32", "f32")
    raised = text.value(f"arith.addf {_exponential(text, size, 2.0)}, {text.f32(1.0)} : f32")
    inverse = approximate(text, "rcp.approx.ftz", raised)
    far = text.fma(inverse, text.f32(-2.0), text.f32(1.0))
    square = text.value(f"arith.mulf {size}, {size} : f32")
    factor = text.value(f"arith.mulf {square}, {_polynomial(text, square)} : f32")
    near = text.fma(factor, size, size)
    is_near = text.value(f"arith.cmpf olt, {size}, {text.f32(_TANH_BELOW)} : f32")
    found = text.value(f"arith.select {is_near}, {near}, {far} : f32")
    sign = text.word_op("andi", bits, -(1 << 31))
    return text.bits(text.word_op("ori", text.bits(found, "f32", "i32"), sign), "i32", "f32")


def coarse_tanh(text: GpuText, x: str) -> str:
    """Within 2^-11 in proportion, in one instruction."""
    return approximate(text, "tanh.approx", x)


def log2(text: GpuText, x: str) -> str:
    """Within 2^-22, or between 0.5 and 2 in proportion; -infinity of 0."""
    return approximate(text, "lg2.approx.ftz", x)


def rsqrt(text: GpuText, x: str) -> str:
    """Within 2^-22 in proportion."""
    return approximate(text, "rsqrt.approx", x)


def sqrt(text: GpuText, x: str) -> str:
    """Rounded once."""
    return text.value(f'llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"({x}) : (f32) -> f32')


def _exponential(text: GpuText, x: str, factor: float) -> str:
    """exp(x factor)."""
    power = text.value(f"arith.mulf {x}, {text.f32(factor * _LOG2_E)} : f32")
    return approximate(text, "ex2.approx.ftz", power)


def _polynomial(text: GpuText, x: str) -> str:
    found = text.f32(_TANH[-1])
    for each in _TANH[-2::-1]:
        found = text.fma(found, x, text.f32(each))
    return found
