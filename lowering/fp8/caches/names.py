"""Quantized caches and their scales, in attributes that artifacts keep."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.names import (
    SCALE_BLOCK,
    QuantizedWeight,
    described,
    integers,
    own_names,
)

CACHE = "mlir_fp8.cache"
"""Of an argument: the name of its scale. Of a result: the name of the argument that it updates."""


@dataclass(frozen=True)
class QuantizedCache:
    """A cache of a quantized function: its place among arguments and results, and its scale's.

    `scale_result` is None where the scale is the caller's (one for each head).
    """

    name: str
    argument: int
    result: int
    scale_name: str
    scale_argument: int
    scale_result: int | None
    format: str
    blocks: Blocks
    shape: tuple[int, ...]
    scale_shape: tuple[int, ...]

    def __str__(self) -> str:
        scale = "x".join(map(str, self.scale_shape)) or "one"
        kind = "taken" if self.scale_result is None else "written beside its rows"
        shape = "x".join(map(str, self.shape))
        return f"cache '{self.name}' ({shape}) becomes {self.format}, {scale} scale, {kind}"

    @property
    def as_weight(self) -> QuantizedWeight:
        """The same as a tensor whose codes and scales are computed from wide numbers."""
        places = (self.argument, self.scale_name, self.scale_argument)
        return QuantizedWeight(self.name, *places, self.format, self.blocks, self.shape)

    @property
    def donated(self) -> dict[int | str, int | str]:
        """Arguments of codes and scales, and the results that update them."""
        pairs: dict[int | str, int | str] = {self.argument: self.result}
        return (
            pairs
            if self.scale_result is None
            else {**pairs, self.scale_argument: self.scale_result}
        )


def caches_of(function: ir.Operation) -> list[QuantizedCache]:
    """The caches that `function` takes as f8 with scales, by the attributes of its arguments."""
    block = function.regions[0].blocks[0]
    arguments = described(function, "arg_attrs", len(block.arguments))
    end = list(block.operations)[-1].operation
    results = [_text(each) for each in described(function, "res_attrs", len(end.operands))]
    names = own_names(function)
    found: list[QuantizedCache] = []
    for number, each in enumerate(arguments):
        if CACHE not in each:
            continue
        scale = _text(each)
        if names.count(scale) != 1 or results.count(names[number]) != 1 or SCALE_BLOCK not in each:
            reason = f'has {CACHE} = "{scale}", which is no cache of this compiler'
            raise op_error(function, f"{reason}: remove the attribute")
        at = names.index(scale)
        types = [ir.RankedTensorType(block.arguments[i].type) for i in (number, at)]
        found.append(
            QuantizedCache(
                names[number],
                number,
                results.index(names[number]),
                scale,
                at,
                results.index(scale) if scale in results else None,
                str(types[0].element_type),
                integers(each[SCALE_BLOCK]),
                tuple(types[0].shape),
                tuple(types[1].shape),
            )
        )
    return found


def _text(attributes: ir.DictAttr) -> str:
    if CACHE not in attributes or not isinstance(attributes[CACHE], ir.StringAttr):
        return ""
    return ir.StringAttr(attributes[CACHE]).value
