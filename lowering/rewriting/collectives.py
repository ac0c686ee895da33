"""Collectives of StableHLO: among whom they are, what they send, and new ones."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.rewriting.shardings import module_of
from mlir_fp8.lowering.rewriting.stablehlo import build

GATHER, EXCHANGE = "stablehlo.all_gather", "stablehlo.all_to_all"
PERMUTE, BROADCAST = "stablehlo.collective_permute", "stablehlo.collective_broadcast"
MOVEMENTS = (GATHER, EXCHANGE, PERMUTE, BROADCAST)
"""Those that move elements, and compute nothing."""
REDUCE, SCATTER = "stablehlo.all_reduce", "stablehlo.reduce_scatter"
COLLECTIVES = (*MOVEMENTS, REDUCE, SCATTER)
_HANDLE = re.compile(r"handle = (-?\d+)")
_CHANNEL = "#stablehlo.channel_handle<handle = 1, type = 1>"


@dataclass(frozen=True)
class Group:
    """Who takes part: a row for each group, of ids of replicas, or of devices (partitions)."""

    rows: np.ndarray
    is_of_replicas: bool = False

    @property
    def size(self) -> int:
        return int(self.rows.shape[1])

    @property
    def is_even(self) -> bool:
        """Whether all groups are of one size, and none is empty."""
        return self.rows.ndim == 2 and self.rows.size > 0 and bool((self.rows >= 0).all())

    def attributes(self, name: str) -> dict[str, ir.Attribute]:
        """Those by which a new op `name` is among this group."""
        count, size = self.rows.shape
        listed = f"dense<{self.rows.tolist()}> : tensor<{count}x{size}xi64>"
        known = {"replica_groups": ir.Attribute.parse(listed)}
        if self.is_of_replicas:
            return known
        known["channel_handle"] = ir.Attribute.parse(_CHANNEL)
        if name not in (EXCHANGE, BROADCAST):
            known["use_global_device_ids"] = ir.UnitAttr.get()
        return known


def pairs(op: ir.Operation) -> np.ndarray:
    """The sources and targets of a `collective_permute`, a row each."""
    found = np.asarray(ir.DenseIntElementsAttr(op.attributes["source_target_pairs"]))
    return found.reshape(-1, 2)


def group_of(op: ir.Operation) -> Group | None:
    """Among whom the collective `op` is; None where it is among replicas and partitions at once."""
    rows = np.asarray(ir.DenseIntElementsAttr(op.attributes["replica_groups"]))
    if not has_channel(op):
        return Group(rows, is_of_replicas=True)
    module = module_of(op)
    if _count(module, "mhlo.num_replicas") != 1:
        return None
    is_by_device = op.name in (EXCHANGE, BROADCAST) or "use_global_device_ids" in op.attributes
    if is_by_device:
        return Group(rows)
    partitions = _count(module, "mhlo.num_partitions")
    return Group(np.arange(partitions).reshape(1, -1))  # all partitions of the one replica


def has_channel(op: ir.Operation) -> bool:
    """Whether `op`, a collective, has a channel: then it is not among replicas alone."""
    if "channel_handle" not in op.attributes:
        return False
    found = _HANDLE.search(str(op.attributes["channel_handle"]))
    return found is not None and int(found[1]) > 0


def _count(module: ir.Operation, key: str) -> int:
    return ir.IntegerAttr(module.attributes[key]).value if key in module.attributes else 1


def sent_bytes(name: str, operand: int, size: int) -> int:
    """The bytes that each device of a group of `size` sends for an operand of `operand` bytes.

    By the ring algorithms, which send no less than any other: an all-gather sends the operand on
    size - 1 times, an all-reduce is a reduce-scatter and an all-gather.
    """
    match name:
        case "stablehlo.all_gather":
            return operand * (size - 1)
        case "stablehlo.all_to_all" | "stablehlo.reduce_scatter":
            return operand * (size - 1) // size
        case "stablehlo.all_reduce":
            return 2 * operand * (size - 1) // size
        case _:
            return operand


def all_reduce(x: ir.Value, group: Group, combine: str) -> ir.Value:
    """`x` of all devices of a group combined by `stablehlo.combine`, in its own type."""
    op = ir.Operation.create(
        REDUCE, results=[x.type], operands=[x], attributes=group.attributes(REDUCE), regions=1
    )
    element = ir.RankedTensorType(x.type).element_type
    scalar = ir.RankedTensorType.get([], element)
    block = op.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        value = build(combine, scalar, list(block.arguments))
        ir.Operation.create("stablehlo.return", operands=[value])
    return op.results[0]


def all_gather(x: ir.Value, dim: int, group: Group) -> ir.Value:
    """`x` of all devices of a group, one after the other along `dim`."""
    type_ = ir.RankedTensorType(x.type)
    shape = [size * group.size if at == dim else size for at, size in enumerate(type_.shape)]
    attributes = {"all_gather_dim": _integer(dim), **group.attributes(GATHER)}
    return build("all_gather", ir.RankedTensorType.get(shape, type_.element_type), [x], attributes)


def all_to_all(x: ir.Value, group: Group) -> ir.Value:
    """Part i of `x`, along dimension 0, of each device of a group goes to device i, in order."""
    attributes = {
        "split_dimension": _integer(0),
        "concat_dimension": _integer(0),
        "split_count": _integer(group.size),
        **group.attributes(EXCHANGE),
    }
    return build("all_to_all", x.type, [x], attributes)


def _integer(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def again(op: ir.Operation, x: ir.Value, result: Sequence[int]) -> ir.Value:
    """The movement that `op` is, of `x`, which becomes of shape `result`."""
    attributes: Mapping[str, ir.Attribute] = {
        key: op.attributes[key]
        for key in op.attributes
        if "." not in key or key.startswith("mhlo.")
    }
    type_ = ir.RankedTensorType.get(result, ir.RankedTensorType(x.type).element_type)
    return build(op.name.removeprefix("stablehlo."), type_, [x], attributes)


def combines_by(op: ir.Operation) -> str:
    """The one op by which a reduction combines two numbers; empty where it is another program."""
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    if len(body) != 2 or list(body[0].operands) != list(block.arguments):
        return ""
    is_given = list(body[1].operands) == [body[0].results[0]]
    return body[0].name.removeprefix("stablehlo.") if is_given else ""


def size_in_bytes(value: ir.Value) -> int:
    """The bytes of a tensor of a static shape; sub-byte elements are counted by their bits."""
    type_ = ir.RankedTensorType(value.type)
    element = type_.element_type
    parts = 2 if isinstance(element, ir.ComplexType) else 1
    part: Any = element.element_type if isinstance(element, ir.ComplexType) else element
    return -(-math.prod(type_.shape) * parts * part.width // 8)
