"""Collectives of StableHLO: their groups, and new ones."""

from collections.abc import Mapping

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import build

GATHER, EXCHANGE = "stablehlo.all_gather", "stablehlo.all_to_all"
PERMUTE, BROADCAST = "stablehlo.collective_permute", "stablehlo.collective_broadcast"
MOVEMENTS = (GATHER, EXCHANGE, PERMUTE, BROADCAST)
"""Those that move elements, and compute nothing."""
REDUCE, SCATTER = "stablehlo.all_reduce", "stablehlo.reduce_scatter"
COLLECTIVES = (*MOVEMENTS, REDUCE, SCATTER)


def replica_groups(op: ir.Operation) -> np.ndarray:
    """The groups of a collective, a row each; a group that is shorter ends in -1."""
    key = "source_target_pairs" if op.name == PERMUTE else "replica_groups"
    return np.asarray(ir.DenseIntElementsAttr(op.attributes[key]))


def group_attribute(groups: np.ndarray) -> ir.Attribute:
    values = np.ascontiguousarray(groups, np.int64)
    return ir.DenseIntElementsAttr.get(values, type=ir.IntegerType.get_signless(64))


def across_partitions(groups: np.ndarray) -> dict[str, ir.Attribute]:
    """The attributes of a collective among partitions of one program, by their global ids."""
    return {
        "replica_groups": group_attribute(groups),
        "channel_handle": ir.Attribute.parse("#stablehlo.channel_handle<handle = 1, type = 1>"),
        "use_global_device_ids": ir.UnitAttr.get(),
    }


def like(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes that say among whom the collective `op` is."""
    keys = ("replica_groups", "channel_handle", "use_global_device_ids", "source_target_pairs")
    return {key: op.attributes[key] for key in keys if key in op.attributes}


def all_reduce(
    x: ir.Value, groups: "np.ndarray | Mapping[str, ir.Attribute]", combine: str
) -> ir.Value:
    """`x` of all devices of a group combined by `stablehlo.combine`, in its own type."""
    among = across_partitions(groups) if isinstance(groups, np.ndarray) else groups
    return reducing("all_reduce", x, x.type, among, combine)


def reducing(
    name: str, x: ir.Value, result: ir.Type, attributes: Mapping[str, ir.Attribute], combine: str
) -> ir.Value:
    """A new `all_reduce` or `reduce_scatter` of `x`."""
    op = ir.Operation.create(
        f"stablehlo.{name}",
        results=[result],
        operands=[x],
        attributes=dict(attributes),
        regions=1,
    )
    element = ir.RankedTensorType(x.type).element_type
    scalar = ir.RankedTensorType.get([], element)
    block = op.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        value = build(combine, scalar, list(block.arguments))
        ir.Operation.create("stablehlo.return", operands=[value])
    return op.results[0]


def combines_by(op: ir.Operation) -> str:
    """The one op by which a reduction combines two numbers; empty where it is another program."""
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    if len(body) != 2 or list(body[0].operands) != list(block.arguments):
        return ""
    is_given = list(body[1].operands) == [body[0].results[0]]
    return body[0].name.removeprefix("stablehlo.") if is_given else ""
