"""A product of few rows: the left operand as f32, then the right one read where it is."""

import contextlib

from mlir_fp8.lowering.kernels.code_blocks import MULTIPLY_BYTES, MULTIPLY_BYTES_TYPE
from mlir_fp8.lowering.kernels.contraction import Contraction
from mlir_fp8.lowering.kernels.pack import Pack
from mlir_fp8.lowering.kernels.product_parts import ProductParts
from mlir_fp8.lowering.kernels.reader import Reader
from mlir_fp8.lowering.kernels.right_scale import RightScale, right_scale
from mlir_fp8.lowering.kernels.skinny import Skinny
from mlir_fp8.lowering.kernels.spread import BYTES, spread_text
from mlir_fp8.lowering.kernels.subnormals import subnormals_kept

_MAX_ADDED_ROWS, _MAX_ROWS, _MAX_DOT_ROWS = 8, 12, 32
"""Rows up to which reading the right operand once for each few is faster than packing it.

More where it is packed against its order, most where it does not stay in a cache.
"""
_BIG = 1 << 18
"""Elements of a right operand that does not."""
_READING_WORK = 2
"""Multiplications that take about as long as to read an element, or to decode it."""
_SUMMED_COLUMNS, _ADDED_COLUMNS = 64, 4096
"""Columns of a part, by how the right operand lies."""
_SHARED_COLUMNS = 1024, 2048
"""Where threads may share half of all, but no fewer or more: rows are read faster as a whole."""


def suits_skinny(product: Contraction) -> bool:
    """The rows are few; the right operand is contiguous along the sum, or along the columns with
    the result."""
    rows, n, k = (product.sizes[each] for each in (product.m, product.n, product.k))
    if Reader(product.right, product.k, product.n).is_transposed:
        return rows <= (_MAX_DOT_ROWS if n * k >= _BIG else _MAX_ROWS)
    return rows <= _MAX_ADDED_ROWS and product.out.strides[product.n] in (0, 1)


def columns_of_skinny(product: Contraction, *, is_parallel: bool) -> int:
    """Columns of a part."""
    if Reader(product.right, product.k, product.n).is_transposed:
        return _SUMMED_COLUMNS
    if not is_parallel:
        return _ADDED_COLUMNS
    least, most = _SHARED_COLUMNS
    half = -(-product.sizes[product.n] // 2)
    return min(max(least, -(-half // _SUMMED_COLUMNS) * _SUMMED_COLUMNS), most)


def write_skinny(parts: ProductParts) -> None:
    """Parts are blocks of columns."""
    text, product = parts.text, parts.product
    zero, m, k = (text.index(each) for each in (0, parts.m, parts.k))
    sums_inner = Reader(product.right, product.k, product.n).is_transposed
    scale = right_scale(product, parts.target)
    pack = parts.pack(Pack(Reader(product.left, product.m, product.k), "f32", scale.left))
    left = (parts.scratch(parts.m * _left_stride(parts) * 4), "memref<1xi8>")
    stride = text.index(_left_stride(parts))
    sizes = [(each, "index") for each in (zero, stride, m, k, m, k, zero)]
    parts.text.call(pack, [*parts.source(product.left, {}, product.m, product.k), left, *sizes])
    if sums_inner and scale.by_bits:
        kernel = spread_text("NAME", BYTES * parts.target.lanes)
        numbers = [(each, "index") for each in (m, k, stride)]
        parts.text.call(parts.functions.name_of("spread", kernel), [left, *numbers])
    step = columns_of_skinny(product, is_parallel=parts.is_parallel)
    count = -(-parts.n // step)
    work = parts.work(_READING_WORK + parts.m, min(step, parts.n), parts.k)

    def body() -> None:
        parts.new_block(parts.m)
        with contextlib.ExitStack() as stack:
            if scale.by_bits:
                stack.enter_context(subnormals_kept(parts))
            loop = parts.text.loop("%begin", "%end", parts.text.index(1))
            column = parts.text.mul(stack.enter_context(loop), step)
            _write_columns(parts, column, step, scale, sums_inner)

    parts.shared("columns", (text.index(count), count), work, {"%left": left}, body)


def _left_stride(parts: ProductParts) -> int:
    """From one row of the left operand to the next: they lie in different sets of the cache."""
    return parts.k if parts.m == 1 else parts.k + 16


def _write_columns(
    parts: ProductParts, column: str, step: int, scale: RightScale, sums_inner: bool
) -> None:
    text, product = parts.text, parts.product
    outer, inner = (product.n, product.k) if sums_inner else (product.k, product.n)
    reader = Reader(product.right, outer, inner)
    strides, k = parts.out_strides, text.index(parts.k)
    columns = text.minimum(text.sub(text.index(parts.n), column), text.index(step))
    source = parts.source(product.right, {product.n: column}, outer, inner)
    start = parts.place(text.index(0), column)
    stride = _left_stride(parts)
    if scale.by_bits:
        parts.functions.declare(MULTIPLY_BYTES, MULTIPLY_BYTES_TYPE)
    most = Skinny.most_rows(reader, sums_inner, parts.target)
    for first in range(0, parts.m, most):
        rows = min(most, parts.m - first)
        kernel = Skinny(reader, rows, sums_inner, scale).text("NAME", parts.target)
        place = text.add(start, first * strides[product.m])
        steps = [text.index(strides[product.m]), text.index(strides[product.n])]
        sizes = [text.index(first * stride), text.index(stride), place, *steps, columns, k]
        buffers = [("%left", "memref<1xi8>"), ("%c", "memref<1xf32>")]
        arguments = [*source, *buffers, *((size, "index") for size in sizes)]
        parts.text.call(parts.functions.name_of("skinny", kernel), arguments)
    parts.finish_block(start, (text.index(0), column), (text.index(parts.m), columns), None)
