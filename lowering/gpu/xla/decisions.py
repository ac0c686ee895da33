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
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of, verdict_of
from mlir_fp8.lowering.gpu.xla.rows import put_rows_kernel, row_quantizer_of, rows_verdict
from mlir_fp8.lowering.gpu.xla.updates import UPDATE, put_update_kernels, update_groups


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
    module: ir.Operation,
    costs: Costs,
    *,
    products: bool = False,
    few_rows: bool = False,
    prologues: bool = True,
) -> Iterator[KernelDecision]:
    """What becomes of each `fp8.update_scale` and `fp8.quantize`, by the table `costs`.

    And of each `fp8.scaled_dot` and weight-only dot, where that has times of products; with
    `products` every one that a kernel computes becomes that, whatever the times. With `few_rows` so
    does every product of 1 to 64 rows. With `prologues` quantizations take in ops in front of them.

    Each is decided when it is asked for: `put` of those before may have changed what it reads.
    """
    for ops in update_groups(module):
        yield _of_updates(ops)
    for op in operations(module, "fp8.quantize"):
        yield _of_quantize(op, costs, prologues=prologues)
    for op in operations(module, SCALED_DOT, DOT):
        if op.name == SCALED_DOT or is_weight_only(op):
            yield from _of_dot(op, costs, products=products, few_rows=few_rows)


def _of_dot(
    op: ir.Operation, costs: Costs, *, products: bool, few_rows: bool
) -> Iterator[KernelDecision]:
    """One decision, where there are times or an option asks: of few rows, or of any."""
    decision: KernelDecision | None = None
    if few_rows or costs.times:
        decision = _of_few_rows(op, costs, forced=few_rows)
    is_left = decision is None or not decision.kernel
    if op.name == SCALED_DOT and is_left and (products or costs.times):
        product = _of_product(op, costs, forced=products)
        decision = product if product.kernel or not few_rows else decision
    if decision is not None:
        yield decision


def _of_few_rows(op: ir.Operation, costs: Costs, *, forced: bool) -> KernelDecision:
    found = few_rows_of(op)
    if isinstance(found, str):
        return _left(op, found)
    verdict, chosen = verdict_of_few_rows(found, costs)
    option = "few-rows" if forced else ""
    return _told(op, "few_rows", verdict, lambda calls: put_few_rows(chosen, calls), option)


def _of_product(op: ir.Operation, costs: Costs, *, forced: bool) -> KernelDecision:
    found = product_of(op)
    if isinstance(found, str):
        return _left(op, found)
    verdict, chosen = verdict_of_product(found, costs)
    option = "products" if forced else ""
    return _told(op, "product", verdict, lambda calls: put_product(chosen, calls), option)


def _of_updates(ops: Sequence[ir.Operation]) -> KernelDecision:
    reason = f"it and {len(ops) - 1} like it in one launch"
    return KernelDecision(
        UPDATE,
        ops[0].location,
        "update_scales",
        reason,
        lambda calls: put_update_kernels(ops, calls),
    )


def _of_quantize(op: ir.Operation, costs: Costs, *, prologues: bool) -> KernelDecision:
    if ir.RankedTensorType(op.operands[1].type).rank == 2:
        rows = row_quantizer_of(op, prologues=prologues)
        if isinstance(rows, str):
            return _left(op, rows)
        name = "quantize_rows" if rows.is_rows else "quantize_groups"
        verdict, front = rows_verdict(rows, costs), _in_front(rows.prologue)
        return _told(op, name, verdict, lambda calls: put_rows_kernel(rows, calls), front=front)
    found = quantizer_of(op, prologues=prologues)
    if isinstance(found, str):
        return _left(op, found)
    verdict, front = verdict_of(found, costs), _in_front(found.prologue)
    return _told(
        op, "quantize_transpose", verdict, lambda calls: put_kernel(found, calls), front=front
    )


def _in_front(prologue: FoundPrologue | str) -> str:
    if isinstance(prologue, FoundPrologue):
        return f", {prologue}"
    return f"; what makes its tensor is left to XLA: {prologue}" if prologue else ""


def _told(
    op: ir.Operation,
    kernel: str,
    verdict: Verdict,
    put: Callable[[KernelCalls], None],
    option: str = "",
    front: str = "",
) -> KernelDecision:
    """As the times say, or as the name of an option that asks for the kernel whatever they are.

    `front` is said of what is in front of a kernel.
    """
    reason = str(verdict)
    if not verdict.wins:
        if not option:
            return _left(op, reason)
        reason = f"the option '{option}' says so ({reason})"
    return KernelDecision(op.name, op.location, kernel, f"{reason}{front}", put)


def _left(op: ir.Operation, reason: str) -> KernelDecision:
    return KernelDecision(op.name, op.location, "", reason)
