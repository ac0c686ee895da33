"""AVX2 instructions that LLVM does not select by itself, as ops of MLIR text.

Packs and unpacks work within the two 128-bit halves of a register: `in_order` permutes what packs
leave, `before_unpacking` permutes what unpacks will take.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

if TYPE_CHECKING:
    from mlir_fp8.dialects.float_formats import FloatFormat

BYTES = "vector<32xi8>"
WORDS = "vector<16xi16>"
DWORDS = "vector<8xi32>"
BLOCK = 32
"""Elements of a block: a register of codes."""


def at_byte(text: KernelText, pointer: str, offset: int) -> str:
    """`pointer` plus `offset` bytes."""
    return text.value(f"llvm.getelementptr {pointer}[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8")


def load(text: KernelText, source: str, offset: int, type_: str) -> str:
    """An unaligned load of a register at `offset` bytes from `source`."""
    place = at_byte(text, source, offset)
    bits = int(type_.rpartition("i")[2].rstrip(">"))
    return text.value(f"llvm.load {place} {{alignment = {bits // 8}}} : !llvm.ptr -> {type_}")


def op(text: KernelText, name: str, left: str, right: str | int, type_: str) -> str:
    """An op of the arith dialect; an integer operand is splat."""
    if isinstance(right, int):
        right = text.constant(f"dense<{right}> : {type_}")
    return text.value(f"arith.{name} {left}, {right} : {type_}")


def cast(text: KernelText, value: str, from_: str, to: str) -> str:
    if from_ == to:
        return value
    return text.value(f"vector.bitcast {value} : {from_} to {to}")


def shifted_words(text: KernelText, name: str, codes: str, by: int) -> str:
    """Bytes shifted as words; the caller masks the bits of the neighbour."""
    if by == 0:
        return codes
    words = op(text, name, cast(text, codes, BYTES, WORDS), by, WORDS)
    return cast(text, words, WORDS, BYTES)


def packed_words(text: KernelText, low: str, high: str) -> str:
    """Two registers of i32 as i16, with signed saturation."""
    return _call(text, "packssdw", (low, DWORDS), (high, DWORDS), WORDS)


def packed_bytes(text: KernelText, low: str, high: str, *, signed: bool) -> str:
    """Two registers of i16 as i8 (`signed`) or ui8, with saturation."""
    return _call(text, "packsswb" if signed else "packuswb", (low, WORDS), (high, WORDS), BYTES)


def summed_pairs(text: KernelText, pairs: str, factors: tuple[int, int]) -> str:
    """For each i32, the sum of its low and high i16, each multiplied by its factor."""
    low, high = factors
    both = (high << 16) + (low & 0xFFFF)
    constant = text.constant(f"dense<{both}> : {DWORDS}")
    operands = [(cast(text, each, DWORDS, WORDS), WORDS) for each in (pairs, constant)]
    return _call(text, "pmadd.wd", operands[0], operands[1], DWORDS)


def looked_up(text: KernelText, table: Sequence[int], index: str) -> str:
    """A lookup of each byte in a table of 16 bytes; indices are below 16."""
    numbers = [signed_byte(number) for number in (*table, *table)]
    constant = text.constant(f"dense<{numbers}> : {BYTES}")
    return _call(text, "pshuf.b", (constant, BYTES), (index, BYTES), BYTES)


def unpacked(text: KernelText, low: str, high: str, type_: str) -> tuple[str, str]:
    """`low` and `high` interleaved: the lower and the upper part of each 128-bit half."""
    lanes = {BYTES: 32, WORDS: 16}[type_]
    found = []
    for start in (0, lanes // 4):
        firsts = [half + start + i for half in (0, lanes // 2) for i in range(lanes // 4)]
        order = [each for i in firsts for each in (i, lanes + i)]
        found.append(text.value(f"vector.shuffle {low}, {high} {order} : {type_}, {type_}"))
    return found[0], found[1]


def in_order(text: KernelText, codes: str, element_bits: int) -> str:
    """The bytes in element order after `packed_bytes`, and after `packed_words` for 32-bit
    elements."""
    if element_bits == 16:
        return _moved(text, codes, [0, 2, 1, 3], "i64")
    return _moved(text, codes, [0, 4, 1, 5, 2, 6, 3, 7], "i32")


def before_unpacking(text: KernelText, codes: str, element_bits: int) -> str:
    """The bytes permuted so that `unpacked`, once to 16 bits or twice to 32, gives them in
    order."""
    if element_bits == 16:
        return _moved(text, codes, [0, 2, 1, 3], "i64")
    return _moved(text, codes, [0, 2, 4, 6, 1, 3, 5, 7], "i32")


def with_signs(
    text: KernelText, fmt: "FloatFormat", codes: str, signs: str, nans: str | None
) -> str:
    """Magnitude codes with the top bits of `signs`, and the NaN of the format in the lanes of
    `nans`."""
    signs = shifted_words(text, "shrui", signs, 8 - fmt.bits)
    signs = op(text, "andi", signs, signed_byte(fmt.sign_mask), BYTES)
    has_one_zero = fmt.nan_code == fmt.sign_mask
    if has_one_zero:
        is_zero = op(text, "cmpi eq,", codes, 0, BYTES)
        signs = selected(text, is_zero, text.zeros(BLOCK, "i8"), signs)
    both = op(text, "ori", codes, signs, BYTES)
    if nans is None:
        return both
    is_nan = op(text, "cmpi slt,", nans, 0, BYTES)
    if fmt.nan_code is None:  # the zero of the other sign
        other = op(text, "xori", signs, signed_byte(fmt.sign_mask), BYTES)
        return selected(text, is_nan, other, both)
    nan = text.constant(f"dense<{signed_byte(fmt.nan_code)}> : {BYTES}")
    if has_one_zero:
        return selected(text, is_nan, nan, both)
    return op(text, "ori", selected(text, is_nan, nan, codes), signs, BYTES)


def selected(text: KernelText, condition: str, yes: str, no: str) -> str:
    """A select of bytes."""
    return text.value(f"arith.select {condition}, {yes}, {no} : vector<32xi1>, {BYTES}")


def signed_byte(byte: int) -> int:
    """A byte as MLIR writes an i8."""
    return byte - 256 if byte > 127 else byte


def _moved(text: KernelText, codes: str, order: list[int], element: str) -> str:
    type_ = f"vector<{len(order)}x{element}>"
    wide = cast(text, codes, BYTES, type_)
    moved = text.value(f"vector.shuffle {wide}, {wide} {order} : {type_}, {type_}")
    return cast(text, moved, type_, BYTES)


def _call(
    text: KernelText, name: str, first: tuple[str, str], second: tuple[str, str], result: str
) -> str:
    return text.value(
        f'llvm.call_intrinsic "llvm.x86.avx2.{name}"({first[0]}, {second[0]})'
        f" : ({first[1]}, {second[1]}) -> {result}"
    )
