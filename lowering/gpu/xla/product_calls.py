"""Calls of kernels of products in the place of dots, and of what they compute beside them."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.product_dims import reshaped
from mlir_fp8.lowering.gpu.xla.products import ScaledProduct, matrix, scales_and_bias
from mlir_fp8.lowering.gpu.xla.tails import erase_unread
from mlir_fp8.lowering.rewriting.stablehlo import convert


def put_product(found: ScaledProduct, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op, of its gate and of its quantization."""
    shape, steps = found.shape, found.shape.epilogue
    result = _result(found)
    place = found.parts.op if found.gate is None else found.gate.op
    if found.tail is not None:
        place = found.tail.quantizer.place
    f32 = ir.F32Type.get(place.context)
    with ir.InsertionPoint(place), found.parts.op.location:
        operands = _operands(found)
        scalar = ir.RankedTensorType.get([], f32)
        if steps.amax:
            operands.append(number(scalar, 0.0))
        d_type = ir.RankedTensorType.get([shape.a_rows, shape.n], result.element_type)
        *leading, last = result.shape
        turned = ir.RankedTensorType.get([last, *leading], result.element_type)
        i8 = ir.IntegerType.get_signless(8)
        results = [d_type, *[turned] * steps.transposed, *[scalar] * steps.amax]
        results.append(ir.RankedTensorType.get([shape.workspace], i8))
        aliases = {len(results) - 2: len(operands) - 1} if steps.amax else {}
        made = calls.build(product_kernel(shape), operands, results, aliases)
        d = reshaped(made[0], list(result.shape))
        transposed = made[1] if steps.transposed else None
        amax = made[-2] if steps.amax else None
        if found.tail is None and amax is not None:
            amax = convert(amax, found.parts.epilogue_type)
    _replace(found, d, transposed, amax)


def _result(found: ScaledProduct) -> ir.RankedTensorType:
    """The type of what the kernel is in the place of."""
    if found.tail is not None:
        return found.tail.result
    op = found.parts.op if found.gate is None else found.gate.op
    return ir.RankedTensorType(op.results[0].type)


def _operands(found: ScaledProduct) -> list[ir.Value]:
    parts, dims = found.parts, found.dims
    f32 = ir.F32Type.get(parts.op.context)
    operands = [
        matrix(x, dims.rows(side), dims.contracted[side])
        for side, x in enumerate((parts.a, parts.b))
    ]
    up = None if found.gate is None else found.gate.up
    if up is not None:
        operands.append(matrix(up.b, dims.free[1], dims.contracted[1]))
    operands += [] if found.blocks is None else found.blocks.built()
    operands += scales_and_bias(parts, dims)
    if up is not None and up.b_scale is not None:
        operands += scales_and_bias(dataclasses.replace(up, a_scale=None), dims)
    if found.tail is not None:
        operands.append(found.tail.scale)
    elif parts.d_scale is not None:
        operands.append(convert(convert(parts.d_scale, parts.epilogue_type), f32))
    return operands


def _replace(
    found: ScaledProduct, d: ir.Value, transposed: ir.Value | None, amax: ir.Value | None
) -> None:
    if found.tail is not None:
        found.tail.replace(d, transposed, amax)
        return
    op = found.parts.op if found.gate is None else found.gate.op
    if found.uses is not None and transposed is not None:
        found.uses.take(transposed)
    new = [d] if amax is None else [d, amax]
    for old, value in zip(op.results, new, strict=True):
        old.replace_all_uses_with(value)
    if found.gate is None:
        op.erase()
    else:
        erase_unread([op])
