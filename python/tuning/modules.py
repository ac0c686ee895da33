"""Modules of what is timed: as XLA takes it best, and with a kernel in a given form."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.few_rows import (
    DOT,
    SCALED_DOT,
    FewRowsProduct,
    few_rows_of,
    kind_of,
    put_few_rows,
)
from mlir_fp8.lowering.gpu.xla.product_calls import put_product
from mlir_fp8.lowering.gpu.xla.products import (
    ScaledProduct,
    kind_of_scaled,
    product_of,
)
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of
from mlir_fp8.lowering.gpu.xla.rows import RowQuantizer, put_rows_kernel, row_quantizer_of
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tuning.candidates import few_rows_candidates, product_candidates
from mlir_fp8.tuning.works import Work

CHIP = "sm_90a"
_XLA = (
    "fp8-canonicalize-for-xla-gpu{allow-reassociation=true allow-excess-precision=true}",
    "fp8-legalize-to-stablehlo",
)


def parsed(text: str) -> ir.Module:
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(text, context)


def by_xla(work: Work) -> ir.Module:
    """The module in the form that XLA takes best, without kernels."""
    module = parsed(work.text())
    if not work.is_weight_only:
        run_pipeline(module, list(_XLA))
    return module


def kind_of_work(work: Work, kernel: str) -> str:
    """As the table spells it; raises `Fp8Error` where no kernel computes it."""
    module = parsed(work.text())
    found = _found(_dots(module)[0], kernel)
    return kind_of_scaled(found) if isinstance(found, ScaledProduct) else kind_of(found)


def candidates(work: Work, kernel: str) -> list[tuple[str, Product | FewRows]]:
    """Names and shapes of the forms of a kernel for `work`."""
    _, shape = chosen_form(work, kernel)
    if isinstance(shape, FewRows):
        return list(few_rows_candidates(shape))
    return list(product_candidates(shape))


def chosen_form(work: Work, kernel: str) -> tuple[str, Product | FewRows]:
    """What a kernel has where nothing was timed."""
    module = parsed(work.text())
    return "chosen", _found(_dots(module)[0], kernel).shape


def by_kernels(work: Work, kernel: str) -> Iterator[tuple[str, ir.Module]]:
    for name, shape in candidates(work, kernel):
        yield name, with_kernel(work, kernel, shape)


def with_kernel(work: Work, kernel: str, shape: Any) -> ir.Module:
    """Each product of `work` by the kernel in the form `shape`."""
    module = parsed(work.text())
    calls = KernelCalls(CHIP, module.context)
    with module.context:
        for op in _dots(module):
            found = dataclasses.replace(_found(op, kernel), shape=shape)
            if isinstance(found, FewRowsProduct):
                put_few_rows(found, calls)
            else:
                put_product(found, calls)
    return module


def with_quantizers(module: ir.Module) -> ir.Module:
    """`module`, each `fp8.quantize` by its kernel."""
    calls = KernelCalls(CHIP, module.context)
    with module.context:
        for op in operations(module.operation, "fp8.quantize"):
            has_rows = ir.RankedTensorType(op.operands[1].type).rank
            found = row_quantizer_of(op) if has_rows else quantizer_of(op)
            if isinstance(found, str):
                raise Fp8Error(f"no kernel quantizes so: {found}")
            if isinstance(found, RowQuantizer):
                put_rows_kernel(found, calls)
            else:
                put_kernel(found, calls)
    return module


def _dots(module: ir.Module) -> list[ir.Operation]:
    return list(operations(module.operation, DOT, SCALED_DOT))


def _found(op: ir.Operation, kernel: str) -> ScaledProduct | FewRowsProduct:
    found = few_rows_of(op) if kernel == "few_rows" else product_of(op)
    if isinstance(found, str):
        raise Fp8Error(f"no kernel computes it: {found}")
    return found
