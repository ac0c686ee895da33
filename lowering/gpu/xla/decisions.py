"""Which kernels go into a module, in the place of which ops, and why others are left to XLA."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict
from mlir_fp8.lowering.gpu.xla.few_rows import (
    DOT,
    SCALED_DOT,
    few_rows_of,
    is_weight_only,
    put_few_rows,
    verdict_of_few_rows,
)
from mlir_fp8.lowering.gpu.xla.products import product_of, put_product, verdict_of_product
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of, verdict_of
from mlir_fp8.lowering.gpu.xla.rows import put_rows_kernel, row_quantizer_of, rows_verdict
from mlir_fp8.lowering.gpu.xla.updates import UPDATE, put_update_kernels, update_groups
from mlir_fp8.lowering.rewriting.shardings import function_of, is_body, module_of, partitions

_SPLIT = "XLA splits its tensors over devices, and gives a kernel none but whole ones"


@dataclass(frozen=True)
class KernelDecision:
    """An op, the kernel that takes its place (none: it is left to XLA), and why."""

    op: str
    location: ir.Location
    kernel: str
    reason: str
    put: Callable[[KernelCalls], None] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        what = f"becomes {self.kernel}" if self.kernel else "is left to XLA"
        return f"'{self.op}' {what}: {self.reason}"


def kernel_decisions(
    module: ir.Operation, costs: Costs, *, products: bool = False, few_rows: bool = False
) -> Iterator[KernelDecision]:
    """What becomes of each `fp8.update_scale` and `fp8.quantize`, by the table `costs`.

    And of each `fp8.scaled_dot`, where that has times of products; with `products` every one that
    a kernel computes becomes that, whatever the times. With `few_rows` so does every product of 1
    to 64 rows, also a weight-only one.

    Each is decided when it is asked for: `put` of those before may have changed what it reads.
    """
    found = operations(module, "fp8.quantize", UPDATE, SCALED_DOT)
    split = dict.fromkeys(op for op in found if _is_split(op))
    yield from (_left(op, _SPLIT) for op in split)
    for ops in update_groups(module):
        if not any(op in split for op in ops):
            yield _of_updates(ops)
    for op in operations(module, "fp8.quantize"):
        if op not in split:
            yield _of_quantize(op, costs)
    if few_rows or costs.few_rows_by_xla is not None:
        for op in operations(module, SCALED_DOT, DOT):
            if _is_split(op):
                continue
            if op.name == SCALED_DOT or is_weight_only(op):
                yield _of_few_rows(op, costs, forced=few_rows)
    if products or costs.product_by_xla is not None:
        for op in operations(module, SCALED_DOT):
            if op in split:
                continue
            yield _of_product(op, costs, forced=products)


def _is_split(op: ir.Operation) -> bool:
    """Whether XLA is to split the tensors of `op` over devices, which it cannot for a kernel."""
    return partitions(module_of(op)) > 1 and not is_body(function_of(op))


def _of_few_rows(op: ir.Operation, costs: Costs, *, forced: bool) -> KernelDecision:
    found = few_rows_of(op)
    if isinstance(found, str):
        return _left(op, found)
    verdict, option = verdict_of_few_rows(found, costs), "few-rows" if forced else ""
    return _told(op, "few_rows", verdict, lambda calls: put_few_rows(found, calls), option)


def _of_product(op: ir.Operation, costs: Costs, *, forced: bool) -> KernelDecision:
    found = product_of(op)
    if isinstance(found, str):
        return _left(op, found)
    verdict, option = verdict_of_product(found, costs), "products" if forced else ""
    return _told(op, "product", verdict, lambda calls: put_product(found, calls), option)


def _of_updates(ops: Sequence[ir.Operation]) -> KernelDecision:
    reason = f"it and {len(ops) - 1} like it in one launch"
    return KernelDecision(
        UPDATE,
        ops[0].location,
        "update_scales",
        reason,
        lambda calls: put_update_kernels(ops, calls),
    )


def _of_quantize(op: ir.Operation, costs: Costs) -> KernelDecision:
    if ir.RankedTensorType(op.operands[1].type).rank == 2:
        rows = row_quantizer_of(op)
        if isinstance(rows, str):
            return _left(op, rows)
        name = "quantize_rows" if rows.is_rows else "quantize_groups"
        verdict = rows_verdict(rows, costs)
        return _told(op, name, verdict, lambda calls: put_rows_kernel(rows, calls))
    found = quantizer_of(op)
    if isinstance(found, str):
        return _left(op, found)
    verdict = verdict_of(found, costs)
    return _told(op, "quantize_transpose", verdict, lambda calls: put_kernel(found, calls))


def _told(
    op: ir.Operation,
    kernel: str,
    verdict: Verdict,
    put: Callable[[KernelCalls], None],
    option: str = "",
) -> KernelDecision:
    """As the times say, or as the name of an option that asks for the kernel whatever they are."""
    reason = str(verdict)
    if not verdict.wins:
        if not option:
            return _left(op, reason)
        reason = f"the option '{option}' says so ({reason})"
    return KernelDecision(op.name, op.location, kernel, reason, put)


def _left(op: ir.Operation, reason: str) -> KernelDecision:
    return KernelDecision(op.name, op.location, "", reason)
