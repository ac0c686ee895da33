"""The lane order that shifting 32-bit words of codes gives: all bytes 0, all bytes 1, and so on.

Decoding in this order takes fewer ops than in memory order. So the other factor is permuted into
it, and accumulators are permuted back.
"""

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

BYTES = 4


def spread_order(size: int, codes: int = BYTES) -> list[int]:
    """The index of each of `size` lanes in memory order; a word has so many `codes`."""
    words = size // codes
    return [codes * i + j for j in range(codes) for i in range(words)]


def gathered_order(size: int) -> list[int]:
    """The inverse of `spread_order`."""
    words = size // BYTES
    return [j * words + i for i in range(words) for j in range(BYTES)]


def spread_place(text: KernelText, number: str, size: int) -> str:
    """The index of element `number` after each block of `size` was permuted into this order."""
    rest = text.rem(number, size)
    start = text.sub(number, rest)
    column = text.mul(text.rem(rest, BYTES), size // BYTES)
    return text.add(text.add(start, column), text.div(rest, BYTES))


def spread_text(name: str, size: int, codes: int = BYTES) -> str:
    """A function that permutes the whole blocks of f32 rows into this order, in place.

    Parameters: the buffer of the rows, their count, their length and their stride.
    """
    text, vector = KernelText(), f"vector<{size}xf32>"
    zero, big = text.index(0), text.index(1 << 40)
    text.line("%bytes = memref.cast %rows : memref<1xi8> to memref<?xi8>")
    text.line(f"%view = memref.view %bytes[{zero}][{big}] : memref<?xi8> to memref<?xf32>")
    last = text.rounded_down("%length", size)
    with text.loop(zero, "%count", text.index(1)) as row:
        start = text.mul(row, "%stride")
        with text.loop(zero, last, text.index(size)) as column:
            place = text.add(start, column)
            block = reordered(text, "%view", place, spread_order(size, codes))
            text.line(f"vector.store {block}, %view[{place}] : memref<?xf32>, {vector}")
    numbers = [(each, "index") for each in ("%count", "%length", "%stride")]
    return text.function(name, [("%rows", "memref<1xi8>"), *numbers])


def reordered(text: KernelText, buffer: str, place: str, order: list[int]) -> str:
    """A vector of f32 elements of `buffer` from `place`, permuted by `order`."""
    half = len(order) // 2
    vector = f"vector<{half}xf32>"
    low, high = (
        text.value(f"vector.load {buffer}[{text.add(place, start)}] : memref<?xf32>, {vector}")
        for start in (0, half)
    )
    return text.value(f"vector.shuffle {low}, {high} {order} : {vector}, {vector}")
