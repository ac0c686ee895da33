"""A product of few rows of bytes: the left operand packed, the right one read in place."""

from mlir_fp8.lowering.kernels.products.amx_calls import permission_of
from mlir_fp8.lowering.kernels.products.amx_rows import COLUMNS, DEPTH, ROWS, amx_rows_text
from mlir_fp8.lowering.kernels.products.amx_tile import intrinsics
from mlir_fp8.lowering.kernels.products.byte_tile import SIGNED, byte_intrinsics, flips
from mlir_fp8.lowering.kernels.products.pack_bytes import PackBytes
from mlir_fp8.lowering.kernels.products.packed_form import UNITS, packed_form
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.product_skinny import READING_WORK, columns_of_skinny
from mlir_fp8.lowering.kernels.products.skinny_bytes import (
    SkinnyBytes,
    copy_text,
    flip_text,
)
from mlir_fp8.lowering.kernels.vector_code.reader import Reader

_LINE = 64
"""Bytes between rows beyond their length, so that they map to different cache sets."""

_REGISTERS_OF_ROW = 4
"""For each row that a kernel multiplies at once: its packed part stays in the nearest cache."""
_RESULTS, _LEAST_COLUMNS = 8192, 512
"""Of all rows of a kernel together, which stay there; and columns at least, for the streams."""


def write_skinny_bytes(parts: ProductParts) -> None:
    """By tiles of AMX where these are whole, by vector registers elsewhere."""
    fits = parts.m <= ROWS and not parts.k % DEPTH and not parts.n % COLUMNS
    if not (parts.target.tiles and fits):
        _write_vectors(parts)
        return
    condition = permission_of(parts)
    if condition is None:
        _write_tiles(parts)
        return
    with parts.text.when(condition):
        _write_tiles(parts)
        parts.text.otherwise()
        _write_vectors(parts)


def _write_tiles(parts: ProductParts) -> None:
    text, product = parts.text, parts.product
    left = (parts.scratch(parts.k * ROWS), "memref<1xi8>")
    pack = PackBytes(Reader(product.left, product.k, product.m), 8, 4, ROWS)
    numbers = (0, ROWS, parts.k, parts.m, parts.k, ROWS, parts.k // 4 * ROWS)
    source = parts.source(product.left, {}, product.k, product.m)
    text.call(
        parts.pack_bytes(pack), [*source, left, *((text.index(each), "index") for each in numbers)]
    )
    extensions = product.right.byte_extension, product.left.byte_extension
    signs = "".join("s" if each == SIGNED else "u" for each in extensions)
    for name, types in intrinsics(signs):
        parts.functions.declare(name, types)
    reader = Reader(product.right, product.n, product.k)
    kernel = parts.functions.name_of("skinny", amx_rows_text("NAME", reader, signs))

    def body() -> None:
        text, strides = parts.text, parts.out_strides
        with text.loop("%begin", "%end", text.index(1)) as number:
            column = text.mul(number, COLUMNS)
            start = parts.place(text.index(0), column, text.index(0))
            steps = [text.index(strides[each]) for each in (product.m, product.n)]
            numbers = [start, *steps, text.index(parts.m), text.index(parts.k)]
            source = parts.source(product.right, {product.n: column}, product.n, product.k)
            buffers = [("%left", "memref<1xi8>"), ("%c", "memref<1xi32>")]
            text.call(kernel, [*source, *buffers, *((each, "index") for each in numbers)])

    count, work = parts.n // COLUMNS, parts.work(READING_WORK + parts.m, COLUMNS, parts.k)
    parts.shared("columns", (text.index(count), count), work, {"%left": left}, body)


def _write_vectors(parts: ProductParts) -> None:
    """One parallel loop, over blocks of columns."""
    text, product, target = parts.text, parts.product, parts.target
    form = packed_form(product, target)
    unit, extensions = UNITS[form], (product.left.byte_extension, product.right.byte_extension)
    bits, size = 32 // unit, target.lanes * unit
    stride = -(-parts.k // size) * size + _LINE * 8 // bits
    left = (parts.scratch(parts.m * stride * bits // 8), "memref<1xi8>")
    pack = PackBytes(Reader(product.left, product.m, product.k), bits, 1)
    numbers = (0, stride, parts.m, parts.k, parts.m, stride, 0)
    source = parts.source(product.left, {}, product.m, product.k)
    text.call(
        parts.pack_bytes(pack), [*source, left, *((text.index(each), "index") for each in numbers)]
    )
    if form == "i8" and target.byte_dots and flips(extensions):
        words = text.index(parts.m * stride // unit)
        text.call(parts.functions.name_of("flip", flip_text("NAME")), [left, (words, "index")])
    for name, types in byte_intrinsics(target).items():
        parts.functions.declare(name, types)
    sums_inner = Reader(product.right, product.k, product.n).is_transposed
    outer, inner = (product.n, product.k) if sums_inner else (product.k, product.n)
    reader = Reader(product.right, outer, inner)
    step = columns_of_skinny(product, is_parallel=parts.threads > 1)
    most = target.registers // _REGISTERS_OF_ROW
    if not sums_inner:
        step = max(min(step, _RESULTS // min(parts.m, most)), _LEAST_COLUMNS)
    count = -(-parts.n // step)

    def body() -> None:
        text, strides = parts.text, parts.out_strides
        line = step + _LINE // 4
        sums = "" if sums_inner else text.value(parts.buffer(min(most, parts.m) * line, "i32"))
        with text.loop("%begin", "%end", text.index(1)) as number:
            column = text.mul(number, step)
            columns = text.minimum(text.sub(text.index(parts.n), column), text.index(step))
            start = parts.place(text.index(0), column, text.index(0))
            for first in range(0, parts.m, most):
                rows = min(most, parts.m - first)
                kernel = SkinnyBytes(reader, rows, sums_inner, form, extensions)
                source = parts.source(product.right, {product.n: column}, outer, inner)
                place = text.add(start, first * strides[product.m])
                steps = [text.index(strides[each]) for each in (product.m, product.n)]
                to = [place, *steps] if sums_inner else [text.index(each) for each in (0, line, 1)]
                left_place = text.index(first * stride // unit), text.index(stride // unit)
                numbers = [*left_place, *to, columns, text.index(parts.k)]
                name = parts.functions.name_of("skinny", kernel.text("NAME", target))
                buffers = [("%left", "memref<1xi8>"), (sums or "%c", "memref<1xi32>")]
                text.call(name, [*source, *buffers, *((each, "index") for each in numbers)])
                if not sums_inner:
                    name = parts.functions.name_of("results", copy_text("NAME"))
                    buffers = [(sums, "memref<1xi32>"), ("%c", "memref<1xi32>")]
                    numbers = [text.index(line), place, steps[0], text.index(rows), columns]
                    text.call(name, [*buffers, *((each, "index") for each in numbers)])

    work = parts.work(READING_WORK + parts.m, min(step, parts.n), parts.k)
    parts.shared("columns", (text.index(count), count), work, {"%left": left}, body)
