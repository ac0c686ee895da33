"""The type that an epilogue computes in, where XLA:GPU would leave the epilogue outside."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.dialects.fp8 import Product


def with_fused_epilogue(parts: Product) -> Product:
    """`parts` with a sum and an epilogue in f32, unless the product gives the epilogue's own type.

    XLA fuses what follows the product itself, not what follows a convert of it.
    """
    f32 = ir.F32Type.get()
    scales_sum = parts.operand_type is None and (parts.a_scale or parts.b_scale) is not None
    is_products = not scales_sum and parts.operand_type in (None, parts.dot_type)
    if parts.dot_type == parts.epilogue_type and (is_products or parts.dot_type == f32):
        return parts
    return dataclasses.replace(parts, dot_type=f32, epilogue_type=f32)
