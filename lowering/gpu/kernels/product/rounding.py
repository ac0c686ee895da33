"""Numbers in f32 registers, rounded to narrower floats."""

from mlir_fp8.lowering.gpu.kernels.text import GpuText


def rounded(text: GpuText, x: str, element: str) -> str:
    """An f32 as the nearest number of `element`, in f32.

    A sum, product or quotient of two bf16 or f16 numbers in f32 and then rounded is rounded once:
    f32 has two bits more than twice theirs (Figueroa, When is double rounding innocuous?, 1995).
    """
    if element == "f32":
        return x
    narrow = text.value(f"arith.truncf {x} : f32 to {element}")
    return text.value(f"arith.extf {narrow} : {element} to f32")


def packed(text: GpuText, low: str, high: str, element: str) -> str:
    """Two f32 numbers, rounded to bf16 or f16, as a word."""
    name = {"bf16": "ff2bf16x2", "f16": "ff2f16x2"}[element]
    vector = f"vector<2x{element}>"
    types = f"(f32, f32) -> {vector}"
    both = text.value(f'llvm.call_intrinsic "llvm.nvvm.{name}.rn"({high}, {low}) : {types}')
    return text.words(both, vector, 1)[0]
