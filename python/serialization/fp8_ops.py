"""What other dialects have in artifacts: `fp8` ops as composites or as what they stand for.

So has `chlo.ragged_dot`, whose composite is that of JAX.

Constants of `arith` are StableHLO's.
"""

from torch_mlir import ir

from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.fp8_loading import knows_fp8_dialect
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import (
    ArithConstantToStablehlo,
    arith_constants,
)
from mlir_fp8.lowering.frontend.ragged_dot_to_composite import RaggedDotToComposite
from mlir_fp8.passes.pass_manager import build_pass_manager


def with_composites(module: ir.Operation, name: str) -> ir.Operation:
    """A copy of `module` with composites in the place of the ops; itself where it has none.

    `name` is what errors call the module.
    """
    return _rewritten(_with_ragged_dots(module), "fp8-to-composite", name)


def _with_ragged_dots(module: ir.Operation) -> ir.Operation:
    if not any(op.name == RAGGED_DOT for op in operations(module)):
        return module
    copy = module.clone(ip=False).operation
    RaggedDotToComposite().run(copy)
    return copy


def with_decompositions(module: ir.Operation, name: str) -> ir.Operation:
    """As `with_composites`, with StableHLO alone in the place of the ops."""
    legalize = "fp8-legalize-to-stablehlo{chlo=false}"
    return _rewritten(_without_ragged_dots(module), legalize, name)


def _without_ragged_dots(module: ir.Operation) -> ir.Operation:
    copy = _with_ragged_dots(module)
    if copy is not module:
        build_pass_manager(["func.func(stablehlo-legalize-composite-to-call)"], copy.context).run(
            copy
        )
    return copy


def with_own_constants(module: ir.Operation) -> ir.Operation:
    """A copy of `module` with StableHLO's constants for those of `arith`; itself where none are."""
    if not arith_constants(module):
        return module
    copy = module.clone(ip=False).operation
    ArithConstantToStablehlo().run(copy)
    return copy


def _rewritten(module: ir.Operation, pipeline: str, name: str) -> ir.Operation:
    if not knows_fp8_dialect(module.context):
        return module
    if not any(op.name.startswith("fp8.") for op in operations(module)):
        return module
    copy = module.clone(ip=False).operation
    try:
        build_pass_manager([pipeline], copy.context).run(copy)
    except ir.MLIRError as error:
        raise mlir_error(error, name) from None
    return copy
