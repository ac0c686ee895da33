"""Few rows times an operand that is contiguous along n: its scaled rows are accumulated (axpy)."""

from mlir_fp8.lowering.kernels.products.skinny_parts import SkinnyParts
from mlir_fp8.lowering.kernels.vector_code.code_blocks import SeenNans
from mlir_fp8.lowering.kernels.vector_code.expression import multiplied
from mlir_fp8.lowering.kernels.vector_code.spread import gathered_order, reordered, spread_place

_ACCUMULATORS = 8
"""Vectors of results that are in registers at once."""
_PREFETCH_DISTANCE = 12
"""In rows."""


def write_added_rows(parts: SkinnyParts) -> None:
    """A loop over groups of rows of the right operand; each goes along all columns."""
    text, zero = parts.text, parts.text.index(0)
    with text.loop(zero, "%columns", text.index(1)) as column:
        for row in range(parts.rows):
            parts.store_results(text.zeros(1), parts.result(row, column), 1)
    count, nans = _rows_at_once(parts), parts.blocks.nans
    last = text.rounded_down("%depth", count)
    seen = [] if nans is None else [nans.start(text)]
    types = [] if nans is None else [nans.type]
    for low, high, step in ((zero, last, count), (last, "%depth", 1)):
        with text.fold(low, high, text.index(step), seen, types) as (depth, carried, results):
            carried[:] = _add_rows(parts, depth, step, carried)
        seen = results
    if nans is not None:
        with text.when(nans.is_any(text, seen[0])):
            _mark_nans(parts, nans)
    if parts.blocks.scale.by_bits:
        _finish(parts)


def _rows_at_once(parts: SkinnyParts) -> int:
    """Rows of the right operand per load and store of the results (the unroll-and-jam factor).

    More for one row of results, which that traffic bounds; not for codes, as rows of 4096 bytes
    map to the same cache sets.
    """
    return 8 if parts.rows == 1 and not parts.blocks.codes else 4


def _finish(parts: SkinnyParts) -> None:
    """Apply the deferred factor to the results, and undo `spread_order`."""
    text, blocks = parts.text, parts.blocks
    last = text.rounded_down("%columns", blocks.size)
    for low, high, size in (
        (text.index(0), last, blocks.size),
        (last, "%columns", 1),
    ):
        with text.loop(low, high, text.index(size)) as column:
            for row in range(parts.rows):
                place = parts.result(row, column)
                if size > 1:
                    total = reordered(text, "%c_view", place, gathered_order(size))
                else:
                    total = parts.load_results(place, 1)
                total = multiplied(text, total, blocks.scale.result, size)
                parts.store_results(total, place, size)


def _add_rows(parts: SkinnyParts, depth: str, count: int, seen: list[str]) -> list[str]:
    """Accumulate `count` scaled rows of the right operand into the rows of the result.

    Gives the loop-carried state of the NaN detector, if any.
    """
    text, blocks = parts.text, parts.blocks
    depths = [text.add(depth, i) for i in range(count)]
    factors = [[parts.left(row, each, 1) for each in depths] for row in range(parts.rows)]
    last = text.rounded_down("%columns", blocks.size)
    seen = _add_blocks(parts, depths, factors, last, seen)
    with text.loop(last, "%columns", text.index(1)) as column:
        rights = [blocks.element(text, each, column, 1) for each in depths]
        for row, some in enumerate(factors):
            place = parts.result(row, column)
            total = parts.load_results(place, 1)
            for left, right in zip(some, rights, strict=True):
                total = parts.added(left, right, total, 1)
            parts.store_results(total, place, 1)
    return seen


def _add_blocks(
    parts: SkinnyParts, depths: list[str], factors: list[list[str]], last: str, seen: list[str]
) -> list[str]:
    text, blocks, lanes = parts.text, parts.blocks, parts.target.lanes
    vector = f"vector<{lanes}xf32>"
    wide = [
        [text.value(f"vector.broadcast {each} : vector<1xf32> to {vector}") for each in some]
        for some in factors
    ]
    # Dead pieces of a block are eliminated, so the results of only some pieces stay in registers.
    together = max(1, min(blocks.pieces, _ACCUMULATORS // parts.rows))
    types = [] if blocks.nans is None else [blocks.nans.type]
    with text.fold(text.index(0), last, text.index(blocks.size), seen, types) as fold:
        column, carried, results = fold
        now = carried[0] if carried else ""
        for first in range(0, blocks.pieces, together):
            totals: dict[tuple[int, int], str] = {}
            for number, depth in enumerate(depths):
                pieces, after = blocks.load(text, depth, column, now)
                if first == 0:
                    if blocks.codes or parts.rows > 1:
                        row = text.add(depth, _PREFETCH_DISTANCE)
                        blocks.reader.prefetch(text, row, column)
                    now = after
                for start, right in pieces[first : first + together]:
                    for row in range(parts.rows):
                        total = totals.get((row, start))
                        if total is None:
                            place = parts.result(row, text.add(column, start))
                            total = parts.load_results(place, lanes)
                        left = wide[row][number]
                        totals[row, start] = parts.added(left, right, total, lanes)
            for (row, start), total in totals.items():
                place = parts.result(row, text.add(column, start))
                parts.store_results(total, place, lanes)
        if carried:
            carried[0] = now
    return results


def _mark_nans(parts: SkinnyParts, nans: SeenNans) -> None:
    """Store NaN to results whose column has a NaN code, which `load` decoded to a number."""
    text, blocks, zero = parts.text, parts.blocks, parts.text.index(0)
    last, step = text.rounded_down("%columns", blocks.size), text.index(blocks.size)
    with text.loop(zero, "%depth", text.index(1)) as depth:
        start = [nans.start(text)]
        with text.fold(zero, last, step, start, [nans.type]) as (column, carried, seen):
            codes = blocks.reader.codes(text, depth, column, blocks.size)
            carried[0] = nans.with_codes(text, carried[0], codes)
        with text.when(nans.is_any(text, seen[0])):
            _mark_nans_of_row(parts, depth, last)


def _mark_nans_of_row(parts: SkinnyParts, depth: str, last: str) -> None:
    text, blocks, ones = parts.text, parts.blocks, "vector<1xf32>"
    with text.loop(text.index(0), last, text.index(1)) as column:
        at = spread_place(text, column, blocks.size) if blocks.scale.by_bits else column
        each = blocks.element(text, depth, column, 1)
        is_nan = text.value(f"arith.cmpf uno, {each}, {each} : {ones}")
        for row in range(parts.rows):
            place = parts.result(row, at)
            total = parts.load_results(place, 1)
            total = text.value(f"arith.select {is_nan}, {each}, {total} : vector<1xi1>, {ones}")
            parts.store_results(total, place, 1)
