"""Rows of A on their way into shared memory, as the numbers that are multiplied."""

from mlir_fp8.lowering.gpu.kernels.elements import LOAD_BYTES, common_piece, load
from mlir_fp8.lowering.gpu.kernels.few_rows.codes import widened_codes
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import store_words
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_INFINITY = 0x7F800000
_UPPER = -65536


class Activations:
    """The pieces of 16 bytes that a thread brings: of a chunk of K, in each row of A."""

    def __init__(self, text: GpuText, shape: FewRows, memory: tuple[str, str], base: str) -> None:
        """`base` is where the two buffers are in shared memory, i32."""
        self.text, self.shape, self.memory, self.base = text, shape, memory, base
        bits = {"f32": 32, "bf16": 16, "f16": 16}.get(shape.a_type, 8)
        self.storage = f"i{bits}"
        self.lanes = 8 * LOAD_BYTES // bits
        self.type_ = f"vector<{self.lanes}x{self.storage}>"
        self.per_row = shape.chunk // self.lanes
        self.total = shape.rows * self.per_row
        self.count = -(-self.total // shape.threads)

    def _place(self, thread: str, number: int) -> tuple[str, str, str | None]:
        """The row of a piece, its first element within the chunk, and whether there is one."""
        text, shape = self.text, self.shape
        piece = text.add(thread, number * shape.threads)
        is_whole = (number + 1) * shape.threads <= self.total
        inside = None if is_whole else text.below(piece, self.total)
        row = text.div(piece, self.per_row)
        return row, text.mul(text.rem(piece, self.per_row), self.lanes), inside

    def loaded(self, thread: str, start: str, end: str) -> list[str]:
        """The vectors of the chunk of K from `start` on, zeros from `end` on."""
        text, k = self.text, self.shape.k
        piece = common_piece(k, self.lanes)
        vectors: list[str] = []
        for number in range(self.count):
            row, within, inside = self._place(thread, number)
            first = text.add(start, within)
            conditions: list[str | None] = [
                text.both(inside, text.below(text.add(first, i), end))
                for i in range(0, self.lanes, piece)
            ]
            at = text.add(text.mul(row, k), first)
            vectors.append(load(text, self.memory, self.storage, at, self.lanes, piece, conditions))
        return vectors

    def store(self, thread: str, vectors: list[str], buffer: str) -> None:
        """Put vectors into the buffer at the offset `buffer`, i32."""
        text, shape = self.text, self.shape
        for number, vector in enumerate(vectors):
            row, within, inside = self._place(thread, number)
            offset = text.add(text.mul(row, shape.row_bytes), text.mul(within, 2))
            moved = text.value(f"arith.index_cast {offset} : index to i32")
            at = text.word_op("addi", text.word_op("addi", self.base, buffer), moved)
            words = text.words(vector, self.type_, 4)
            if inside is None:
                self._store(words, at)
                continue
            with text.when(inside):
                self._store(words, at)

    def _store(self, words: list[str], at: str) -> None:
        text, shape = self.text, self.shape
        if shape.a_type in FORMATS:
            wide = [
                each
                for codes in words
                for each in widened_codes(text, codes, shape.a_type, shape.multiplied)
            ]
            store_words(text, at, wide[:4])
            store_words(text, text.word_op("addi", at, 16), wide[4:])
        elif shape.a_type == "f32":
            parts = [_parts(text, each) for each in words]
            for number in range(shape.parts):
                pairs = [
                    text.permuted(parts[i][number], parts[i + 1][number], 0x7632) for i in (0, 2)
                ]
                to = text.word_op("addi", at, number * shape.part_bytes) if number else at
                store_words(text, to, pairs)
        else:
            store_words(text, at, words)


def _parts(text: GpuText, word: str) -> list[str]:
    """An f32 as three bf16 numbers of its sign, upper halves of words, whose sum it is.

    Each is what is left, truncated to eight bits. Of infinity the others are 0, as of NaN, which
    stays one.
    """
    magnitude = text.word_op("andi", word, (1 << 31) - 1)
    is_nan = text.value(f"arith.cmpi ugt, {magnitude}, {text.i32(_INFINITY)} : i32")
    is_finite = text.value(f"arith.cmpi ult, {magnitude}, {text.i32(_INFINITY)} : i32")
    first = text.word_op("andi", word, _UPPER)
    left = _difference(text, word, first)
    second = text.word_op("andi", left, _UPPER)
    third = _difference(text, left, second)
    nan = text.i32(0x7FC00000)
    zero = text.i32(0)
    return [
        text.value(f"arith.select {is_nan}, {nan}, {first} : i32"),
        *(
            text.value(f"arith.select {is_finite}, {each}, {zero} : i32")
            for each in (second, third)
        ),
    ]


def _difference(text: GpuText, left: str, right: str) -> str:
    """Of two f32, as the bits of one: exact here."""
    numbers = [text.bits(each, "i32", "f32") for each in (left, right)]
    return text.bits(text.value(f"arith.subf {numbers[0]}, {numbers[1]} : f32"), "f32", "i32")
