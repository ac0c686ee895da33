"""A product of few rows (GEMV-like): the left operand packed as f32, the right read in place."""

import contextlib
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.right_scale import RightScale, right_scale
from mlir_fp8.lowering.kernels.products.skinny import KERNEL_ROWS, Skinny
from mlir_fp8.lowering.kernels.products.skinny_dots import dots_depth
from mlir_fp8.lowering.kernels.products.subnormals import subnormals_kept
from mlir_fp8.lowering.kernels.products.sum_groups import GroupSums, group_size
from mlir_fp8.lowering.kernels.vector_code.byte_tables import INTRINSICS
from mlir_fp8.lowering.kernels.vector_code.code_blocks import MULTIPLY_BYTES, MULTIPLY_BYTES_TYPE
from mlir_fp8.lowering.kernels.vector_code.nibbles import LOOK_UP, LOOK_UP_TYPE
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.spread import BYTES, spread_text

READING_WORK = 2
"""The cost of reading and decoding an element, in multiplications."""
_SUMMED_COLUMNS, _ADDED_COLUMNS = 64, 4096
"""Columns per iteration of the parallel loop, by the layout of the right operand."""
_SHARED_COLUMNS = 256, 2048
"""Bounds of that with threads, which take half the columns each where there are enough of them."""

_ADDED_DEPTH = 1024
"""Rows of the right operand per accumulator; these are then added up (blocked summation)."""
_SPAN = 4096
"""Groups are multiples of this many reduction steps, so that blocks of codes keep their bounds."""


