"""Ops that travel as composites."""

from collections.abc import Mapping

from torch_mlir import ir

from mlir_fp8.base.operations import replace_op


def replace_by_composite(
    op: ir.Operation,
    name: str,
    entries: ir.DictAttr,
    decomposition: str,
    version: int,
    others: Mapping[str, ir.Attribute],
) -> None:
    """Put a `stablehlo.composite` called `name` in the place of `op`, of its operands and results.

    `entries` are its composite attributes, `decomposition` names the function that computes it, and
    `others` go along as attributes of the op.
    """
    with op.location:
        attributes = {
            **others,
            "name": ir.StringAttr.get(name),
            "composite_attributes": entries,
            "decomposition": ir.FlatSymbolRefAttr.get(decomposition),
            "version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), version),
        }
    with ir.InsertionPoint(op), op.location:
        composite = ir.Operation.create(
            "stablehlo.composite",
            results=[result.type for result in op.results],
            operands=list(op.operands),
            attributes=attributes,
        )
    replace_op(op, composite.results)
