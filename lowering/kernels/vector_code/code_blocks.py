"""Whole vector registers of codes to f32, with the NaNs among them told apart from the numbers.

One compare for a register of codes finds a NaN in it, where making NaNs of single elements takes
three ops for each of the registers that these fill.
"""

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.kernels.vector_code.decode import half_bits, halves_to_float
from mlir_fp8.lowering.kernels.vector_code.spread import BYTES
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

MULTIPLY_BYTES = "llvm.x86.avx2.pmadd.ub.sw"
"""Of AVX2: unsigned bytes times signed ones, the sums of each two; `taken_for_floats` calls it."""
MULTIPLY_BYTES_TYPE = "(vector<32xi8>, vector<32xi8>) -> vector<16xi16>"
_SHUFFLED_BYTES = 16
"""What AVX2 interleaves at once: both halves of a register on their own."""


def has_marked_nan(fmt: FloatFormat) -> bool:
    """Whether a code is NaN by its largest magnitude, or by being the smallest number of all."""
    return not fmt.has_infinity and fmt.nan_code in (fmt.magnitude_mask, fmt.sign_mask)


def bits_factor(fmt: FloatFormat) -> float:
    """What numbers of `fmt` are to be multiplied by where their bits were taken for f32's."""
    return 2.0 ** (FORMATS["f32"].bias - fmt.bias)


def taken_for_floats(
    text: KernelText, fmt: FloatFormat, codes: str, size: int
) -> list[tuple[int, str]]:
    """f32 with the bits of `size` codes below the sign, to be multiplied by `bits_factor`.

    Vectors in `spread_order`, and where each begins. What `has_marked_nan` tells is some number
    here; subnormal codes are subnormal numbers.
    """
    lanes = size // BYTES
    words, pairs = f"vector<{lanes}xi32>", f"vector<{size // 2}xi16>"
    shift = FORMATS["f32"].mantissa_bits - fmt.mantissa_bits
    mask = text.constant(f"dense<{(fmt.magnitude_mask << shift) - (1 << 31)}> : {words}")
    high = text.constant(f"dense<16> : {words}")
    found = []
    for byte, halves in enumerate(_signed_halves(text, codes, size, shift - 16)):
        whole = text.value(f"vector.bitcast {halves} : {pairs} to {words}")
        low = text.value(f"arith.shli {whole}, {high} : {words}")
        for place, bits in ((byte, low), (byte + 2, whole)):
            bits = text.value(f"arith.andi {bits}, {mask} : {words}")
            number = text.value(f"arith.bitcast {bits} : {words} to vector<{lanes}xf32>")
            found.append((place * lanes, number))
    return found


def _signed_halves(text: KernelText, codes: str, size: int, shift: int) -> tuple[str, str]:
    """The first of every two codes, and the second, with their signs, `shift` bits to the left."""
    bytes_, pairs = f"vector<{size}xi8>", f"vector<{size // 2}xi16>"
    factors = text.constant(f"dense<{[1 << shift, 0] * (size // 2)}> : {bytes_}")
    types = f"({bytes_}, {bytes_}) -> {pairs}"
    first = text.value(f"func.call @{MULTIPLY_BYTES}({factors}, {codes}) : {types}")
    both = text.value(f"vector.bitcast {codes} : {bytes_} to {pairs}")
    down = text.constant(f"dense<{8 - shift}> : {pairs}")
    return first, text.value(f"arith.shrsi {both}, {down} : {pairs}")


def decoded_codes(
    text: KernelText, target: KernelTarget, fmt: FloatFormat, codes: str, size: int
) -> list[tuple[int, str]]:
    """f32 of `size` codes, to be multiplied by `half_factor`: vectors, and where each begins.

    What `has_marked_nan` tells is some number here.
    """
    if target.lanes == 8 and size == 32:
        return _by_interleaving(text, fmt, codes)
    part = 2 * target.lanes
    found = []
    for start in range(0, size, part):
        some = sliced(text, codes, start, part, size, "i8")
        wide = text.value(f"arith.extsi {some} : vector<{part}xi8> to vector<{part}xi16>")
        bits = half_bits(text, fmt, wide, part, marks_nan=not has_marked_nan(fmt))
        found += _floats(text, bits, part, (start, start + target.lanes))
    return found


def _by_interleaving(text: KernelText, fmt: FloatFormat, codes: str) -> list[tuple[int, str]]:
    """With zeros below them codes are words at once, for AVX2 in an order of its own."""
    zeros = text.zeros(32, "i8")
    found = []
    for start in (0, 8):
        order = [
            each
            for lane in range(0, 32, _SHUFFLED_BYTES)
            for i in range(lane + start, lane + start + 8)
            for each in (i, 32 + i)
        ]
        types = "vector<32xi8>, vector<32xi8>"
        bytes_ = text.value(f"vector.shuffle {zeros}, {codes} {order} : {types}")
        wide = text.value(f"vector.bitcast {bytes_} : vector<32xi8> to vector<16xi16>")
        bits = half_bits(text, fmt, wide, 16, marks_nan=not has_marked_nan(fmt), shifted=8)
        found += _floats(text, bits, 16, (start, start + _SHUFFLED_BYTES))
    return found


def _floats(
    text: KernelText, bits: str, size: int, starts: tuple[int, int]
) -> list[tuple[int, str]]:
    """Both halves of `bits`, of f16, as f32, with the places that they begin at."""
    half = size // 2
    parts = [sliced(text, bits, start, half, size, "i16") for start in (0, half)]
    return [
        (start, halves_to_float(text, part, half))
        for start, part in zip(starts, parts, strict=True)
    ]


def sliced(text: KernelText, value: str, start: int, size: int, whole: int, element: str) -> str:
    if size == whole:
        return value
    return text.value(
        f"vector.extract_strided_slice {value} {{offsets = [{start}], sizes = [{size}],"
        f" strides = [1]}} : vector<{whole}x{element}> to vector<{size}x{element}>"
    )


class SeenNans:
    """A vector of bytes, carried along, that tells which of its lanes had a NaN among codes."""

    def __init__(self, fmt: FloatFormat, size: int) -> None:
        self.type = f"vector<{size}xi8>"
        self._fmt, self._size = fmt, size

    @property
    def _by_magnitude(self) -> bool:
        return self._fmt.nan_code == self._fmt.magnitude_mask

    def start(self, text: KernelText) -> str:
        return text.zeros(self._size, "i8")

    def with_codes(self, text: KernelText, seen: str, codes: str) -> str:
        """`seen` after one more vector of codes."""
        if not self._by_magnitude:
            return text.value(f"arith.minsi {seen}, {codes} : {self.type}")
        doubled = text.value(f"arith.addi {codes}, {codes} : {self.type}")  # without the sign
        return text.value(f"arith.maxui {seen}, {doubled} : {self.type}")

    def is_any(self, text: KernelText, seen: str) -> str:
        """An i1: whether some lane had one."""
        kind, nan = ("maxui", -2) if self._by_magnitude else ("minsi", -128)
        most = text.value(f"vector.reduction <{kind}>, {seen} : {self.type} into i8")
        return text.value(f"arith.cmpi eq, {most}, {text.constant(f'{nan} : i8')} : i8")
