"""Few rows times columns that are contiguous along the reduction: a dot product per result."""

from mlir_fp8.lowering.kernels.products.right_scale import RightScale
from mlir_fp8.lowering.kernels.products.skinny_parts import SkinnyParts
from mlir_fp8.lowering.kernels.vector_code.code_blocks import sliced
from mlir_fp8.lowering.kernels.vector_code.expression import multiplied

_MANY_REGISTERS = 32
_ACCUMULATORS = 8
"""Vectors that products are added up in: enough to keep the units for them busy."""
_LEFT_ELEMENTS = 4096
"""Of all rows together, which stay in the nearest cache while the columns go by."""
_PREFETCH_DISTANCE = 2048
"""Codes of a byte from those that are read to those that are asked for."""
_NOT_UNROLLED = "loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>"
"""The accumulators fill the registers; unrolling would spill."""


def write_dots(parts: SkinnyParts) -> None:
    """Unroll and jam over columns, from distant parts of the operand.

    Several memory streams give more bandwidth, and more accumulators more parallelism.
    """
    text = parts.text
    count = _columns_at_once(parts)
    run = text.div("%columns", count)
    step = dots_depth(parts.rows, parts.blocks.scale)
    with text.loop(text.index(0), "%depth", text.index(step)) as first:
        end = text.minimum(text.add(first, step), "%depth")
        with text.loop(text.index(0), run, text.index(1)) as column:
            columns = [text.add(column, text.mul(run, i)) for i in range(count)]
            _write_columns(parts, columns, first, end)
        if count > 1:
            with text.loop(text.mul(run, count), "%columns", text.index(1)) as column:
                _write_columns(parts, [column], first, end)


def _columns_at_once(parts: SkinnyParts) -> int:
    """The unroll-and-jam factor: smaller with more rows, and where decoding needs registers."""
    if parts.blocks.codes:
        is_light = parts.blocks.scale.by_bits or parts.target.registers >= _MANY_REGISTERS
        return 2 if parts.rows == 1 and is_light else 1
    return 4 if parts.rows <= 2 else 2


def dots_depth(rows: int, scale: RightScale) -> int:
    """Reduction steps per block; a block is done for all columns before the next.

    Of two codes in a byte more, so that as many bytes are read one after the other.
    """
    elements = 2 * _LEFT_ELEMENTS if scale.by_nibbles else _LEFT_ELEMENTS
    return elements >> (rows - 1).bit_length()


