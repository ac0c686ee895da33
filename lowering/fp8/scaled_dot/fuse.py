"""Finds the scaled dots and convolutions of a module and fuses each into one op."""

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering import pass_class, pass_names
from mlir_fp8.lowering.fp8.block_scaled_dot_to_fp8 import BlockScaledDotToFp8
from mlir_fp8.lowering.fp8.scaled_dot.build import build_fused
from mlir_fp8.lowering.fp8.scaled_dot.decoded_scales import convert_decoded_scales
from mlir_fp8.lowering.fp8.scaled_dot.findings import Finding, Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.gathered_scales import repeat_gathered_scales
from mlir_fp8.lowering.fp8.scaled_dot.product import PRODUCTS, match_product
from mlir_fp8.lowering.fp8.scaled_dot.ragged import fuse_ragged, ragged_obstacle
from mlir_fp8.lowering.fp8.scaled_dot.walk import match_epilogue
from mlir_fp8.lowering.frontend.composite_to_ragged_dot import CompositeToRaggedDot
from mlir_fp8.lowering.frontend.stablehlo_expand_custom_calls import expand_products
from mlir_fp8.lowering.rewriting.inlining import inline_calls

_COMPOSITES = "composite-to-fp8"


def fuse(module: ir.Operation, *, assume_finite_scales: bool = False) -> list[Finding]:
    """Fuse what can be, in place, and say of each dot and convolution what became of it.

    Calls of private functions are inlined first, and composites that stand for ops of the `fp8`
    dialect become these. The results of the module are the same to the bit, but for the payload and
    sign of NaNs. Findings are in the order of the module's text; ops that are fused already have
    none. `assume_finite_scales` lets zeros that are added to scaled data be added before.
    """
    load_fp8_dialect(module.context)
    with module.context:
        if _COMPOSITES in pass_names():
            pass_class(_COMPOSITES)().run(module)
        expand_products(module)
        BlockScaledDotToFp8().run(module)
        CompositeToRaggedDot().run(module)
        # What inlining would canonicalize on its way is left as the program has it.
        inline_calls(module)
        repeat_gathered_scales(module)
        convert_decoded_scales(module)
        products = [op for op in operations(module) if op.name in PRODUCTS]
        return [_fuse_one(op, assume_finite_scales) for op in products]


def _fuse_one(op: ir.Operation, assume_finite: bool) -> Finding:
    name, location = op.name.partition(".")[2], op.location
    result = str(op.results[0].type)
    signature = ", ".join(str(operand.type) for operand in op.operands)
    product = match_product(op, assume_finite=assume_finite)
    if isinstance(product, list):
        return Finding(name, location, result, None, tuple(product), signature)
    if op.name == RAGGED_DOT:
        obstacle = ragged_obstacle(op, product.lhs, product.rhs)
        if obstacle is not None:
            return Finding(name, location, result, None, (obstacle,), signature)
        return Finding(name, location, result, fuse_ragged(product), (), signature)
    epilogue, obstacles = match_epilogue(product)
    fused = build_fused(product, epilogue)
    if isinstance(fused, Obstacle):
        return Finding(name, location, result, None, (fused,), signature)
    return Finding(name, location, result, fused, tuple(obstacles), signature)
