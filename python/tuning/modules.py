"""Modules of what is timed: as XLA takes it best, and with a kernel in a given form."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.xla.attention import ATTENTION
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.few_rows import (
    DOT,
    SCALED_DOT,
    FewRowsProduct,
    few_rows_of,
    kind_of,
    put_few_rows,
)
from mlir_fp8.lowering.gpu.xla.grouped import (
    GroupedProduct,
    grouped_of,
    kind_of_grouped,
    put_grouped,
)
from mlir_fp8.lowering.gpu.xla.joined_products import gated_product_of
from mlir_fp8.lowering.gpu.xla.product_calls import put_product
from mlir_fp8.lowering.gpu.xla.products import (
    ScaledProduct,
    kind_of_scaled,
    product_of,
)
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of
from mlir_fp8.lowering.gpu.xla.ragged_operands import RAGGED
from mlir_fp8.lowering.gpu.xla.rows import RowQuantizer, put_rows_kernel, row_quantizer_of
from mlir_fp8.lowering.gpu.xla.times import GATE
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tuning.attention_works import AttentionWork
from mlir_fp8.tuning.candidates import (
    few_rows_candidates,
    grouped_candidates,
    product_candidates,
)
from mlir_fp8.tuning.pieces import Piece, place_of, text_of
from mlir_fp8.tuning.works import Work

CHIP = "sm_90a"
_XLA = (
    "fp8-canonicalize-for-xla-gpu{allow-reassociation=true allow-excess-precision=true}",
    "fp8-legalize-to-stablehlo",
)
_BLOCKS_BY_XLA = {
    "1x128": ["fp8-legalize-to-stablehlo"],
    "mx": ["fp8-to-block-scaled-dot", "fp8-legalize-to-stablehlo"],
}
"""XLA has a call for MX alone; else operands become bf16 before."""
Shape = Product | FewRows | Grouped
_Found = ScaledProduct | FewRowsProduct | GroupedProduct
_Finder = Callable[[ir.Operation], _Found | str | None]
_FINDERS: Mapping[str, tuple[tuple[str, ...], _Finder]] = {
    "product": ((SCALED_DOT,), product_of),
    "gated": (("stablehlo.multiply",), gated_product_of),
    "few_rows": ((DOT, SCALED_DOT), few_rows_of),
    "grouped_product": ((RAGGED,), grouped_of),
}
"""By what a piece is timed as: the ops that end its products, and what finds these."""
_TABLE = {"gated": "product"}
"""By what a piece is timed as: the kernel in tables, where that is another."""


def parsed(text: str) -> ir.Module:
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(text, context)


def by_xla(work: Piece) -> ir.Module:
    """The module in the form that XLA takes best, without kernels."""
    if isinstance(work, Work) and work.blocks:
        module = parsed(dataclasses.replace(work, operand_type="bf16", fast_accum=True).text())
        run_pipeline(module, _BLOCKS_BY_XLA[work.blocks])
        return module
    module = parsed(work.text())
    if operations(module.operation, SCALED_DOT, RAGGED, ATTENTION):
        run_pipeline(module, list(_XLA))
    return module


def by_attention_kernel(work: AttentionWork) -> ir.Module:
    module = parsed(work.text())
    Fp8KernelsForXlaGpu(attention=True).run(module.operation)
    return module


def kind_of_work(work: Piece, kernel: str) -> str:
    """As the table spells it; raises `Fp8Error` where no kernel computes it."""
    module = parsed(work.text())  # which `found` is of
    found = _found_in(module.operation, kernel, 0)[0]
    if isinstance(found, ScaledProduct):
        return kind_of_scaled(found) + (GATE if found.gate else "")
    return kind_of_grouped(found) if isinstance(found, GroupedProduct) else kind_of(found)


def kernel_in_table(kernel: str) -> str:
    return _TABLE.get(kernel, kernel)


def size_of(work: Piece, kernel: str) -> tuple[int, int, int]:
    """M, N and K of all its work."""
    return work.m, 2 * work.n if kernel == "gated" else work.n, work.k


def candidates(work: Piece, kernel: str) -> list[tuple[str, Shape]]:
    """Names and shapes of the forms of a kernel for `work`."""
    _, shape = chosen_form(work, kernel)
    if isinstance(shape, FewRows):
        return list(few_rows_candidates(shape))
    if isinstance(shape, Grouped):
        return list(grouped_candidates(shape))
    return list(product_candidates(shape))


def chosen_form(work: Piece, kernel: str) -> tuple[str, Shape]:
    """What a kernel has where nothing was timed."""
    module = parsed(work.text())
    return "chosen", _found_in(module.operation, kernel, 0)[0].shape


def by_kernels(work: Piece, kernel: str) -> Iterator[tuple[str, ir.Module]]:
    for name, shape in candidates(work, kernel):
        yield name, with_kernel(work, kernel, shape)


def with_kernel(work: Piece, kernel: str, shape: Shape) -> ir.Module:
    """Each product of `work` by the kernel in the form `shape`."""
    return with_kernels([(work, kernel, shape)] * work.copies)


def with_kernels(pieces: Sequence[tuple[Piece, str, Shape]], assembler: str = "") -> ir.Module:
    """One module of all pieces, each by its kernel in its form, assembled if `assembler` is one."""
    module = parsed(text_of([piece for piece, _, _ in pieces]))
    calls = KernelCalls(CHIP, module.context, assembler)
    with module.context:
        for number, (_, kernel, shape) in enumerate(pieces):
            for found in _found_in(module.operation, kernel, number):
                _put(dataclasses.replace(found, shape=shape), calls)
    return module


def _put(found: _Found, calls: KernelCalls) -> None:
    if isinstance(found, FewRowsProduct):
        put_few_rows(found, calls)
    elif isinstance(found, GroupedProduct):
        put_grouped(found, calls)
    else:
        put_product(found, calls)


def _found_in(module: ir.Operation, kernel: str, number: int) -> list[_Found]:
    """The products of a piece; raises `Fp8Error` where no kernel computes them."""
    names, find = _FINDERS[kernel]
    place = f'loc("{place_of(number)}")'
    ops = [op for op in operations(module, *names) if str(op.location) == place]
    found = [each for op in ops if (each := find(op)) is not None]
    reasons = [each for each in found if isinstance(each, str)]
    if reasons or not found:
        raise Fp8Error(f"no kernel computes it: {reasons[0] if reasons else 'it has no product'}")
    return [each for each in found if not isinstance(each, str)]


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