def _write_columns(parts: SkinnyParts, columns: list[str], first: str, end: str) -> None:
    """Accumulate the reduction steps [`first`, `end`) into the results of `columns`.

    A loop over blocks, then tail loops over vectors and over scalars.
    """
    text, blocks, lanes = parts.text, parts.blocks, parts.target.lanes
    nans, rows = blocks.nans, range(parts.rows)
    results = [(row, column) for row in rows for column in columns]
    split = max(1, min(blocks.pieces, _ACCUMULATORS // len(results)))
    starts = [text.zeros(lanes)] * (len(results) * split)
    types = [f"vector<{lanes}xf32>"] * len(starts)
    if nans is not None:
        starts.append(nans.start(text))
        types.append(nans.type)
    last = _last(parts, first, end, blocks.size)
    distance = 2 * _PREFETCH_DISTANCE if blocks.scale.by_nibbles else _PREFETCH_DISTANCE
    further, deeper = divmod(distance, dots_depth(parts.rows, blocks.scale))
    attributes = _NOT_UNROLLED if len(columns) > 1 else ""
    with text.fold(first, last, text.index(blocks.size), starts, types, attributes) as fold:
        depth, sums, folded = fold
        loaded = []
        for column in columns:
            if blocks.codes:
                ahead = text.add(column, further), text.add(depth, deeper)
                blocks.reader.prefetch(text, *ahead)
            pieces, seen = blocks.load(text, column, depth, sums[-1])
            loaded.append(pieces)
            if nans is not None:
                sums[-1] = seen
        for number in range(blocks.pieces):
            for i in range(len(columns)):
                start, right = loaded[i][number]
                for row in rows:
                    place = (row * len(columns) + i) * split + number % split
                    left = parts.left(row, text.add(depth, start), lanes)
                    sums[place] = parts.added(left, right, sums[place], lanes)
    totals = [_tree_sum(parts, folded[i * split : (i + 1) * split]) for i in range(len(results))]
    whole = _last(parts, first, end, lanes)
    totals = _tail(parts, columns, (last, whole), lanes, totals)
    ones = [_horizontal_sum(parts, each) for each in totals]
    ones = _tail(parts, columns, (whole, end), 1, ones)
    if blocks.scale.result != 1.0:
        ones = [multiplied(text, one, blocks.scale.result, 1) for one in ones]
    is_first = text.value(f"arith.cmpi eq, {first}, {text.index(0)} : index")
    for (row, column), one in zip(results, ones, strict=True):
        place, type_ = parts.result(row, column), "vector<1xf32>"
        total = text.value(f"arith.addf {parts.load_results(place, 1)}, {one} : {type_}")
        one = text.value(f"arith.select {is_first}, {one}, {total} : {type_}")
        parts.store_results(one, place, 1)
    if nans is not None:
        with text.when(nans.is_any(text, folded[-1])):
            for column in columns:
                _mark_nan(parts, column, (first, last))


def _mark_nan(parts: SkinnyParts, column: str, bounds: tuple[str, str]) -> None:
    """Store NaN to the results of `column` if one of its codes in `bounds` is NaN."""
    text, blocks, nans = parts.text, parts.blocks, parts.blocks.nans
    assert nans is not None
    start, step = [nans.start(text)], text.index(blocks.size)
    with text.fold(*bounds, step, start, [nans.type]) as (depth, carried, results):
        codes = blocks.reader.codes(text, column, depth, blocks.size)
        carried[0] = nans.with_codes(text, carried[0], codes)
    with text.when(nans.is_any(text, results[0])):
        for row in range(parts.rows):
            nan = text.constant("dense<0x7FC00000> : vector<1xf32>")
            parts.store_results(nan, parts.result(row, column), 1)


def _last(parts: SkinnyParts, first: str, end: str, size: int) -> str:
    """The end of the last whole block of `size` from `first`."""
    text = parts.text
    return text.add(first, text.rounded_down(text.sub(end, first), size))


def _tail(
    parts: SkinnyParts, columns: list[str], bounds: tuple[str, str], lanes: int, starts: list[str]
) -> list[str]:
    """The tail loop over `bounds`, in steps of `lanes`; `starts` are the loop-carried sums."""
    text, (low, high) = parts.text, bounds
    types = [f"vector<{lanes}xf32>"] * len(starts)
    with text.fold(low, high, text.index(lanes), starts, types) as (depth, sums, results):
        rights = [parts.blocks.element(text, each, depth, lanes) for each in columns]
        for row in range(parts.rows):
            left = parts.left(row, depth, lanes)
            for i, right in enumerate(rights, row * len(columns)):
                sums[i] = parts.added(left, right, sums[i], lanes)
    return results


def _tree_sum(parts: SkinnyParts, vectors: list[str]) -> str:
    """The sum of the accumulators, as a balanced tree in a fixed order."""
    vector = f"vector<{parts.target.lanes}xf32>"
    while len(vectors) > 1:
        half = len(vectors) // 2
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [parts.text.value(f"arith.addf {a}, {b} : {vector}") for a, b in pairs]
    return vectors[0]


def _horizontal_sum(parts: SkinnyParts, vector: str) -> str:
    """The horizontal reduction of a vector, by halves in a fixed order, to a vector<1xf32>."""
    text, size = parts.text, parts.target.lanes
    while size > 1:
        half = size // 2
        low, high = (sliced(text, vector, start, half, size, "f32") for start in (0, half))
        vector = text.value(f"arith.addf {low}, {high} : vector<{half}xf32>")
        size = half
    return vector
