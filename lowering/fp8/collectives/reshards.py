"""Reshards of modules whose collectives XLA is still to write: FP8 on their sharded side."""

import math

from torch_mlir import ir

from mlir_fp8.base.shardings import Sharding, read_sharding
from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.collectives.wire import (
    as_bits,
    blocks_of,
    format_of,
    from_bits,
    on_the_wire,
    quantized,
    wide,
)
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.collectives import size_in_bytes
from mlir_fp8.lowering.rewriting.shardings import constrain, module_of, sharding_of


def resharded_in_fp8(op: ir.Operation, options: WireOptions) -> tuple[ir.Value, Scaled]:
    """The result of `op`, a constraint that gathers, and the codes that XLA moves for it.

    They are held on the sharded side by a constraint of their own, with the sharding of what was
    wide. Their amax is over all shards: XLA makes an all-reduce of it.
    """
    x = op.operands[0]
    before, after = sharding_of(x), read_sharding(op.attributes)
    assert before is not None and after is not None
    shape = list(ir.RankedTensorType(x.type).shape)
    blocks = blocks_of(shape, options.scales)
    if options.scales == "shard":
        blocks = _of_shards(shape, before, module_of(op))
    sent = on_the_wire(x) or quantized(x, blocks, format_of(op, options), options)
    codes = as_bits(sent.codes) if options.as_bits else sent.codes
    codes = constrain(constrain(codes, before), after)
    if options.as_bits:
        codes = from_bits(codes, ir.RankedTensorType(sent.codes.type).element_type)
    scale = sent.scale
    counts = list(ir.RankedTensorType(scale.type).shape)
    if counts:
        scale = constrain(scale, after.along([a == b for a, b in zip(counts, shape, strict=True)]))
    element = ir.RankedTensorType(x.type).element_type
    return wide(Scaled(codes, scale, sent.blocks), element), sent


def _of_shards(shape: list[int], sharding: Sharding, module: ir.Operation) -> Blocks:
    """One scale for each shard; one for all where shards are of several sizes."""
    tiles = sharding.tiles(module)
    if any(count < 1 or size % count for size, count in zip(shape, tiles, strict=True)):
        return (0,) * len(shape)
    return tuple(size // count for size, count in zip(shape, tiles, strict=True))


def reshard_bytes(op: ir.Operation, value: ir.Value) -> int:
    """The bytes of `value` that each device gets of others where it is resharded as `op` says."""
    before, after = sharding_of(op.operands[0]), read_sharding(op.attributes)
    assert before is not None and after is not None
    module, whole = module_of(op), size_in_bytes(value)
    had, has = (whole // max(1, math.prod(each.tiles(module))) for each in (before, after))
    return has - had if has > had else had
