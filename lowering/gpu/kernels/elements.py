"""What kernels quantize: vectors of bf16, f16 or f32, as loaded, in f32, and their amax."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText

LOAD_BYTES = 16


@dataclass(frozen=True)
class Element:
    """An element type: its bits in memory, and those of its magnitude."""

    name: str
    bits: int

    @property
    def storage(self) -> str:
        return f"i{self.bits}"

    @property
    def lanes(self) -> int:
        """How many a load of 16 bytes has."""
        return 8 * LOAD_BYTES // self.bits

    @property
    def size(self) -> int:
        return self.bits // 8

    def vector(self, lanes: int) -> str:
        return f"vector<{lanes}xi{self.bits}>"


ELEMENTS = {
    each.name: each for each in (Element("bf16", 16), Element("f16", 16), Element("f32", 32))
}


def larger(text: GpuText, element: Element, so_far: str | None, vector: str, lanes: int) -> str:
    """The larger magnitudes of two vectors, as integers: those of a NaN are the largest."""
    type_ = element.vector(lanes)
    mask = text.constant(f"dense<{(1 << (element.bits - 1)) - 1}> : {type_}")
    magnitudes = text.value(f"arith.andi {vector}, {mask} : {type_}")
    if so_far is None:
        return magnitudes
    return text.value(f"arith.maxui {so_far}, {magnitudes} : {type_}")


def largest(text: GpuText, element: Element, magnitudes: str, lanes: int) -> str:
    """The largest of a vector's magnitudes, as the bits of an f32, i32."""
    while lanes > 1:
        half, whole = element.vector(lanes // 2), element.vector(lanes)
        low, high = (
            text.value(
                f"vector.extract_strided_slice {magnitudes} {{offsets = [{at}], "
                f"sizes = [{lanes // 2}], strides = [1]}} : {whole} to {half}"
            )
            for at in (0, lanes // 2)
        )
        magnitudes, lanes = text.value(f"arith.maxui {low}, {high} : {half}"), lanes // 2
    one = text.value(f"vector.extract {magnitudes}[0] : {element.storage} from {element.vector(1)}")
    if element.name == "f32":
        return one
    if element.name == "bf16":
        wide = text.value(f"arith.extui {one} : i16 to i32")
        return text.word_op("shli", wide, 16)
    number = text.bits(one, "i16", "f16")
    return text.bits(text.value(f"arith.extf {number} : f16 to f32"), "f32", "i32")


def widened(text: GpuText, element: Element, vector: str, lanes: int) -> list[str]:
    """The elements of a vector as f32 numbers: exact."""
    type_ = element.vector(lanes)
    if element.name == "bf16" and lanes > 1:
        words = text.words(vector, type_, lanes // 2)
        pairs = [
            (text.word_op("shli", word, 16), text.word_op("andi", word, -65536)) for word in words
        ]
        return [text.bits(each, "i32", "f32") for pair in pairs for each in pair]
    found: list[str] = []
    for lane in range(lanes):
        one = text.value(f"vector.extract {vector}[{lane}] : {element.storage} from {type_}")
        if element.name == "f32":
            found.append(text.bits(one, "i32", "f32"))
        elif element.name == "f16":
            half = text.bits(one, "i16", "f16")
            found.append(text.value(f"arith.extf {half} : f16 to f32"))
        else:
            wide = text.word_op("shli", text.value(f"arith.extui {one} : i16 to i32"), 16)
            found.append(text.bits(wide, "i32", "f32"))
    return found


def block_maximum(text: GpuText, word: str, threads: int, thread: str) -> str:
    """The largest unsigned word of a block, in the lanes of its first warp."""
    warps = threads // WARP
    word = text.warp_maximum(word)
    if warps == 1:
        return word
    memory, type_ = text.shared("maxima", warps, "i32")
    lane = text.rem(thread, WARP)
    with text.when(text.same(lane, 0)):
        text.line(f"memref.store {word}, {memory}[{text.div(thread, WARP)}] : {type_}")
    text.barrier()
    of_lane = text.chosen(
        text.below(lane, warps),
        "i32",
        lambda: text.value(f"memref.load {memory}[{lane}] : {type_}"),
        text.i32(0),
    )
    return text.warp_maximum(of_lane)


def keep_maximum(text: GpuText, word: str, threads: int, thread: str, memory: str) -> None:
    """Make `memory`, one i32, the largest unsigned word of a grid and what it was before."""
    word = block_maximum(text, word, threads, thread)
    with text.when(text.same(thread, 0)):
        zero = text.index(0)
        text.value(f"memref.atomic_rmw maxu {word}, {memory}[{zero}] : (i32, memref<1xi32>) -> i32")


def load(
    text: GpuText,
    memory: tuple[str, str],
    element: str,
    place: str,
    lanes: int,
    piece: int,
    conditions: Sequence[str | None],
) -> str:
    """A vector of `lanes`, in pieces, each where its condition holds; zeros elsewhere."""
    name, type_ = memory
    whole, part = f"vector<{lanes}x{element}>", f"vector<{piece}x{element}>"
    bytes_ = piece * int(element[1:]) // 8
    result = text.constant(f"dense<0> : {whole}")
    options = f"{{alignment = {bytes_} : i64}}"
    for i, condition in enumerate(conditions):
        at = text.add(place, i * piece)
        loaded = text.chosen(
            condition,
            part,
            lambda at=at: text.value(f"vector.load {name}[{at}] {options} : {type_}, {part}"),
            text.constant(f"dense<0> : {part}"),
        )
        if piece == lanes:
            return loaded
        result = text.value(
            f"vector.insert_strided_slice {loaded}, {result} {{offsets = [{i * piece}], "
            f"strides = [1]}} : {part} into {whole}"
        )
    return result


def store_bytes(
    text: GpuText,
    memory: tuple[str, str],
    place: str,
    words: Sequence[str],
    piece: int,
    conditions: Sequence[str | None],
) -> None:
    """Store words in pieces of so many bytes, each where its condition holds."""
    name, type_ = memory
    count = 4 * len(words)
    vector, part = text.bytes_of(words), f"vector<{piece}xi8>"
    for i, condition in enumerate(conditions):
        at = text.add(place, i * piece)
        one = vector
        if piece != count:
            one = text.value(
                f"vector.extract_strided_slice {vector} {{offsets = [{i * piece}], "
                f"sizes = [{piece}], strides = [1]}} : vector<{count}xi8> to {part}"
            )
        line = f"vector.store {one}, {name}[{at}] {{alignment = {piece} : i64}} : {type_}, {part}"
        if condition is None:
            text.line(line)
            continue
        with text.when(condition):
            text.line(line)


def common_piece(size: int, lanes: int) -> int:
    """The most lanes, a power of two, that never cross from one row of `size` to the next."""
    return math.gcd(size, lanes)
