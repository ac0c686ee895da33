"""Quantizers of block formats: codes, the scales of blocks, and NVFP4's number of a tensor."""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.rounding_modes import RoundingMode
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe
from mlir_fp8.lowering.fp8.scaling.insertion import Places
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.scale_rules import scales_of_amax
from mlir_fp8.lowering.fp8.weights.scaled import Scaled, block_amax, codes_of, over_scale
from mlir_fp8.lowering.rewriting.collectives import Group
from mlir_fp8.lowering.rewriting.shardings import replicate, share
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat, with_element


def quantize_blocks(
    quantizer: Quantizer, recipe: BlockFormatRecipe, places: Places, stream: int
) -> None:
    """Quantize by scales that blocks of the tensor itself give.

    `stream` tells random numbers of one quantizer from those of others.
    """
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        blocks = quantizer.blocks or (0,) * ir.RankedTensorType(x.type).rank
        is_random = recipe.stochastic_gradients and quantizer.is_gradient
        scaled = block_scaled(
            *(x, blocks, quantizer.format, recipe.rule),
            stream if is_random else None,
            recipe.number_of([quantizer.name, *quantizer.aliases]),
            None if quantizer.groups is None else Group(quantizer.groups),
            quantizer.apart,
        )
        quantizer.quantized, quantizer.scale = scaled.codes, scaled.scale
        quantizer.factor = scaled.factor
        share(scaled.codes, x)
        share(scaled.scale, x)
        if scaled.factor is not None:
            replicate(scaled.factor, x)


def block_scaled(
    x: ir.Value,
    blocks: Blocks,
    format_: str,
    rule: str,
    stream: int | None = None,
    factor: np.float32 | None = None,
    group: Group | None = None,
    apart: Sequence[int] = (),
) -> Scaled:
    """`x`, f32, in `format_` by the scales of a rule; rounded at random with a `stream`.

    `factor`, `group` and `apart` are those of `scales_of_amax`.
    """
    made = scales_of_amax(block_amax(x, blocks), format_, rule, factor, group, apart)
    if stream is None:
        codes = codes_of(x, made.divisor(), blocks, format_)
    else:
        codes = fp8.convert(
            over_scale(x, made.divisor(), blocks),
            ir.Type.parse(format_),
            rounding=RoundingMode.STOCHASTIC,
            saturate=True,
            seed=stream,
            run_time_seed=_seed_of(x),
        )
    return Scaled(codes, made.scale, blocks, factor=made.factor)


def _seed_of(x: ir.Value) -> ir.Value:
    """The sum of the bits of `x`, f32, as tensor<ui64>: another number in each step."""
    unsigned = ir.IntegerType.get_unsigned(32)
    scalar = ir.RankedTensorType.get([], unsigned)
    bits = build("bitcast_convert", with_element(x.type, unsigned), [x])
    location = ir.Location.current
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[scalar],
        operands=[bits, splat(scalar, 0)],
        attributes={
            "dimensions": ir.DenseI64ArrayAttr.get(range(ir.RankedTensorType(x.type).rank))
        },
        regions=1,
    )
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        total = build("add", scalar, list(body.arguments))
        ir.Operation.create("stablehlo.return", operands=[total])
    return convert(op.results[0], ir.IntegerType.get_unsigned(64))
