"""`quantize_rows` and `quantize_groups`: codes, with a scale for each row or group, in one read.

The amax of a row or group gives its scale as `scale_of_amax` of the program does, in registers.
"""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import (
    ELEMENTS,
    block_maximum,
    common_piece,
    larger,
    largest,
    store_bytes,
)
from mlir_fp8.lowering.gpu.kernels.prologue import Prologue, Site, Tensor
from mlir_fp8.lowering.gpu.kernels.scaling import divisor, quantized, scale_of_amax
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

GROUP = 128
MOST_LOADS = 8
MOST_THREADS = 1024


@dataclass(frozen=True)
class QuantizeRows:
    """Each of `rows` of `columns` by its own amax; pointers: x; codes, scales (f32, one a row).

    `threads` of a block have one row, of which each holds at most eight loads; 0 for as many as it
    takes. With a `prologue` its inputs are in the place of x, which it computes, of `element`.
    """

    rows: int
    columns: int
    element: str = "bf16"
    format: str = "f8E4M3FN"
    margin: float = 0.0
    power_of_two: bool = False
    division: str = "branch"
    threads: int = 0
    blocks: int = 0
    prologue: Prologue | None = None

    @property
    def block(self) -> int:
        if self.threads:
            return self.threads
        lanes = ELEMENTS[self.element].lanes
        wanted = -(-self.columns // (lanes * 4 * WARP)) * WARP
        return min(max(wanted, 2 * WARP), MOST_THREADS)

    @property
    def loads(self) -> int:
        return -(-self.columns // (ELEMENTS[self.element].lanes * self.block))


def fits_rows(shape: QuantizeRows) -> bool:
    """Whether a block holds a row in registers."""
    return shape.loads <= MOST_LOADS


def quantize_rows_kernel(shape: QuantizeRows, name: str = "quantize_rows") -> Kernel:
    if not fits_rows(shape):
        raise Fp8Error(f"rows of {shape.columns} {shape.element} are too long for a block")
    text, element = GpuText(), ELEMENTS[shape.element]
    lanes, threads = element.lanes, shape.block
    size = shape.rows * shape.columns
    x = Tensor(text, shape.rows, shape.columns, shape.element, shape.prologue)
    q = ("%q", f"memref<{size}xi8>")
    scales = ("%scales", f"memref<{shape.rows}xf32>")
    thread, row = text.thread(), text.block()
    piece = common_piece(shape.columns, lanes)
    columns = [text.add(text.mul(thread, lanes), i * threads * lanes) for i in range(shape.loads)]
    start = text.mul(row, shape.columns)
    places = [text.add(start, column) for column in columns]
    conditions = [_inside(text, column, piece, lanes, shape) for column in columns]
    vectors = x.vectors(
        Site(at, row, column, inside)
        for at, column, inside in zip(places, columns, conditions, strict=True)
    )
    so_far: str | None = None
    for vector in vectors:
        so_far = larger(text, element, so_far, vector, lanes)
    assert so_far is not None
    bits = block_maximum(text, largest(text, element, so_far, lanes), threads, thread)
    scale = scale_of_amax(text, bits, shape.format, shape.margin, power_of_two=shape.power_of_two)
    with text.when(text.same(thread, 0)):
        text.line(f"memref.store {scale}, %scales[{row}] : {scales[1]}")
    by = divisor(text, scale, shape.division)
    all_words = quantized(text, element, vectors, lanes, by, shape.format)
    for words, at, inside in zip(all_words, places, conditions, strict=True):
        store_bytes(text, q, at, words, piece, inside)
    body = text.kernel(name, [*x.parameters, q, scales], threads, shape.blocks)
    return Kernel(name, body, (shape.rows, 1), threads)


def _inside(
    text: GpuText, column: str, piece: int, lanes: int, shape: QuantizeRows
) -> list[str | None]:
    """Whether each piece of a vector is in its row."""
    if shape.columns % (lanes * shape.block) == 0:
        return [None] * (lanes // piece)
    return [text.below(text.add(column, i), shape.columns) for i in range(0, lanes, piece)]


@dataclass(frozen=True)
class QuantizeGroups:
    """Each 128 of `count` elements by their own amax; pointers: x; codes, scales (f32).

    With a `prologue` its inputs are in the place of x, a matrix of `columns` (0: of one row).
    """

    count: int
    element: str = "bf16"
    format: str = "f8E4M3FN"
    margin: float = 0.0
    power_of_two: bool = False
    division: str = "branch"
    threads: int = 256
    loads: int = 4
    blocks: int = 0
    columns: int = 0
    prologue: Prologue | None = None


def quantize_groups_kernel(shape: QuantizeGroups, name: str = "quantize_groups") -> Kernel:
    if shape.count % GROUP:
        raise Fp8Error(f"{shape.count} elements are no groups of {GROUP}")
    text, element = GpuText(), ELEMENTS[shape.element]
    lanes = element.lanes
    columns = shape.columns or shape.count
    x = Tensor(text, shape.count // columns, columns, shape.element, shape.prologue)
    q = ("%q", f"memref<{shape.count}xi8>")
    scales = ("%scales", f"memref<{shape.count // GROUP}xf32>")
    thread = text.thread()
    step = shape.threads * lanes
    start = text.add(text.mul(text.block(), step * shape.loads), text.mul(thread, lanes))
    places = [text.add(start, i * step) for i in range(shape.loads)]
    is_even = shape.count % (step * shape.loads) == 0
    conditions = [None if is_even else text.below(at, shape.count) for at in places]
    vectors = x.vectors(
        Site(at, text.div(at, columns), text.rem(at, columns), [inside])
        for at, inside in zip(places, conditions, strict=True)
    )
    is_first = text.same(text.rem(thread, GROUP // lanes), 0)
    for vector, at, inside in zip(vectors, places, conditions, strict=True):
        bits = largest(text, element, larger(text, element, None, vector, lanes), lanes)
        bits = _group_maximum(text, bits, GROUP // lanes)
        scale = scale_of_amax(
            text, bits, shape.format, shape.margin, power_of_two=shape.power_of_two
        )
        with text.when(text.both(inside, is_first)):
            text.line(f"memref.store {scale}, %scales[{text.div(at, GROUP)}] : {scales[1]}")
        by = divisor(text, scale, shape.division)
        (words,) = quantized(text, element, [vector], lanes, by, shape.format)
        store_bytes(text, q, at, words, lanes, [inside])
    body = text.kernel(name, [*x.parameters, q, scales], shape.threads, shape.blocks)
    return Kernel(name, body, (-(-shape.count // (step * shape.loads)), 1), shape.threads)


def _group_maximum(text: GpuText, word: str, threads: int) -> str:
    """The largest unsigned word of so many threads side by side."""
    if threads == WARP:
        return text.warp_maximum(word)
    while threads > 1:
        threads //= 2
        word = text.word_op("maxui", word, text.shuffled(word, threads))
    return word
