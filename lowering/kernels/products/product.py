"""The function of one product: the choice of algorithm, and the loops over outer dimensions."""

import math
from dataclasses import dataclass, replace

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.amx_tile import SIDE
from mlir_fp8.lowering.kernels.products.blocking import blocking
from mlir_fp8.lowering.kernels.products.choices import choice_of
from mlir_fp8.lowering.kernels.products.choices_table import IN_PLACE_TILES, PACKED, Choice
from mlir_fp8.lowering.kernels.products.finish import Finish
from mlir_fp8.lowering.kernels.products.pack_fours import FOURS
from mlir_fp8.lowering.kernels.products.packed_form import packed_form
from mlir_fp8.lowering.kernels.products.panels import fits, panels_of
from mlir_fp8.lowering.kernels.products.product_blocks import write_blocks
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.product_skinny import columns_of_skinny, write_skinny
from mlir_fp8.lowering.kernels.products.product_skinny_bytes import write_skinny_bytes
from mlir_fp8.lowering.kernels.vector_code.epilogue import Epilogue
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

_DEPTH_UNIT = 32
"""Of numbers that are packed: a cache line of bf16, two of f32."""
_TILE_FORMS = ("bf16", "i8")
"""What AMX multiplies."""
_MANY_PRODUCTS = 8
"""Batch size from which threads take whole products of the batch."""


@dataclass(frozen=True)
class ProductFunction:
    """The function of a product; its parameters are `ProductParts.signature`."""

    name: str
    takes_result: bool
    """Whether the result buffer is a parameter, after the leaves of the operands."""
    largest: int
    """f32 elements in the buffer of each maximum."""
    in_f32: "ProductFunction | None" = None
    """That for operands of which bf16 would lose numbers."""


def product_function(
    product: Contraction,
    epilogue: Epilogue | None,
    target: KernelTarget,
    functions: KernelFunctions,
    *,
    threads: int,
) -> ProductFunction:
    """Emit the function of `product`, which is `oriented`, and the kernels that it calls.

    Its loops may be split among `threads`.
    """
    choice = choice_of(product, target)
    target = _suited(target, product, choice)
    outer = list(product.outer)
    count = math.prod(product.sizes[d] for d in outer)
    is_shared_whole = threads > 1 and count >= _MANY_PRODUCTS
    finish = None
    if epilogue is not None:
        step, is_complete = _columns(product, target, choice, 1 if is_shared_whole else threads)
        has_block = is_complete and not epilogue.keeps_result
        finish = Finish(epilogue, product, step, has_block)
    parts = ProductParts(product, target, choice, functions, threads, finish)
    if is_shared_whole:
        work = parts.work(parts.m, parts.n, parts.k)
        total = (parts.text.index(count), count)
        parts.shared("batch", total, work, {}, lambda: _write_range(parts, outer))
    else:
        _write_outer(parts, outer)
    name = functions.name_of("product", parts.text.function("NAME", parts.signature()))
    return ProductFunction(name, not parts.has_block, 0 if finish is None else finish.largest_count)


def _suited(target: KernelTarget, product: Contraction, choice: Choice) -> KernelTarget:
    """`target` with the tile that `product` takes, of AMX or of vector registers, and no deeper."""
    form = packed_form(product, target)
    if choice.kernel != PACKED:
        tiles = target.tiles and choice.kernel == IN_PLACE_TILES and form == "i8"
        return replace(target, tiles=tiles)
    depth = -(-product.sizes[product.k] // _DEPTH_UNIT) * _DEPTH_UNIT
    suited = replace(target, depth=min(depth, choice.depth or target.depth))
    if target.tiles and form in _TILE_FORMS:
        return replace(suited, rows=SIDE, vectors=SIDE // target.lanes)
    if choice.tile is not None and form not in FOURS:
        suited = replace(suited, rows=choice.tile[0], vectors=choice.tile[1])
    if form not in FOURS and panels_of(product) is not None:
        suited = replace(suited, rows=min(suited.rows, product.sizes[product.m]))
    return replace(suited, tiles=False)


def _columns(
    product: Contraction, target: KernelTarget, choice: Choice, threads: int
) -> tuple[int, bool]:
    """Columns of the blocks of results that are finished at once; whether each is at one time."""
    if choice.kernel != PACKED:
        return columns_of_skinny(product, is_parallel=threads > 1), True
    sizes = blocking(product, target, choice, threads)
    return sizes.columns, sizes.depth >= product.sizes[product.k]


def in_panels(product: Contraction, target: KernelTarget) -> Contraction | None:
    """`product` with its packed operand on the right, where its panels are those of its tile."""
    for each in (product, product.swapped()):
        if panels_of(each) is not None:
            choice = choice_of(each, target)
            if choice.kernel == PACKED and fits(each, _suited(target, each, choice)):
                return each
    return None


def oriented(product: Contraction, target: KernelTarget) -> Contraction:
    """With the sides so that the kernels suit: few rows, else a result contiguous along n."""
    m, n = product.sizes[product.m], product.sizes[product.n]
    if n < m and choice_of(product.swapped(), target).kernel != PACKED:
        return product.swapped()
    if choice_of(product, target).kernel != PACKED:
        return product
    strides = product.out.strides
    swaps = strides[product.m] == 1 and strides[product.n] != 1
    return product.swapped() if swaps else product


def _write_range(parts: ProductParts, outer: list[int]) -> None:
    """The products [%begin, %end) of the batch, each on one thread."""
    text, offsets = parts.text, parts.offsets
    parts.threads = 1
    with text.loop("%begin", "%end", text.index(1)) as number:
        for dimension in reversed(outer):
            size = parts.product.sizes[dimension]
            _move(parts, dimension, text.rem(number, size))
            number = text.div(number, size)
        _write_product(parts)
    parts.offsets = offsets


def _write_outer(parts: ProductParts, outer: list[int]) -> None:
    if not outer:
        _write_product(parts)
        return
    text, offsets = parts.text, parts.offsets
    first, *rest = outer
    with text.loop(text.index(0), text.index(parts.product.sizes[first]), text.index(1)) as index:
        _move(parts, first, index)
        _write_outer(parts, rest)
    parts.offsets = offsets


def _move(parts: ProductParts, dimension: int, index: str) -> None:
    """Add `index` along an outer dimension to the offsets."""
    text = parts.text
    parts.offsets = [
        text.add(offset, text.mul(index, strides[dimension])) if strides[dimension] else offset
        for offset, strides in zip(parts.offsets, parts.strides, strict=True)
    ]


def _write_product(parts: ProductParts) -> None:
    if parts.choice.kernel != PACKED:
        (write_skinny_bytes if parts.product.is_integer else write_skinny)(parts)
    else:
        write_blocks(parts)
