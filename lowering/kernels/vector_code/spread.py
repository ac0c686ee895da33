"""The order of four-byte words' bytes: all first ones, all second ones, and so on.

Shifting words of codes gives f32 numbers in this order, in fewer ops than in the codes' own. So
what is multiplied with these is put into it, and what is summed up in it is put back.
"""

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

BYTES = 4


def spread_order(size: int) -> list[int]:
    """Where each of `size` numbers in this order was before."""
    words = size // BYTES
    return [BYTES * i + j for j in range(BYTES) for i in range(words)]


def gathered_order(size: int) -> list[int]:
    """The inverse of `spread_order`."""
    words = size // BYTES
    return [j * words + i for i in range(words) for j in range(BYTES)]


def spread_place(text: KernelText, number: str, size: int) -> str:
    """Where a number, of many, is after blocks of `size` of them were put into this order."""
    rest = text.rem(number, size)
    start = text.sub(number, rest)
    column = text.mul(text.rem(rest, BYTES), size // BYTES)
    return text.add(text.add(start, column), text.div(rest, BYTES))


def spread_text(name: str, size: int) -> str:
    """A function that puts f32 rows, whole blocks of them, into this order.

    It takes the buffer of the rows, how many there are, how long each is, and from where to where
    the next one is.
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
            block = reordered(text, "%view", place, spread_order(size))
            text.line(f"vector.store {block}, %view[{place}] : memref<?xf32>, {vector}")
    numbers = [(each, "index") for each in ("%count", "%length", "%stride")]
    return text.function(name, [("%rows", "memref<1xi8>"), *numbers])


def reordered(text: KernelText, buffer: str, place: str, order: list[int]) -> str:
    """The f32 elements of `buffer` from `place` on, each from where `order` tells."""
    half = len(order) // 2
    vector = f"vector<{half}xf32>"
    low, high = (
        text.value(f"vector.load {buffer}[{text.add(place, start)}] : memref<?xf32>, {vector}")
        for start in (0, half)
    )
    return text.value(f"vector.shuffle {low}, {high} {order} : {vector}, {vector}")
