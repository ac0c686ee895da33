"""`convert-f8-casts-to-nvvm`: casts of f8 in GPU kernels by the hardware's conversions."""

import dataclasses

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.gpu.casts.narrowing import narrowed
from mlir_fp8.lowering.gpu.casts.widening import widened

_FORMATS = ("f8E4M3FN", "f8E5M2")


@dataclasses.dataclass(frozen=True)
class ConvertF8CastsToNvvm(ModulePass):
    """Rewrite `arith.truncf` and `arith.extf` of f8E4M3FN and f8E5M2 inside `gpu.func`.

    Of scalars and of vectors of one dimension, between f8 and f32, f16 or bf16. The numbers are
    those of `convert-small-floats-to-int`, to the bit, for which everything else is left: infinity
    or NaN for what is beyond the largest value, or with the option `saturate` that; the sign of
    NaN. Needs sm_89 or newer.
    """

    saturate: bool = False

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in operations(module, "gpu.func"):
                for op in operations(function, "arith.truncf", "arith.extf"):
                    self._convert(op)

    def _convert(self, op: ir.Operation) -> None:
        if "roundingmode" in op.attributes:
            mode = arith.RoundingMode(ir.IntegerAttr(op.attributes["roundingmode"]).value)
            if mode is not arith.RoundingMode.to_nearest_even:
                return  # convert-small-floats-to-int refuses it
        x, result = op.operands[0], op.results[0].type
        if not (_is_flat(x.type) and _is_flat(result)):
            return
        source, target = _element(x.type), _element(result)
        with ir.InsertionPoint(op), op.location:
            if (
                op.name == "arith.truncf"
                and target in _FORMATS
                and source in ("f32", "f16", "bf16")
            ):
                replace_op(op, [narrowed(x, result, target, saturate=self.saturate)])
            elif (
                op.name == "arith.extf" and source in _FORMATS and target in ("f32", "f16", "bf16")
            ):
                replace_op(op, [widened(x, result, source)])


def _is_flat(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.VectorType):
        return isinstance(type_, ir.FloatType)
    return len(type_.shape) == 1 and not type_.scalable


def _element(type_: ir.Type) -> str:
    return str(type_.element_type if isinstance(type_, ir.VectorType) else type_)
