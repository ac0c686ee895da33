"""Which kernels go into a module, in the place of which ops, and why others are left to XLA."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.xla_gpu.refusals import are_both_e5m2
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import MOST_ROWS
from mlir_fp8.lowering.gpu.xla.attention import ATTENTION, attention_of, verdict_of_attention
from mlir_fp8.lowering.gpu.xla.attention_backward import (
    ATTENTION_BACKWARD,
    attention_backward_of,
    put_attention_backward,
    verdict_of_attention_backward,
)
from mlir_fp8.lowering.gpu.xla.attention_calls import put_attention
from mlir_fp8.lowering.gpu.xla.block_scales import has_blocks
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
from mlir_fp8.lowering.gpu.xla.grouped import grouped_of, put_grouped, verdict_of_grouped
from mlir_fp8.lowering.gpu.xla.joined_products import gated_product_of, quantized_product_of
from mlir_fp8.lowering.gpu.xla.product_calls import put_product
from mlir_fp8.lowering.gpu.xla.products import (
    ScaledProduct,
    product_of,
    verdict_of_product,
)
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of, verdict_of
from mlir_fp8.lowering.gpu.xla.ragged_operands import RAGGED
from mlir_fp8.lowering.gpu.xla.rows import put_rows_kernel, row_quantizer_of, rows_verdict
from mlir_fp8.lowering.gpu.xla.updates import UPDATE, put_update_kernels, update_groups
from mlir_fp8.lowering.rewriting.shardings import function_of, is_body, module_of, partitions

_F = TypeVar("_F")
_SPLIT = "XLA splits its tensors over devices, and gives a kernel none but whole ones"


@dataclass(frozen=True)
class KernelDecision:
    """An op, the kernel that takes its place (none: it is left to XLA), and why."""

    op: str
    location: ir.Location
    kernel: str
    reason: str
    put: Callable[[KernelCalls], None] | None = field(default=None, repr=False)
    us: float = math.inf
    """By the table, where that has a time."""

    def __str__(self) -> str:
        what = f"becomes {self.kernel}" if self.kernel else "is left to XLA"
        return f"'{self.op}' {what}: {self.reason}"


def kernel_decisions(
    module: ir.Operation,
    costs: Costs,
    *,
    products: bool = False,
    few_rows: bool = False,
    attention: bool = False,
    prologues: bool = True,
) -> Iterator[KernelDecision]:
    """What becomes of each `fp8.update_scale` and `fp8.quantize`, by the table `costs`.

    And of each `fp8.scaled_dot` with scales in blocks along K; of others, of weight-only dots,
    `fp8.scaled_ragged_dot`s and `fp8.attention`s, where that has times of them; with `products`
    every one that a kernel computes becomes that, whatever the times. With `few_rows` so does every
    product of 1 to 64 rows, with `attention` every `fp8.attention` and its gradients. With
    `prologues` quantizations take in ops in front of them.

    Each is decided when it is asked for: `put` of those before may have changed what it reads.
    """
    grouped = products or any(each.kernel == "grouped_product" for each in costs.times)
    found = operations(
        module, "fp8.quantize", UPDATE, SCALED_DOT, DOT, RAGGED, ATTENTION, ATTENTION_BACKWARD
    )
    split = dict.fromkeys(op for op in found if _is_split(op))
    yield from (_left(op, _SPLIT) for op in split if op.name != DOT)
    for ops in update_groups(module):
        if not any(op in split for op in ops):
            yield _of_updates(ops)
    is_timed = any(each.kernel == "few_rows" for each in costs.times)
    rows = MOST_ROWS if few_rows or (is_timed and not products) else 0
    for name, found_by in _JOINING.items():
        for op in operations(module, name):
            joined = None if _is_split(op) else found_by(op)
            if joined is not None and joined.shape.m > rows:
                decision = _joined(op, joined, costs, forced=products)
                if decision is not None:
                    yield decision
    for op in operations(module, "fp8.quantize"):
        if op not in split:
            yield _of_quantize(op, costs, grouped=grouped, prologues=prologues)
    for op in operations(module, SCALED_DOT, DOT):
        if op not in split and (op.name == SCALED_DOT or is_weight_only(op)):
            decision = _of_dot(op, costs, products=products, few_rows=few_rows)
            if decision is not None:
                yield decision
    if grouped:
        for op in operations(module, RAGGED):
            if op not in split:
                option = "products" if products else ""
                yield _judged(op, "grouped_product", grouped_of(op), _GROUPED, costs, option)
    if attention or costs.attention_by_xla is not None:
        for op in operations(module, ATTENTION):
            if op not in split:
                option = "attention" if attention else ""
                yield _judged(op, "attention", attention_of(op), _ATTENTION, costs, option)
        for op in operations(module, ATTENTION_BACKWARD):
            if op not in split:
                backward, option = attention_backward_of(op), "attention" if attention else ""
                yield _judged(
                    op, "attention_backward", backward, _ATTENTION_BACKWARD, costs, option
                )


_JOINING = {"stablehlo.multiply": gated_product_of, "fp8.quantize": quantized_product_of}
"""Ops that end what one kernel of products computes."""
_FEW_ROWS = verdict_of_few_rows, put_few_rows
_PRODUCT = verdict_of_product, put_product
_GROUPED = verdict_of_grouped, put_grouped
_ATTENTION = verdict_of_attention, put_attention
_ATTENTION_BACKWARD = verdict_of_attention_backward, put_attention_backward
"""How what was found is judged, which may choose a form of it, and how it is put in."""


def _joined(
    op: ir.Operation, found: ScaledProduct, costs: Costs, *, forced: bool
) -> KernelDecision | None:
    """Of a product with what follows it; None where these are decided each by itself."""
    option = "products" if forced else ""
    verdict, chosen = verdict_of_product(found, costs)
    if not verdict.wins and not option:
        return None
    name = "product" if found.gate is None else "gated product"
    return _told(op, name, verdict, lambda calls: put_product(chosen, calls), option)


def _of_dot(
    op: ir.Operation, costs: Costs, *, products: bool, few_rows: bool
) -> KernelDecision | None:
    """Where there are times or an option asks: of few rows, or of any; the faster of both."""
    decision: KernelDecision | None = None
    if few_rows or costs.times:
        option = "few-rows" if few_rows else ""
        decision = _judged(op, "few_rows", few_rows_of(op), _FEW_ROWS, costs, option)
    if op.name != SCALED_DOT or not (products or costs.times or _is_alone(op)):
        return decision
    option = "products" if products else ""
    product = _judged(op, "product", product_of(op), _PRODUCT, costs, option)
    if decision is not None and decision.kernel:
        is_faster = not few_rows and product.us < decision.us
        return product if product.kernel and is_faster else decision
    return product if product.kernel or not few_rows else decision


def _is_alone(op: ir.Operation) -> bool:
    """Whether XLA has no FP8 product for an `fp8.scaled_dot`."""
    return has_blocks(op) or are_both_e5m2(product_parts(op))


def _is_split(op: ir.Operation) -> bool:
    """Whether XLA is to split the tensors of `op` over devices, which it cannot for a kernel."""
    return partitions(module_of(op)) > 1 and not is_body(function_of(op))


def _judged(
    op: ir.Operation,
    kernel: str,
    found: _F | str,
    ways: tuple[Callable[[_F, Costs], tuple[Verdict, _F]], Callable[[_F, KernelCalls], None]],
    costs: Costs,
    option: str,
) -> KernelDecision:
    """As `found` says why it is left; else by `ways`, how it is judged and how it is put in."""
    if isinstance(found, str):
        return _left(op, found)
    judge, put = ways
    verdict, chosen = judge(found, costs)
    return _told(op, kernel, verdict, lambda calls: put(chosen, calls), option)


def _of_updates(ops: Sequence[ir.Operation]) -> KernelDecision:
    reason = f"it and {len(ops) - 1} like it in one launch"
    return KernelDecision(
        UPDATE,
        ops[0].location,
        "update_scales",
        reason,
        lambda calls: put_update_kernels(ops, calls),
    )


def _of_quantize(
    op: ir.Operation, costs: Costs, *, grouped: bool, prologues: bool
) -> KernelDecision:
    if ir.RankedTensorType(op.operands[1].type).rank == 2:
        rows = row_quantizer_of(op, prologues=prologues)
        if isinstance(rows, str):
            return _left(op, rows)
        name = "quantize_rows" if rows.is_rows else "quantize_groups"
        verdict, front = rows_verdict(rows, costs), _in_front(rows.prologue)
        return _told(op, name, verdict, lambda calls: put_rows_kernel(rows, calls), front=front)
    found = quantizer_of(op, grouped=grouped, prologues=prologues)
    if isinstance(found, str):
        return _left(op, found)
    verdict, front = verdict_of(found, costs), _in_front(found.prologue)
    if found.moves:
        listed = ", ".join(f"'{each.name}'" for each in found.moves)
        front = f", behind {listed} of what is quantized in place of its codes"
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
    us = verdict.kernel or math.inf
    return KernelDecision(op.name, op.location, kernel, f"{reason}{front}", put, us)


def _left(op: ir.Operation, reason: str) -> KernelDecision:
    return KernelDecision(op.name, op.location, "", reason)
