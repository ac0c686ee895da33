"""The end of a block's work: weighed sums over the sums of e, stored."""

import math
from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.attention.schedule import Work, as_index
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
from mlir_fp8.lowering.gpu.kernels.attention.softmax import NAN, ROOM, Softmax, half_of
from mlir_fp8.lowering.gpu.kernels.functions import log2
from mlir_fp8.lowering.gpu.kernels.product.rows import Rows, chunk_columns, store_row
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText


def store_results(
    text: GpuText,
    shape: Attention,
    memories: dict[str, tuple[str, str]],
    now: Work,
    place: tuple[str, str],
    values: Sequence[str],
    totals: Sequence[str],
) -> None:
    """`place` is this thread's first row, and its lane, i32."""
    steps = Epilogue(result=shape.result)
    matrix = Product(
        shape.all_heads * shape.rows, shape.width, 16, epilogue=steps, tile_n=shape.tile_width
    )
    first, lane = as_index(text, place[0]), place[1]
    head = as_index(text, now.head)
    name, type_ = memories["out_factor"]
    factor = text.value(f"memref.load {name}[{head}] : {type_}")
    start = text.mul(head, shape.rows)
    each = chunk_columns(shape.result)
    for half, total in enumerate(totals):
        row = text.add(first, 8 * half)
        inside = None if shape.rows % shape.tile_rows == 0 else text.below(row, shape.rows)
        by = text.value(f"arith.divf {factor}, {_divisor(text, shape, total)} : f32")
        numbers = [text.value(f"arith.mulf {value}, {by} : f32") for value in half_of(values, half)]
        for column in range(0, shape.tile_width, each):
            to = Rows(matrix, memories["o"], text.add(start, row), inside, text.index(column), lane)
            part = numbers[column // 4 : (column + each) // 4]
            store_row(text, to, steps, part, None, None)


def store_lse(
    text: GpuText,
    shape: Attention,
    memory: tuple[str, str],
    now: Work,
    place: tuple[str, str],
    softmax: Softmax,
    totals: Sequence[str],
    factor: str,
) -> None:
    """log(sum(exp(x))) of each row, by the first of its four lanes; `factor` has log2(e) in it.

    Of a row without keys it is NaN, or 0 where its result is.
    """
    name, type_ = memory
    start = text.mul(as_index(text, now.head), shape.rows)
    first = as_index(text, place[0])
    lane = text.word_op("andi", place[1], 3)
    none = text.f32(0.0) if shape.blind == "zero" else text.constant(NAN)
    for half, (largest, total) in enumerate(zip(softmax.largest, totals, strict=True)):
        row = text.add(first, 8 * half)
        scaled = text.value(f"arith.mulf {largest}, {factor} : f32")
        size = text.value(f"arith.subf {log2(text, total)}, {text.f32(ROOM)} : f32")
        found = text.value(f"arith.addf {scaled}, {size} : f32")
        found = text.value(f"arith.mulf {found}, {text.f32(math.log(2))} : f32")
        is_none = text.value(f"arith.cmpf oeq, {total}, {text.f32(0.0)} : f32")
        found = text.value(f"arith.select {is_none}, {none}, {found} : f32")
        mine = text.value(f"arith.cmpi eq, {lane}, {text.i32(0)} : i32")
        with text.when(text.both(mine, text.below(row, shape.rows))):
            text.line(f"memref.store {found}, {name}[{text.add(start, row)}] : {type_}")


def _divisor(text: GpuText, shape: Attention, total: str) -> str:
    if shape.blind != "zero":
        return total
    is_none = text.value(f"arith.cmpf oeq, {total}, {text.f32(0.0)} : f32")
    return text.value(f"arith.select {is_none}, {text.f32(1.0)}, {total} : f32")
