"""The last places of packed blocks of bf16, by which it is known where instructions lose numbers.

`tdpbf16ps` and `bfmmla` take subnormal operands for zero and give zero for subnormal sums. Every
number of a block is a multiple of the last place of its smallest one, so that products and what
they add up to, rounded or not, are multiples of the product of two last places. Where that is no
less than 2^-126, no number but zero is subnormal.
"""

from collections.abc import Callable, Sequence

from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import scaled_codes
from mlir_fp8.lowering.kernels.vector_code.text import Argument, KernelText

LEAST = -126
"""The exponent of the smallest normal number of f32."""
_LAST_OF_ONE = -7
"""The exponent of bf16's last place of the numbers from 1 on, whose exponent field is 127."""
_BIAS, _MANTISSA_BITS = 127, 7
_TOO_LOW = -1024
"""Stands for the last place of subnormal numbers."""
_WORDS, _UNROLL = 16, 4
_SIZES = ("start", "count", "place")
_SUFFIX = "_places"
_BITS = f"vector<{2 * _WORDS}xi16>"


def known_last_place(side: Expression) -> int | None:
    """The exponent of the last place of all numbers of an operand of codes; else None.

    Nor is it known where scales may make these subnormal.
    """
    codes = scaled_codes(side)
    return None if codes is None or codes.has_wide_range else codes.last_place


def last_place_text(name: str) -> str:
    """The function: stores the exponent of the last place of a packed block of bf16.

    Its parameters are the buffer, the buffer stored into, the words that the block begins after and
    has, a multiple of 64, and where to store. Zeros, infinity and NaN do not count.
    """
    text = KernelText()
    zero, big = text.index(0), text.index(1 << 40)
    text.line("%bytes = memref.cast %packed : memref<1xi8> to memref<?xi8>")
    text.line(f"%words = memref.view %bytes[{zero}][{big}] : memref<?xi8> to memref<?xi32>")
    text.line("%places = memref.cast %to : memref<1xi32> to memref<?xi32>")
    magnitude, one, most = (text.constant(f"dense<{each}> : {_BITS}") for each in (0x7FFF, 1, -1))
    end, step = text.add("%start", "%count"), text.index(_WORDS * _UNROLL)
    starts, types = [most] * _UNROLL, [_BITS] * _UNROLL
    with text.fold("%start", end, step, starts, types) as (at, least, found):
        for i in range(_UNROLL):
            words = text.value(
                f"vector.load %words[{text.add(at, i * _WORDS)}]"
                f" : memref<?xi32>, vector<{_WORDS}xi32>"
            )
            bits = text.value(f"vector.bitcast {words} : vector<{_WORDS}xi32> to {_BITS}")
            bits = text.value(f"arith.andi {bits}, {magnitude} : {_BITS}")
            # Below zero is the largest number.
            bits = text.value(f"arith.subi {bits}, {one} : {_BITS}")
            least[i] = text.value(f"arith.minui {least[i]}, {bits} : {_BITS}")
    all_ = found[0]
    for each in found[1:]:
        all_ = text.value(f"arith.minui {all_}, {each} : {_BITS}")
    code = text.value(f"vector.reduction <minui>, {all_} : {_BITS} into i16")
    text.line(f"memref.store {_exponent(text, code)}, %places[%place] : memref<?xi32>")
    buffers = [("%packed", "memref<1xi8>"), ("%to", "memref<1xi32>")]
    return text.function(name, [*buffers, *((f"%{each}", "index") for each in _SIZES)])


def _exponent(text: KernelText, code: str) -> str:
    """Of the last place of the number whose magnitude's bits are one more than `code`, an i16."""

    def number(value: int) -> str:
        return text.constant(f"{value} : i32")

    wide = text.value(f"arith.extui {code} : i16 to i32")
    bits = text.value(f"arith.addi {wide}, {number(1)} : i32")
    field = text.value(f"arith.shrui {bits}, {number(_MANTISSA_BITS)} : i32")
    exponent = text.value(f"arith.subi {field}, {number(_BIAS - _LAST_OF_ONE)} : i32")
    is_subnormal = text.value(f"arith.cmpi eq, {field}, {number(0)} : i32")
    return text.value(f"arith.select {is_subnormal}, {number(_TOO_LOW)}, {exponent} : i32")


