"""`stablehlo-legalize-for-one-device`: collectives, tokens and barriers of a single process.

With one replica and one partition a collective is the identity; the order that a token imposes is
implied by sequential code.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.devices.async_ops import inline_async
from mlir_fp8.lowering.rewriting.stablehlo import build, splat


@dataclass(frozen=True)
class StablehloLegalizeForOneDevice(ModulePass):
    """Replace collectives, `partition_id`, `replica_id` and `optimization_barrier` by their values.

    What `async_start` starts is done where `async_done` asks for it. A collective among several
    processes, and what talks to a host, is refused.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, inner_first=True):
            reason = _REFUSED.get(op.name)
            if reason:
                raise op_error(op, reason)
            if op.name == "stablehlo.async_done":
                inline_async(op)
                continue
            rule = _RULES.get(op.name)
            if rule is None:
                continue
            with op.location, ir.InsertionPoint(op):
                values = rule(op)
            replace_op(op, values)


def _identity(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)


def _collective(op: ir.Operation) -> list[ir.Value]:
    """Among one process: each operand is its result."""
    groups = ir.DenseIntElementsAttr(op.attributes["replica_groups"])
    members = {int(member) for member in np.asarray(groups).flat}
    if members - {0, -1}:
        raise op_error(
            op,
            _SEVERAL.format("replica_groups [0]"),
        )
    for operand, result in zip(op.operands, op.results, strict=True):
        if operand.type != result.type:
            raise op_error(op, f"gives {result.type} of {operand.type}, which one process cannot")
    return list(op.operands)


def _permute(op: ir.Operation) -> list[ir.Value]:
    """What nobody sends to this process is zero."""
    pairs = ir.DenseIntElementsAttr(op.attributes["source_target_pairs"])
    numbers = list(np.asarray(pairs).flat)
    if any(numbers):
        raise op_error(op, _SEVERAL.format("pairs of 0"))
    if numbers:
        return list(op.operands)
    type_ = op.results[0].type
    element = str(ir.RankedTensorType(type_).element_type)
    number = "(0.0, 0.0)" if "complex" in element else "0.0" if "f" in element else "0"
    zero = ir.Attribute.parse(f"dense<{number}> : {type_}")
    return [build("constant", type_, [], {"value": zero})]


def _first(op: ir.Operation) -> list[ir.Value]:
    return [splat(op.results[0].type, 0)]


_SEVERAL = "is among several processes: simulate them (simulate_devices=), or use {}"
_HOST = "talks to a host that is not there: pass its values as arguments and results"
_REFUSED = {
    "stablehlo.infeed": _HOST,
    "stablehlo.outfeed": _HOST,
    "stablehlo.recv": _HOST,
    "stablehlo.send": _HOST,
}
_RULES: dict[str, Callable[[ir.Operation], list[ir.Value]]] = {
    "stablehlo.all_gather": _collective,
    "stablehlo.all_reduce": _collective,
    "stablehlo.all_to_all": _collective,
    "stablehlo.collective_broadcast": _collective,
    "stablehlo.collective_permute": _permute,
    "stablehlo.cross-replica-sum": _collective,
    "stablehlo.optimization_barrier": _identity,
    "stablehlo.partition_id": _first,
    "stablehlo.reduce_scatter": _collective,
    "stablehlo.replica_id": _first,
}
