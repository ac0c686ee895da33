"""Instructions of AVX2 and AVX-512 that LLVM does not select by itself, as ops of MLIR text.

Packs and unpacks work within the 128-bit lanes of a register: `in_order` permutes what packs
leave, `before_unpacking` permutes what unpacks will take.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_fp8.lowering.kernels.vector_code.byte_tables import LOOK_UP, PERMUTE
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

if TYPE_CHECKING:
    from mlir_fp8.dialects.float_formats import FloatFormat

_LANE = 16
"""Bytes that most shuffles stay within."""
_PREFIX = "llvm.x86."
_WIDE_NAMES = {"pmadd.wd": "pmaddw.d"}
"""Where AVX-512's name is not AVX2's."""


def at_byte(text: KernelText, pointer: str, offset: int) -> str:
    """`pointer` plus `offset` bytes."""
    return text.value(f"llvm.getelementptr {pointer}[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8")


@dataclass(frozen=True)
class Vectors:
    """Registers of `size` bytes, 32 or 64, which hold as many codes."""

    text: KernelText
    size: int
    has_tables: bool = False
    """Whether bytes are looked up in tables of 64 and 128 (AVX-512 VBMI)."""

    @property
    def bytes(self) -> str:
        return f"vector<{self.size}xi8>"

    @property
    def words(self) -> str:
        return f"vector<{self.size // 2}xi16>"

    @property
    def dwords(self) -> str:
        return f"vector<{self.size // 4}xi32>"

    @property
    def floats(self) -> str:
        return f"vector<{self.size // 4}xf32>"

    def load(self, source: str, number: int, type_: str) -> str:
        """An unaligned load of the register numbered `number` from `source` on."""
        place = at_byte(self.text, source, self.size * number)
        bits = int(type_.rpartition("i")[2].rstrip(">"))
        return self.text.value(
            f"llvm.load {place} {{alignment = {bits // 8}}} : !llvm.ptr -> {type_}"
        )

    def op(self, name: str, left: str, right: str | int, type_: str) -> str:
        """An op of the arith dialect; an integer operand is splat."""
        if isinstance(right, int):
            right = self.text.constant(f"dense<{right}> : {type_}")
        return self.text.value(f"arith.{name} {left}, {right} : {type_}")

    def cast(self, value: str, from_: str, to: str) -> str:
        if from_ == to:
            return value
        return self.text.value(f"vector.bitcast {value} : {from_} to {to}")

    def shifted_words(self, name: str, codes: str, by: int) -> str:
        """Bytes shifted as words; the caller masks the bits of the neighbour."""
        if by == 0:
            return codes
        words = self.op(name, self.cast(codes, self.bytes, self.words), by, self.words)
        return self.cast(words, self.words, self.bytes)

    def packed_words(self, low: str, high: str) -> str:
        """Two registers of i32 as i16, with signed saturation."""
        return self._call("packssdw", (low, self.dwords), (high, self.dwords), self.words)

    def packed_bytes(self, low: str, high: str, *, signed: bool) -> str:
        """Two registers of i16 as i8 (`signed`) or ui8, with saturation."""
        name = "packsswb" if signed else "packuswb"
        return self._call(name, (low, self.words), (high, self.words), self.bytes)

    def summed_pairs(self, pairs: str, factors: tuple[int, int]) -> str:
        """For each i32, the sum of its low and high i16, each multiplied by its factor."""
        low, high = factors
        both = (high << 16) + (low & 0xFFFF)
        constant = self.text.constant(f"dense<{both}> : {self.dwords}")
        first, second = (
            (self.cast(each, self.dwords, self.words), self.words) for each in (pairs, constant)
        )
        return self._call("pmadd.wd", first, second, self.dwords)

    def looked_up(self, table: Sequence[int], index: str) -> str:
        """A lookup of each byte in a table of 16 bytes; indices are below 16."""
        constant = self.constant_bytes([*table] * (self.size // _LANE))
        return self._call("pshuf.b", (constant, self.bytes), (index, self.bytes), self.bytes)

    def in_large_table(self, table: Sequence[int], codes: str) -> str:
        """A lookup of each byte in a table of 64 or 128 bytes; higher bits of it are ignored."""
        halves = [self.constant_bytes(table[i : i + 64]) for i in range(0, len(table), 64)]
        name, operands = PERMUTE, [halves[0], codes]
        if len(halves) == 2:
            name, operands = LOOK_UP, [halves[0], codes, halves[1]]
        types = ", ".join([self.bytes] * len(operands))
        return self.text.value(
            f'llvm.call_intrinsic "{name}"({", ".join(operands)}) : ({types}) -> {self.bytes}'
        )

    def splat(self, byte: int) -> str:
        return self.text.constant(f"dense<{signed_byte(byte)}> : {self.bytes}")

    def constant_bytes(self, numbers: Sequence[int]) -> str:
        return self.text.constant(
            f"dense<{[signed_byte(each) for each in numbers]}> : {self.bytes}"
        )

    def unpacked(self, low: str, high: str, type_: str) -> tuple[str, str]:
        """`low` and `high` interleaved: the lower and the upper part of each 128-bit lane."""
        lanes = int(type_.removeprefix("vector<").partition("x")[0])
        step = lanes * _LANE // self.size
        found = []
        for start in (0, step // 2):
            firsts = [lane + start + i for lane in range(0, lanes, step) for i in range(step // 2)]
            order = [each for i in firsts for each in (i, lanes + i)]
            found.append(
                self.text.value(f"vector.shuffle {low}, {high} {order} : {type_}, {type_}")
            )
        return found[0], found[1]

    def in_order(self, codes: str, element_bits: int) -> str:
        """The bytes in element order after `packed_bytes`, and after `packed_words` for 32-bit
        elements."""
        lanes, parts = self.size // _LANE, element_bits // 8
        order = [parts * lane + part for part in range(parts) for lane in range(lanes)]
        return self._moved(codes, order)

    def before_unpacking(self, codes: str, element_bits: int) -> str:
        """The bytes permuted so that `unpacked`, once to 16 bits or twice to 32, gives them in
        order."""
        lanes, parts = self.size // _LANE, element_bits // 8
        order = [lanes * part + lane for lane in range(lanes) for part in range(parts)]
        return self._moved(codes, order)

    def with_signs(self, fmt: "FloatFormat", codes: str, signs: str, nans: str | None) -> str:
        """Magnitude codes with the top bits of `signs`, and the NaN of the format in the lanes of
        `nans`."""
        signs = self.shifted_words("shrui", signs, 8 - fmt.bits)
        signs = self.op("andi", signs, signed_byte(fmt.sign_mask), self.bytes)
        has_one_zero = fmt.nan_code == fmt.sign_mask
        if has_one_zero:
            is_zero = self.op("cmpi eq,", codes, 0, self.bytes)
            signs = self.selected(is_zero, self.text.zeros(self.size, "i8"), signs)
        both = self.op("ori", codes, signs, self.bytes)
        if nans is None:
            return both
        is_nan = self.op("cmpi slt,", nans, 0, self.bytes)
        if fmt.nan_code is None:  # the zero of the other sign
            other = self.op("xori", signs, signed_byte(fmt.sign_mask), self.bytes)
            return self.selected(is_nan, other, both)
        nan = self.splat(fmt.nan_code)
        if has_one_zero:
            return self.selected(is_nan, nan, both)
        return self.op("ori", self.selected(is_nan, nan, codes), signs, self.bytes)

    def selected(self, condition: str, yes: str, no: str) -> str:
        """A select of bytes."""
        return self.text.value(
            f"arith.select {condition}, {yes}, {no} : vector<{self.size}xi1>, {self.bytes}"
        )

    def _moved(self, codes: str, order: list[int]) -> str:
        type_ = f"vector<{len(order)}xi{self.size // len(order) * 8}>"
        wide = self.cast(codes, self.bytes, type_)
        moved = self.text.value(f"vector.shuffle {wide}, {wide} {order} : {type_}, {type_}")
        return self.cast(moved, type_, self.bytes)

    def _call(self, name: str, first: tuple[str, str], second: tuple[str, str], result: str) -> str:
        full = f"avx2.{name}"
        if self.size == 64:
            full = f"avx512.{_WIDE_NAMES.get(name, name)}.512"
        return self.text.value(
            f'llvm.call_intrinsic "{_PREFIX}{full}"({first[0]}, {second[0]})'
            f" : ({first[1]}, {second[1]}) -> {result}"
        )


Block = Callable[[Vectors, str], list[tuple[str, str]]]
"""Converts the `size` elements at a pointer: registers of results, with their types."""


def signed_byte(byte: int) -> int:
    """A byte as MLIR writes an i8."""
    return byte - 256 if byte > 127 else byte
