"""`stablehlo-added-pads-to-concatenate`: gradients of slices side by side in one tensor."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.operations import (
    defining_op,
    erase_with_producers,
    operations,
    producer,
    replace_op,
)
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import is_positive_zero
from mlir_fp8.lowering.rewriting.stablehlo import build

_TERMS = ("stablehlo.add", "stablehlo.pad")
_EDGES = ("edge_padding_low", "edge_padding_high", "interior_padding")


@dataclasses.dataclass(frozen=True)
class _Part:
    """What is padded with zeros along one dimension, from `start` on."""

    dim: int
    start: int
    value: ir.Value


@dataclasses.dataclass(frozen=True)
class StablehloAddedPadsToConcatenate(ModulePass):
    """Replace sums of tensors that zeros pad, each element of one alone, by a concatenation plus 0.

    JAX writes the gradient of what is sliced so: that of q, k and v, for one. XLA:GPU would read
    every term at every element. The 0 that is added keeps -0.0 what the sum makes of it, 0.0.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, "stablehlo.add"):
                parts = _parts(op)
                if parts is not None:
                    _replace(op, parts)


def _parts(add: ir.Operation) -> list[_Part] | None:
    """The terms of the whole sum in their order along a dimension, which they fill."""
    pads = _pads(add)
    found = [_part(each) for each in pads or []]
    parts = sorted((each for each in found if each is not None), key=lambda each: each.start)
    if not parts or len(parts) != len(found):
        return None
    end, dim = 0, parts[0].dim
    for each in parts:
        if each.dim != dim or each.start != end:
            return None
        end += ir.RankedTensorType(each.value.type).shape[dim]
    return parts if end == ir.RankedTensorType(add.results[0].type).shape[dim] else None


def _pads(add: ir.Operation) -> list[ir.Operation] | None:
    """The ops whose results are added up to that of `add`, which has no other terms."""
    found: list[ir.Operation] = []
    pending = [add]
    while pending:
        op = pending.pop()
        for operand in op.operands:
            inner = producer(operand)
            if inner is None or inner.name not in _TERMS or users(operand) != [op]:
                return None
            (found if inner.name == "stablehlo.pad" else pending).append(inner)
    return found


def _part(pad: ir.Operation) -> _Part | None:
    low, high, interior = (list(ir.DenseI64ArrayAttr(pad.attributes[each])) for each in _EDGES)
    dims = [dim for dim, edges in enumerate(zip(low, high, strict=True)) if any(edges)]
    if len(dims) != 1 or min(*low, *high) < 0 or any(interior):
        return None
    if (
        not is_positive_zero(pad.operands[1])
        or not ir.RankedTensorType(pad.results[0].type).has_static_shape
    ):
        return None
    return _Part(dims[0], low[dims[0]], pad.operands[0])


def _replace(add: ir.Operation, parts: list[_Part]) -> None:
    type_ = ir.RankedTensorType(add.results[0].type)
    with ir.InsertionPoint(add), add.location:
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), parts[0].dim)}
        joined = build("concatenate", type_, [each.value for each in parts], dimension)
        made = build("add", type_, [joined, number(type_, 0.0)])
    terms = [defining_op(each) for each in add.operands]
    replace_op(add, [made])
    for each in terms:
        erase_with_producers(each, lambda op: op.name in _TERMS)
