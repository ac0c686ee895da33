"""`stablehlo-legalize-manual-computations`: parts of tensors, where a program says them itself.

Around them every device computes the whole program on whole tensors. Where a manual computation
begins, a device takes its part; where it ends, it gets the parts of the others.
"""

import re
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.arrays.exchange import Exchange
from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import call_target, operations, producer, replace_op
from mlir_fp8.base.shardings import Gspmd, frontend_attributes, read_sharding
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.devices.element_bytes import element_bytes
from mlir_fp8.lowering.frontend.devices.shardings import Layout, hlo_layout, sdy_layout
from mlir_fp8.lowering.rewriting.exchange_calls import exchange_call
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_ENTRY = re.compile(r"(?:SPMDFullToShardShape|xla\.sdy\.GlobalToLocalShape)")
_EXIT = re.compile(r"(?:SPMDShardToFullShape|xla\.sdy\.LocalToGlobalShape)")


@dataclass(frozen=True)
class StablehloLegalizeManualComputations(ModulePass):
    """Replace the borders of manual computations by exchanges between devices.

    Those are `custom_call @xla.sdy.GlobalToLocalShape` and `LocalToGlobalShape`, as XLA writes
    `sdy.manual_computation` where that dialect is not known, and `@SPMDFullToShardShape` and
    `@SPMDShardToFullShape` of GSPMD. Parts have to be of equal size. Options: `replicas` and
    `partitions`; a mesh is of all partitions of one replica.
    """

    replicas: int = 1
    partitions: int = 1

    def run(self, module: ir.Operation) -> None:
        borders = [op for op in operations(module, "stablehlo.custom_call") if _is_border(op)]
        if not borders:
            return
        for op in borders:
            if self.replicas > 1:
                raise op_error(op, f"is of one replica: {self.replicas} cannot be simulated")
            layouts = _layouts(module, op)
            with op.location, ir.InsertionPoint(op):
                values = [
                    self._moved(op, operand, result, layout)
                    for operand, result, layout in zip(
                        op.operands, op.results, layouts, strict=True
                    )
                ]
            replace_op(op, values)

    def _moved(
        self, op: ir.Operation, operand: ir.Value, result: ir.Value, layout: Layout | None
    ) -> ir.Value:
        if not (has_static_shape(operand) and has_static_shape(result)):
            raise op_error(op, f"on {operand.type} needs a static shape: refine shapes first")
        takes, gives = tuple(operand.type.shape), tuple(result.type.shape)
        if layout is None:
            if takes != gives:
                raise op_error(op, "has a sharding that cannot be simulated: export with Shardy")
            return operand
        if len(layout.coordinates) != self.partitions:
            count = len(layout.coordinates)
            raise op_error(op, f"is among {count} devices, not {self.partitions}: simulate {count}")
        is_entry = _ENTRY.fullmatch(call_target(op)) is not None
        places = layout.places(*((takes, gives) if is_entry else (gives, takes)))
        if places is None:
            raise op_error(op, f"makes {result.type} of {operand.type}, not equal parts: pad them")
        kind = "shard" if is_entry else "unshard"
        size = element_bytes(op, operand.type.element_type)
        alone = tuple((device,) for device in range(self.partitions))
        groups = alone if is_entry else layout.groups
        exchange = Exchange(kind, call_target(op), takes, gives, size, groups, places=places)
        return exchange_call(exchange, result.type, operand)


def _is_border(op: ir.Operation) -> bool:
    target = call_target(op)
    return bool(_ENTRY.fullmatch(target) or _EXIT.fullmatch(target))


def _layouts(module: ir.Operation, op: ir.Operation) -> list[Layout | None]:
    target = call_target(op)
    if target.startswith("SPMD"):
        source = op
        if _ENTRY.fullmatch(target):
            source = producer(op.operands[0]) or op
        sharding = read_sharding(source.attributes)
        rank = len(op.operands[0].type.shape)
        return [hlo_layout(str(sharding), rank) if isinstance(sharding, Gspmd) else None]
    side = "in" if _ENTRY.fullmatch(target) else "out"
    texts = frontend_attributes(op.attributes)
    shardings = texts.get(f"xla.sdy.{side}_shardings", "")
    axes = texts.get("xla.sdy.manual_axes", "")
    return [sdy_layout(module, shardings, index, axes) for index in range(len(op.operands))]
