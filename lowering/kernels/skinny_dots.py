"""Few rows times columns that are contiguous along the sum: a dot product for each result."""

from mlir_fp8.lowering.kernels.code_blocks import sliced
from mlir_fp8.lowering.kernels.expression import multiplied
from mlir_fp8.lowering.kernels.skinny_parts import SkinnyParts

_SUMS = 8
"""Vectors that products are added up in: enough to keep the units for them busy."""


_LEFT_NUMBERS = 4096
"""Of all rows together, which stay in the nearest cache while the columns go by."""
_AHEAD = 2048
"""Codes from those that are read to those that are asked for."""


def write_dots(parts: SkinnyParts) -> None:
    """Codes column after column, as they lie in memory; wider numbers some columns at once.

    What takes most of memory's speed is read fastest from several places, what is decoded is not.
    """
    text = parts.text
    count = 1 if parts.blocks.codes else 4 if parts.rows <= 2 else 2
    last = text.rounded_down("%columns", count)
    step = _depth_step(parts)
    with text.loop(text.index(0), "%depth", text.index(step)) as first:
        end = text.minimum(text.add(first, step), "%depth")
        with text.loop(text.index(0), last, text.index(count)) as column:
            _write_columns(parts, [text.add(column, i) for i in range(count)], first, end)
        if count > 1:
            with text.loop(last, "%columns", text.index(1)) as column:
                _write_columns(parts, [column], first, end)


def _depth_step(parts: SkinnyParts) -> int:
    """How much of the sum is done for all columns before the rest is."""
    return _LEFT_NUMBERS >> (parts.rows - 1).bit_length()


def _write_columns(parts: SkinnyParts, columns: list[str], first: str, end: str) -> None:
    """Add to the results of `columns` what is from `first` to `end` of the sum.

    By blocks, by vectors, then one by one.
    """
    text, blocks, lanes = parts.text, parts.blocks, parts.target.lanes
    nans, rows = blocks.nans, range(parts.rows)
    results = [(row, column) for row in rows for column in columns]
    split = max(1, min(blocks.pieces, _SUMS // len(results)))
    starts = [text.zeros(lanes)] * (len(results) * split)
    types = [f"vector<{lanes}xf32>"] * len(starts)
    if nans is not None:
        starts.append(nans.start(text))
        types.append(nans.type)
    last = _last(parts, first, end, blocks.size)
    with text.fold(first, last, text.index(blocks.size), starts, types) as fold:
        depth, sums, folded = fold
        for i, column in enumerate(columns):
            if blocks.codes:
                ahead = text.add(column, max(1, _AHEAD // _depth_step(parts)))
                blocks.reader.prefetch(text, ahead, depth)
            pieces, seen = blocks.load(text, column, depth, sums[-1])
            if nans is not None:
                sums[-1] = seen
            for number, (start, right) in enumerate(pieces):
                for row in rows:
                    place = (row * len(columns) + i) * split + number % split
                    left = parts.left(row, text.add(depth, start), lanes)
                    sums[place] = parts.added(left, right, sums[place], lanes)
    totals = [_sum_of(parts, folded[i * split : (i + 1) * split]) for i in range(len(results))]
    whole = _last(parts, first, end, lanes)
    totals = _rest(parts, columns, (last, whole), lanes, totals)
    ones = [_across(parts, each) for each in totals]
    ones = _rest(parts, columns, (whole, end), 1, ones)
    if nans is not None:
        is_nan = nans.is_any(text, folded[-1])
        nan = text.constant("dense<0x7FC00000> : vector<1xf32>")
        ones = [text.value(f"arith.select {is_nan}, {nan}, {one} : vector<1xf32>") for one in ones]
    if blocks.scale.result != 1.0:
        ones = [multiplied(text, one, blocks.scale.result, 1) for one in ones]
    is_first = text.value(f"arith.cmpi eq, {first}, {text.index(0)} : index")
    for (row, column), one in zip(results, ones, strict=True):
        place, type_ = parts.result(row, column), "vector<1xf32>"
        total = text.value(f"arith.addf {parts.load_results(place, 1)}, {one} : {type_}")
        one = text.value(f"arith.select {is_first}, {one}, {total} : {type_}")
        parts.store_results(one, place, 1)


def _last(parts: SkinnyParts, first: str, end: str, size: int) -> str:
    """Where whole blocks of `size` from `first` on come to an end."""
    text = parts.text
    return text.add(first, text.rounded_down(text.sub(end, first), size))


def _rest(
    parts: SkinnyParts, columns: list[str], bounds: tuple[str, str], lanes: int, starts: list[str]
) -> list[str]:
    """`starts`, one of each result, with the products of a part of the sum added."""
    text, (low, high) = parts.text, bounds
    types = [f"vector<{lanes}xf32>"] * len(starts)
    with text.fold(low, high, text.index(lanes), starts, types) as (depth, sums, results):
        rights = [parts.blocks.element(text, each, depth, lanes) for each in columns]
        for row in range(parts.rows):
            left = parts.left(row, depth, lanes)
            for i, right in enumerate(rights, row * len(columns)):
                sums[i] = parts.added(left, right, sums[i], lanes)
    return results


def _sum_of(parts: SkinnyParts, vectors: list[str]) -> str:
    """By halves, so that the order is one that registers add in."""
    vector = f"vector<{parts.target.lanes}xf32>"
    while len(vectors) > 1:
        half = len(vectors) // 2
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [parts.text.value(f"arith.addf {a}, {b} : {vector}") for a, b in pairs]
    return vectors[0]


def _across(parts: SkinnyParts, vector: str) -> str:
    """The sum of the elements of a vector, half by half, as a vector of one."""
    text, size = parts.text, parts.target.lanes
    while size > 1:
        half = size // 2
        low, high = (sliced(text, vector, start, half, size, "f32") for start in (0, half))
        vector = text.value(f"arith.addf {low}, {high} : vector<{half}xf32>")
        size = half
    return vector
