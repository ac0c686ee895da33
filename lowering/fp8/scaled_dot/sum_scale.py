"""Scales that multiply the sum of a dot of f8 tensors, as those of its operands."""

from collections.abc import Sequence
from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.product import Product
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale
from mlir_fp8.lowering.fp8.scaled_dot.spread import Part, Spread
from mlir_fp8.lowering.fp8.scaled_dot.values import shape


def sum_scale(product: Product, scale: Scale, a: Scale | None) -> tuple[str, Scale] | None:
    """The operand, "a" or "b", that `scale`, spread over the result, belongs to, and its spread.

    The sum is multiplied by that of a, which `a` is if there is one already, and then by that of b.
    None where the scale changes along the free dimensions of both operands.
    """
    if scale.is_single:
        return ("a" if a is None else "b"), scale
    if not product.is_dot or scale.spread.compact_shape is None:
        return None
    for name, operand, sources in zip(
        "ab", list(product.op.operands)[:2], product.sources(), strict=True
    ):
        if set(scale.spread.carried()) <= {source for source in sources if source is not None}:
            if name == "a" and a is not None:
                continue
            return name, replace(scale, spread=_over(operand, sources, scale.spread))
    return None


def _over(operand: ir.Value, sources: Sequence[int | None], spread: Spread) -> Spread:
    dims = [
        (Part(None, size),) if source is None else spread.dims[source]
        for size, source in zip(shape(operand), sources, strict=True)
    ]
    return Spread(spread.make, tuple(dims))