def columns_of_skinny(product: Contraction, *, is_parallel: bool) -> int:
    """Columns per iteration of the parallel loop."""
    if Reader(product.right, product.k, product.n).is_transposed:
        return _SUMMED_COLUMNS
    if not is_parallel:
        return _ADDED_COLUMNS
    least, most = _SHARED_COLUMNS
    half = -(-product.sizes[product.n] // 2)
    return min(max(least, -(-half // _SUMMED_COLUMNS) * _SUMMED_COLUMNS), most)


def write_skinny(parts: ProductParts) -> None:
    """One parallel loop, over blocks of columns."""
    text, product = parts.text, parts.product
    zero, m, k = (text.index(each) for each in (0, parts.m, parts.k))
    sums_inner = Reader(product.right, product.k, product.n).is_transposed
    scale = right_scale(product, parts.target, rows=parts.m, sums_inner=sums_inner)
    pack = parts.pack(Pack(Reader(product.left, product.m, product.k), "f32", scale.left))
    left = (parts.scratch(parts.m * _left_stride(parts) * 4), "memref<1xi8>")
    stride = text.index(_left_stride(parts))
    sizes = [(each, "index") for each in (zero, stride, m, k, m, k, zero)]
    parts.text.call(pack, [*parts.source(product.left, {}, product.m, product.k), left, *sizes])
    if sums_inner and (scale.by_bits or scale.of_word):
        of_word = scale.of_word or BYTES
        kernel = spread_text("NAME", of_word * parts.target.lanes, of_word)
        numbers = [(each, "index") for each in (m, k, stride)]
        parts.text.call(parts.functions.name_of("spread", kernel), [left, *numbers])
    step = columns_of_skinny(product, is_parallel=parts.threads > 1)
    count = -(-parts.n // step)
    work = parts.work(READING_WORK + parts.m, min(step, parts.n), parts.k)

    spans = _spans(parts, scale, sums_inner)
    sums = GroupSums(parts, parts.m, min(step, parts.n))

    def body() -> None:
        parts.new_block(parts.m)
        groups = [(span, sums, sums.new()) for span in spans]
        with contextlib.ExitStack() as stack:
            if scale.by_bits:
                stack.enter_context(subnormals_kept(parts))
            loop = parts.text.loop("%begin", "%end", parts.text.index(1))
            column = parts.text.mul(stack.enter_context(loop), step)
            _write_columns(parts, column, step, _Kernels(parts, scale, sums_inner), groups)

    parts.shared("columns", (text.index(count), count), work, {"%left": left}, body)


def _left_stride(parts: ProductParts) -> int:
    """The row stride of the packed left operand; padded: rows map to different cache sets."""
    return parts.k if parts.m == 1 else parts.k + 16


def _spans(parts: ProductParts, scale: RightScale, sums_inner: bool) -> list[int]:
    """The reduction sizes that have accumulators of their own, outermost level first."""
    most = min(parts.m, 2 * KERNEL_ROWS)
    block = dots_depth(most, scale) if sums_inner else _ADDED_DEPTH
    blocks = -(-parts.k // block)
    group = -(-group_size(blocks) * block // _SPAN) * _SPAN
    spans = [group] if sums_inner else [group, block]
    return [span for span in dict.fromkeys(spans) if span < parts.k]


_Group = tuple[int, GroupSums, str]
"""A reduction size that has its own accumulators, and these in a buffer."""
_Place = tuple[str, str, tuple[int, int]]
"""A buffer of results, their offset, and their strides along m and n."""


def _write_columns(
    parts: ProductParts, column: str, step: int, kernels: "_Kernels", groups: list[_Group]
) -> None:
    text, product, strides = parts.text, parts.product, parts.out_strides
    columns = text.minimum(text.sub(text.index(parts.n), column), text.index(step))
    start = parts.place(text.index(0), column, text.index(0))
    to = "%c", start, (strides[product.m], strides[product.n])
    bounds = text.index(0), text.index(parts.k)
    _write_groups(parts, kernels, groups, (column, columns), bounds, to)
    parts.finish_block(start, (text.index(0), column), (text.index(parts.m), columns), None)


def _write_groups(
    parts: ProductParts,
    kernels: "_Kernels",
    groups: list[_Group],
    columns: tuple[str, str],
    bounds: tuple[str, str],
    to: _Place,
) -> None:
    """Reduce over `bounds` for `columns` (first and count), level by level."""
    text, (low, high) = parts.text, bounds
    if not groups:
        kernels.call(columns, low, text.sub(high, low), to)
        return
    (span, sums, buffer), *inner = groups
    with text.loop(low, high, text.index(span)) as depth:
        end = text.minimum(text.add(depth, span), high)
        place = buffer, text.index(0), (sums.stride, 1)
        _write_groups(parts, kernels, inner, columns, (depth, end), place)
        sizes = text.index(parts.m), columns[1]
        sums.add((buffer, place[1]), to[:2], to[2], sizes, text.sub(depth, low))


@dataclass(frozen=True)
class _Kernels:
    """The kernels that multiply all rows by some columns."""

    parts: ProductParts
    scale: RightScale
    sums_inner: bool

    def call(self, columns: tuple[str, str], depth: str, count: str, to: _Place) -> None:
        """Call them on the reduction steps [`depth`, `depth` + `count`)."""
        parts, text, product = self.parts, self.parts.text, self.parts.product
        outer, inner = (product.n, product.k) if self.sums_inner else (product.k, product.n)
        reader = Reader(product.right, outer, inner)
        at = {product.n: columns[0], product.k: depth}
        source = parts.source(product.right, at, outer, inner)
        stride, (buffer, start, strides) = _left_stride(parts), to
        if self.scale.by_bits:
            parts.functions.declare(MULTIPLY_BYTES, MULTIPLY_BYTES_TYPE)
        if self.scale.by_nibbles:
            parts.functions.declare(LOOK_UP, LOOK_UP_TYPE)
        if self.scale.by_tables:
            for name, types in INTRINSICS.items():
                parts.functions.declare(name, types)
        most = Skinny.most_rows(reader, self.sums_inner, parts.target)
        for first in range(0, parts.m, most):
            rows = min(most, parts.m - first)
            kernel = Skinny(reader, rows, self.sums_inner, self.scale).text("NAME", parts.target)
            left = text.add(depth, first * stride)
            steps = [text.index(each) for each in strides]
            sizes = [left, text.index(stride), text.add(start, first * strides[0]), *steps]
            buffers = [("%left", "memref<1xi8>"), (buffer, "memref<1xf32>")]
            numbers = [(each, "index") for each in (*sizes, columns[1], count)]
            name = parts.functions.name_of("skinny", kernel)
            parts.text.call(name, [*source, *buffers, *numbers])
