"""f8 codes, four in a word, as pairs of f16 or bf16: exact."""

from mlir_fp8.lowering.gpu.kernels.text import GpuText

_SPECIAL = 0x7C7C7C7C
"""The exponent of f8E5M2, all ones in infinity and NaN, in four codes."""


def widened_codes(text: GpuText, codes: str, format_: str, element: str) -> list[str]:
    """Two words, the lower codes first; NaN stays NaN, of any payload."""
    halves = _as_f16(text, codes, format_)
    return halves if element == "f16" else [_as_bf16(text, each) for each in halves]


def finite_codes(text: GpuText, codes: str) -> str:
    """f8E5M2 with finite numbers of the same sign in the place of infinity and NaN."""
    exponents = text.word_op("andi", codes, _SPECIAL)
    carried = text.word_op("addi", exponents, 0x04040404)
    bit = text.word_op("shrui", text.word_op("andi", carried, -0x7F7F7F80), 5)
    kept = text.word_op("xori", bit, -1)
    return text.word_op("andi", codes, kept)


def _as_f16(text: GpuText, codes: str, format_: str) -> list[str]:
    if format_ == "f8E5M2":  # the upper half of an f16
        zero = text.i32(0)
        return [text.permuted(codes, zero, selector) for selector in (0x1404, 0x3424)]
    found: list[str] = []
    for shift in (0, 16):
        part = text.word_op("shrui", codes, shift) if shift else codes
        two = text.value(f"arith.trunci {part} : i32 to i16")
        pair = text.value(
            f'llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"({two}) : (i16) -> vector<2xf16>'
        )
        found.append(text.value(f"llvm.bitcast {pair} : vector<2xf16> to i32"))
    return found


def _as_bf16(text: GpuText, pair: str) -> str:
    """The lower half of every number in f32 is zero."""
    vector = text.value(f"llvm.bitcast {pair} : i32 to vector<2xf16>")
    wide: list[str] = []
    for i in range(2):
        half = text.value(f"vector.extract {vector}[{i}] : f16 from vector<2xf16>")
        number = text.value(f"arith.extf {half} : f16 to f32")
        wide.append(text.bits(number, "f32", "i32"))
    return text.permuted(wide[0], wide[1], 0x7632)
