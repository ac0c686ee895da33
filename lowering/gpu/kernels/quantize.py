"""`quantize`: codes of a tensor and its amax, in one read."""

from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.elements import (
    ELEMENTS,
    keep_maximum,
    larger,
    largest,
    load,
    store_bytes,
)
from mlir_fp8.lowering.gpu.kernels.scaling import Divisor, divisor, quantized
from mlir_fp8.lowering.gpu.kernels.text import GpuText, Kernel


@dataclass(frozen=True)
class Quantize:
    """`count` elements to `format`, f8E4M3FN or f8E5M2, saturated; pointers of the kernel:

    x (`element`: bf16, f16 or f32), scale (f32), with `amax` an f32 that is 0 or more; then
    results: codes, with `amax` the same f32, which becomes the larger of itself and max |x|, NaN
    where one is. `loads` of 16 bytes are in flight in each of `threads` of a block. `division` is
    one of `DIVISIONS`.
    """

    count: int
    element: str = "bf16"
    format: str = "f8E4M3FN"
    amax: bool = True
    division: str = "branch"
    threads: int = 256
    loads: int = 8
    blocks: int = 0


def quantize_kernel(shape: Quantize, name: str = "quantize") -> Kernel:
    text, element = GpuText(), ELEMENTS[shape.element]
    lanes = element.lanes
    x = ("%x", f"memref<{shape.count}x{element.storage}>")
    q = ("%q", f"memref<{shape.count}xi8>")
    parameters = [x, ("%scale", "memref<1xf32>"), q]
    if shape.amax:
        parameters = [*parameters[:2], ("%before", "memref<1xi32>"), q, ("%amax", "memref<1xi32>")]
    step = shape.threads * lanes
    chunk = step * shape.loads
    thread, block = text.thread(), text.block()
    scale = text.value(f"memref.load %scale[{text.index(0)}] : memref<1xf32>")
    by = divisor(text, scale, shape.division)
    start = text.add(text.mul(block, chunk), text.mul(thread, lanes))
    is_even = shape.count % chunk == 0
    last = shape.count - shape.count % lanes
    places = [text.add(start, i * step) for i in range(shape.loads)]
    inside = [None if is_even else text.below(at, last) for at in places]
    vectors = [
        load(text, x, element.storage, at, lanes, lanes, [condition])
        for at, condition in zip(places, inside, strict=True)
    ]
    so_far: str | None = None
    quantized_words = quantized(text, element, vectors, lanes, by, shape.format)
    for vector, words, at, condition in zip(vectors, quantized_words, places, inside, strict=True):
        store_bytes(text, q, at, words, lanes, [condition])
        if shape.amax:
            so_far = larger(text, element, so_far, vector, lanes)
    word = None if so_far is None else largest(text, element, so_far, lanes)
    if shape.count > last:
        word = _tail(text, shape, (x, q), last, word, thread, by)
    if word is not None:
        keep_maximum(text, word, shape.threads, thread, "%amax")
    blocks = -(-shape.count // chunk)
    body = text.kernel(name, parameters, shape.threads, shape.blocks)
    return Kernel(name, body, (blocks, 1), shape.threads)


def _tail(
    text: GpuText,
    shape: Quantize,
    memory: tuple[tuple[str, str], tuple[str, str]],
    last: int,
    word: str | None,
    thread: str,
    by: Divisor,
) -> str | None:
    """The elements behind the last whole vector, one for each of the first threads of block 0."""
    x, q = memory
    element = ELEMENTS[shape.element]
    is_first = text.both(text.below(thread, shape.count - last), text.same(text.block(), 0))
    at = text.add(thread, last)
    vector = load(text, x, element.storage, at, 1, 1, [is_first])
    (words,) = quantized(text, element, [vector], 1, by, shape.format)
    store_bytes(text, q, at, words, 1, [is_first])
    if word is None:
        return None
    own = largest(text, element, larger(text, element, None, vector, 1), 1)
    return text.word_op("maxui", word, own)