class LastPlaces:
    """Those of the packed blocks of a product, whose function `parts` writes.

    Of codes they are known. Else those of a buffer are found when it is packed: of each block of
    the left one, each panel of the right one. They are in another buffer of that name and
    `_places`.
    """

    def __init__(self, parts: ProductParts) -> None:
        self.parts = parts
        self.known = {
            "left": known_last_place(parts.product.left),
            "right": known_last_place(parts.product.right),
        }

    def seeks(self, side: str) -> bool:
        """Whether the last places of left or right are to be found."""
        return self.known[side] is None

    def new(self, side: str, buffer: str, count: int) -> None:
        """A buffer for the last places of `count` blocks in `buffer`."""
        if self.seeks(side):
            self.parts.text.line(f"{buffer}{_SUFFIX} = {self.parts.buffer(count, 'i32')}")

    def alias(self, side: str, buffer: str, view: str) -> None:
        """Let the places of `buffer` be those of a view of it, too."""
        if self.seeks(side):
            self.parts.text.line(
                f"{view}{_SUFFIX} = memref.reinterpret_cast {buffer}{_SUFFIX} to offset: [0],"
                " sizes: [1], strides: [1] : memref<1xi32> to memref<1xi32>"
            )

    def passed(self, side: str, buffer: str) -> dict[str, Argument]:
        """What `ProductParts.shared` passes for `buffer`, which is to be %left or %right."""
        if not self.seeks(side):
            return {}
        return {f"%{side}{_SUFFIX}": (f"{buffer}{_SUFFIX}", "memref<1xi32>")}

    def find(self, buffer: str, packed: str, words: tuple[str, str], place: str) -> None:
        """Of the block in `packed`, a view of `buffer`, after so many words and of so many."""
        name = self.parts.functions.name_of("last_place", last_place_text("NAME"))
        buffers = [(packed, "memref<1xi8>"), (f"{buffer}{_SUFFIX}", "memref<1xi32>")]
        numbers = [(each, "index") for each in (*words, place)]
        self.parts.text.call(name, [*buffers, *numbers])

    def fit(self, left: tuple[str, str], right: str, panel: str) -> str:
        """An i1: whether nothing is lost of a block of the left buffer, given with its number,
        times a panel of the right one."""
        text = self.parts.text
        first = self._place("left", *left)
        total = text.value(f"arith.addi {first}, {self._place('right', right, panel)} : i32")
        least = text.constant(f"{LEAST} : i32")
        return text.value(f"arith.cmpi sge, {total}, {least} : i32")

    def _place(self, side: str, buffer: str, number: str) -> str:
        text, known = self.parts.text, self.known[side]
        if known is not None:
            return text.constant(f"{known} : i32")
        type_ = "memref<1xi32> to memref<?xi32>"
        places = text.value(f"memref.cast {buffer}{_SUFFIX} : {type_}")
        return text.value(f"memref.load {places}[{number}] : memref<?xi32>")


def call_by_panels(
    parts: ProductParts,
    places: LastPlaces,
    block: tuple[str, str],
    arguments: Sequence[Argument],
    panel_size: tuple[int, int],
    call: Callable[[Sequence[Argument], str | None], None],
) -> None:
    """Emit calls of a micro-kernel, whose parameters are those of `tile.tile_text`: `call` gets its
    arguments, and an i1, whether nothing is lost, or None where that is known of all codes.

    `block` is the left buffer and the number of the block in it; `panel_size` the columns of a
    panel of the right operand, and the bytes of its elements. Each panel has its own answer.
    """
    text = parts.text
    left, right, c, place, stride, rows, columns, panel, *rest = arguments
    if not (places.seeks("left") or places.seeks("right")):
        call(arguments, None)
        return
    if not places.seeks("right"):
        call(arguments, places.fit(block, right[0], text.index(0)))
        return
    width, size = panel_size
    bytes_ = text.value(f"memref.cast {right[0]} : memref<1xi8> to memref<?xi8>")
    with text.loop(text.index(0), columns[0], text.index(width)) as column:
        number = text.div(column, width)
        begin = text.mul(text.mul(number, panel[0]), size)
        view = text.value(f"memref.view {bytes_}[{begin}][] : memref<?xi8> to memref<1xi8>")
        count = text.minimum(text.sub(columns[0], column), text.index(width))
        start = text.add(place[0], column)
        sizes = [(each, "index") for each in (start, stride[0], rows[0], count, panel[0])]
        fits = places.fit(block, right[0], number)
        call([left, (view, right[1]), c, *sizes, *rest], fits)
