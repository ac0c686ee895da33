"""Numbers over their scale, as the f8 codes that `fp8.quantize` gives, for any scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.gpu.kernels.elements import Element, widened
from mlir_fp8.lowering.gpu.kernels.text import GpuText

DIVISIONS = ("exact", "branch", "product")
"""Divide in eight instructions; in two where the scale is a power of two; multiply (`inverse`)."""
_INFINITY = "0x7F800000 : f32"
_BEYOND = 2.0**20
"""Past the largest value of every f8, so that only its sign matters."""


@dataclass(frozen=True)
class Divisor:
    """What divides every number of a thread: see `divisor`."""

    division: str
    product: str
    factor: str
    divisor: str
    reciprocal: str
    is_power: str


def divisor(text: GpuText, scale: str, division: str) -> Divisor:
    """Prepares x / scale, rounded once in f32 where the quotient matters to an f8.

    The quotient q = x r, r = 1 / s rounded, gets two corrections q + r (x - q s), of which the
    second rounds right (Markstein, Computation of elementary functions on the IBM RISC System/6000
    processor, 1990) while nothing over- or underflows. So s and x are scaled by 2^100 where
    s < 2^-62, and by 2^-64 where s > 2^64: what overflows then is past the largest f8, what
    underflows is below half of the smallest. The sign of s goes to x.
    """
    if division == "product":
        return Divisor(division, scale, "", "", "", "")
    size = _magnitude(text, scale)
    one = text.f32(1.0)
    is_small = text.value(f"arith.cmpf olt, {size}, {text.f32(2.0**-62)} : f32")
    is_large = text.value(f"arith.cmpf ogt, {size}, {text.f32(2.0**64)} : f32")
    factor = text.value(f"arith.select {is_large}, {text.f32(2.0**-64)}, {one} : f32")
    factor = text.value(f"arith.select {is_small}, {text.f32(2.0**100)}, {factor} : f32")
    scaled = text.value(f"arith.mulf {size}, {factor} : f32")
    reciprocal = text.value(f"arith.divf {one}, {scaled} : f32")
    is_finite = text.value(f"arith.cmpf olt, {scaled}, {text.constant(_INFINITY)} : f32")
    finite = text.value(f"arith.select {is_finite}, {scaled}, {text.f32(0.0)} : f32")
    sign = text.word_op("andi", text.bits(scale, "f32", "i32"), -(1 << 31))
    signed = text.word_op("ori", text.bits(factor, "f32", "i32"), sign)
    signed = text.bits(signed, "i32", "f32")
    fraction = text.word_op("andi", text.bits(scaled, "f32", "i32"), (1 << 23) - 1)
    is_power = text.value(f"arith.cmpi eq, {fraction}, {text.i32(0)} : i32")
    # Then it has an exact reciprocal; that of a subnormal may be no f32.
    is_normal = text.value(f"arith.cmpf oge, {size}, {text.f32(2.0**-126)} : f32")
    product = text.value(f"arith.mulf {signed}, {reciprocal} : f32")
    is_power = text.both(is_power, is_normal)
    return Divisor(division, product, signed, finite, reciprocal, is_power)


def quantized(
    text: GpuText, element: Element, vectors: Sequence[str], lanes: int, by: Divisor, format_: str
) -> list[list[str]]:
    """Vectors of `lanes` elements over the scale, as words of four f8 codes each.

    One branch for all: what is loaded before it stays before it.
    """
    each = -(-lanes // 4)

    def exact() -> list[str]:
        return [word for x in vectors for word in _exact(text, element, x, lanes, by, format_)]

    def scaled() -> list[str]:
        # From the last on: LLVM would move what both sides begin with in front of the branch,
        # where all numbers in f32 take a register each.
        found = [_scaled(text, element, x, lanes, by, format_) for x in reversed(vectors)]
        return [word for words in reversed(found) for word in words]

    if by.division == "exact":
        words = exact()
    elif by.division == "product":
        words = scaled()
    else:
        types = ["i32"] * (each * len(vectors))
        words = text.chosen_list(by.is_power, types, scaled, exact)
    return [words[i : i + each] for i in range(0, len(words), each)]


def _scaled(
    text: GpuText, element: Element, vector: str, lanes: int, by: Divisor, format_: str
) -> list[str]:
    numbers = widened(text, element, vector, lanes)
    return codes(
        text, [text.value(f"arith.mulf {x}, {by.product} : f32") for x in numbers], format_
    )


def _exact(
    text: GpuText, element: Element, vector: str, lanes: int, by: Divisor, format_: str
) -> list[str]:
    numbers = widened(text, element, vector, lanes)
    numbers = [text.value(f"arith.mulf {x}, {by.factor} : f32") for x in numbers]
    first = [text.value(f"arith.mulf {x}, {by.reciprocal} : f32") for x in numbers]
    return codes(
        text, [_corrected(text, x, q, by) for x, q in zip(numbers, first, strict=True)], format_
    )


def _corrected(text: GpuText, x: str, first: str, by: Divisor) -> str:
    opposite = text.value(f"arith.negf {x} : f32")
    quotient = first
    for _ in range(2):
        # With these signs a quotient of -0.0 stays one.
        excess = text.fma(quotient, by.divisor, opposite)
        less = text.value(f"arith.negf {excess} : f32")
        quotient = text.fma(less, by.reciprocal, quotient)
    size = _magnitude(text, first)
    matters = text.value(f"arith.cmpf olt, {size}, {text.f32(_BEYOND)} : f32")
    return text.value(f"arith.select {matters}, {quotient}, {first} : f32")


def _magnitude(text: GpuText, number: str) -> str:
    bits = text.word_op("andi", text.bits(number, "f32", "i32"), (1 << 31) - 1)
    return text.bits(bits, "i32", "f32")


def codes(text: GpuText, numbers: Sequence[str], format_: str) -> list[str]:
    """f32 numbers as f8 codes, saturated, four to a word; fewer than four with zeros above."""
    numbers = [*numbers, *[text.f32(0.0)] * (-len(numbers) % 4)]
    options = "{rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>}"
    pairs = [
        text.value(f"nvvm.convert.f32x2.to.f8x2 {high}, {low} {options} : i16 ({format_})")
        for low, high in zip(numbers[::2], numbers[1::2], strict=True)
    ]
    found: list[str] = []
    for low, high in zip(pairs[::2], pairs[1::2], strict=True):
        both = text.value(f"vector.from_elements {low}, {high} : vector<2xi16>")
        found += text.words(both, "vector<2xi16>", 1)
    return found


def scale_of_amax(text: GpuText, bits: str, format_: str, margin: float) -> str:
    """`amax / max * 2**margin`, f32, 1 where that is 0, subnormal, infinite or NaN."""
    amax = text.bits(bits, "i32", "f32")
    largest = text.f32(float(FORMATS[format_].max))
    scale = text.value(f"arith.divf {amax}, {largest} : f32")
    if margin:
        scale = text.value(f"arith.mulf {scale}, {text.f32(2.0**margin)} : f32")
    return usable_scale(text, scale, text.f32(1.0))


def usable_scale(text: GpuText, scale: str, kept: str) -> str:
    """`scale` where it is a normal number, else `kept`."""
    is_normal = text.value(f"arith.cmpf oge, {scale}, {text.f32(2.0**-126)} : f32")
    is_finite = text.value(f"arith.cmpf olt, {scale}, {text.constant(_INFINITY)} : f32")
    is_good = text.both(is_normal, is_finite)
    return text.value(f"arith.select {is_good}, {scale}, {kept} : f32")
