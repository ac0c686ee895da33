"""The function of one product: which way it is computed, and its outer dimensions."""

import math

from mlir_fp8.lowering.kernels.contraction import Contraction
from mlir_fp8.lowering.kernels.functions import KernelFunctions
from mlir_fp8.lowering.kernels.product_blocks import write_blocks
from mlir_fp8.lowering.kernels.product_panels import write_panels
from mlir_fp8.lowering.kernels.product_parts import ProductParts
from mlir_fp8.lowering.kernels.product_skinny import MAX_ROWS, suits_skinny, write_skinny
from mlir_fp8.lowering.kernels.target import KernelTarget

_FEW_ROWS = 96
"""Rows up to which the left operand is packed at once."""
_MANY_PRODUCTS = 8
"""Products along outer dimensions that threads share whole."""


def product_function(
    product: Contraction, target: KernelTarget, functions: KernelFunctions, *, is_parallel: bool
) -> str:
    """Make the function of `product`, which is `oriented`, and the kernels that it calls.

    It takes the leaves of both operands and the result. With `is_parallel` threads may share it.
    """
    parts = ProductParts(product, target, functions, is_parallel)
    outer = list(product.outer)
    count = math.prod(product.sizes[d] for d in outer)
    if is_parallel and count >= _MANY_PRODUCTS:
        work = parts.m * parts.n * parts.k
        total = (parts.text.index(count), count)
        parts.shared("batch", total, work, {}, lambda: _write_range(parts, outer))
    else:
        _write_outer(parts, outer)
    return functions.name_of("product", parts.text.function("NAME", parts.buffers()))


def oriented(product: Contraction) -> Contraction:
    """With the sides so that the kernels suit: few rows, else a result contiguous along n."""
    m, n = product.sizes[product.m], product.sizes[product.n]
    if n <= MAX_ROWS and n < m and suits_skinny(product.swapped()):
        return product.swapped()
    if m <= MAX_ROWS and suits_skinny(product):
        return product
    strides = product.out.strides
    swaps = strides[product.m] == 1 and strides[product.n] != 1
    return product.swapped() if swaps else product


def _write_range(parts: ProductParts, outer: list[int]) -> None:
    """The products from %begin to %end, each by one thread."""
    text, offsets = parts.text, parts.offsets
    parts.is_parallel = False
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
    """The offsets to what is at `index` of an outer dimension."""
    text = parts.text
    parts.offsets = [
        text.add(offset, text.mul(index, leaf.strides[dimension]))
        for offset, leaf in zip(parts.offsets, parts.leaves, strict=True)
    ]


def _write_product(parts: ProductParts) -> None:
    if parts.m <= MAX_ROWS and suits_skinny(parts.product):
        write_skinny(parts)
    elif parts.m <= _FEW_ROWS:
        write_panels(parts)
    else:
        write_blocks(parts)
