"""`arith-constant-to-stablehlo`: constants of tensors as StableHLO has them.

PyTorch's exporters leave `arith.constant`, and upstream's folders make it.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class ArithConstantToStablehlo(ModulePass):
    """Replace each `arith.constant` of a ranked tensor, but of `index`, by `stablehlo.constant`."""

    def run(self, module: ir.Operation) -> None:
        for op in arith_constants(module):
            with op.location, ir.InsertionPoint(op):
                constant = _constant(op)
            replace_op(op, constant.results)


def _constant(op: ir.Operation) -> ir.Operation:
    type_ = op.results[0].type
    if not isinstance(type_.element_type, ir.ComplexType):
        return ir.Operation.create(
            "stablehlo.constant", [type_], [], {"value": op.attributes["value"]}
        )
    # As text: the bindings have no class for dense complex numbers.
    text = str(op.get_asm(print_generic_op_form=True, use_local_scope=True))
    constant = ir.Operation.parse(text.replace('"arith.', '"stablehlo.', 1)).operation
    constant.location = op.location
    ir.InsertionPoint(op).insert(constant)
    return constant


def arith_constants(module: ir.Operation) -> list[ir.Operation]:
    """The constants that the pass replaces."""
    return [op for op in operations(module) if op.name == "arith.constant" and _is_tensor(op)]


def _is_tensor(op: ir.Operation) -> bool:
    type_ = op.results[0].type
    is_ranked = isinstance(type_, ir.RankedTensorType)
    return is_ranked and not isinstance(type_.element_type, ir.IndexType)
