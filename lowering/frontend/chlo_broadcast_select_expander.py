"""`chlo-broadcast-select-expander`: a choice between values of several shapes."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, with_element


@dataclass(frozen=True)
class ChloBroadcastSelectExpander(ModulePass):
    """Replace `chlo.broadcast_select` of static shapes by broadcasts and `stablehlo.select`.

    chlo-legalize-to-stablehlo computes its shapes at run time, which nothing below lowers. As
    there, shapes are aligned at their last dimension.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "chlo.broadcast_select", inner_first=True):
            _expand(op)


def _expand(op: ir.Operation) -> None:
    for value in (*op.operands, *op.results):
        if not has_static_shape(value):
            raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")
    result = op.results[0].type
    with op.location, ir.InsertionPoint(op):
        operands = [_broadcast(operand, result) for operand in op.operands]
        value = build("select", result, operands)
    replace_op(op, [value])


def _broadcast(value: ir.Value, like: ir.Type) -> ir.Value:
    """`value` in the shape of `like`."""
    type_ = with_element(like, value.type.element_type)
    if value.type == type_:
        return value
    rank, own = (ir.ShapedType(each).rank for each in (type_, value.type))
    dims = ir.DenseI64ArrayAttr.get(list(range(rank - own, rank)))
    return build("broadcast_in_dim", type_, [value], {"broadcast_dimensions": dims})
