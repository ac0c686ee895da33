"""What became of each weight, and how many bytes that saves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.weights.code_formats import code_bits
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, scale_shape
from mlir_fp8.lowering.fp8.weights.scale_rules import F32, NVFP4, scale_element


@dataclass(frozen=True)
class WeightDecision:
    """A weight: its wide type as text, its format, the shape and the blocks of its scale.

    `bytes_before` are those of the wide tensor, `bytes_after` those of codes and scales. `left`
    says why it was left wide, "" for one that is quantized. `smoothed` says whether activations
    are divided by factors that the weight is multiplied by, or why not; "" where none are asked.
    """

    name: str
    location: ir.Location
    signature: str
    bytes_before: int
    bytes_after: int
    format: str = ""
    scale_shape: tuple[int, ...] = ()
    left: str = ""
    smoothed: str = ""

    def __str__(self) -> str:
        if self.left:
            return f"weight '{self.name}' ({self.signature}) stays wide: it {self.left}"
        shape = "x".join(map(str, self.scale_shape)) or "one"
        sizes = f"{self.bytes_before} bytes become {self.bytes_after}"
        made = f"becomes {self.format}, {shape} scale, {sizes}"
        return ", ".join(
            [f"weight '{self.name}' ({self.signature}) {made}", *filter(None, [self.smoothed])]
        )


def quantized_weight(
    name: str,
    type_: ir.RankedTensorType,
    location: ir.Location,
    format_: str,
    blocks: Blocks,
    rule: str = F32,
    apart: Sequence[int] = (),
) -> WeightDecision:
    shape = scale_shape(type_.shape, blocks)
    codes = math.prod(type_.shape) * code_bits(format_) // 8
    scales = math.prod(shape) * FORMATS[scale_element(rule)].storage_bits // 8
    numbers = math.prod(type_.shape[dim] for dim in apart)
    after = codes + scales + (4 * numbers if rule == NVFP4 else 0)
    facts = (name, location, str(type_), byte_count(type_), after)
    return WeightDecision(*facts, format_, tuple(shape))


def wide_weight(
    name: str, type_: ir.RankedTensorType, location: ir.Location, reason: str
) -> WeightDecision:
    size = byte_count(type_)
    return WeightDecision(name, location, str(type_), size, size, left=reason)


def byte_count(type_: ir.RankedTensorType) -> int:
    """The bytes of a tensor of static shape; 0 of any other."""
    if not type_.has_static_shape:
        return 0
    element = str(type_.element_type)
    if element in FORMATS:
        return math.prod(type_.shape) * FORMATS[element].storage_bits // 8
    width = ir.IntegerType(type_.element_type).width if element[-1].isdigit() else 64
    return math.prod(type_.shape) * max(width // 8, 1)


def total_bytes(weights: Sequence[WeightDecision]) -> str:
    """How many bytes all take, before and after."""
    before = sum(each.bytes_before for each in weights)
    after = sum(each.bytes_after for each in weights)
    return f"weights: {before} bytes become {after}, {before / max(after, 1):.2f} times fewer"
