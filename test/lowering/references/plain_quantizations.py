"""Modules whose calls of the kernel that quantizes and transposes are plain ops again."""

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.ops.scaling import convert, largest
from mlir_fp8.lowering.gpu.xla.product_dims import permuted
from mlir_fp8.lowering.rewriting.stablehlo import build


def parsed(text: str) -> ir.Module:
    """With the fp8 dialect."""
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(text, context)


def with_plain_ops(module: ir.Module) -> None:
    """`module` with a quantization, a transpose and a reduction in the place of its one kernel."""
    (call,) = operations(module.operation, "stablehlo.custom_call")
    x, scale, *zero = call.operands
    types = [ir.RankedTensorType(each.type) for each in call.results]
    turned = types[-1 - len(zero)]
    with ir.InsertionPoint(call), call.location:
        wide = convert(x, ir.F32Type.get())
        type_ = ir.RankedTensorType.get(ir.RankedTensorType(x.type).shape, turned.element_type)
        codes = ir.Operation.create(
            "fp8.quantize", [type_], [wide, scale], {"saturate": ir.UnitAttr.get()}
        ).results[0]
        transposed = permuted(codes, [type_.rank - 1, *range(type_.rank - 1)])
        made = [codes] * (len(types) - 1 - len(zero)) + [transposed]
        made += [largest(build("abs", wide.type, [wide]), 0.0)] * len(zero)
    for result, value in zip(call.results, made, strict=True):
        result.replace_all_uses_with(value)
    call.erase()
