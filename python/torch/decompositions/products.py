"""Matrix products: scaled FP8 ones, grouped ones, and sums with them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.decompositions.ragged import ragged_mm
from mlir_fp8.torch.decompositions.register import decomposes

_aten = torch.ops.aten


@decomposes(_aten._scaled_mm.default)
def scaled_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> Any:
    """`(a * scale_a) @ (b * scale_b) + bias` in f32, rounded once to `out_dtype`.

    `a` is [m, k], `b` [k, n], of any float8. Scales are f32: of one element, [m, 1] and [1, n], or
    of blocks, in which both dimensions of an operand divide. `scale_result` divides a float8
    result. Sums are f32's; `use_fast_accum` asks for nothing more. Where scales are no powers of
    two, PyTorch's own rounding depends on the CPU (docs/pytorch.md). Float8 scales
    are those of `block_products`.
    """
    if scale_a.dtype.itemsize == 1:
        return NotImplemented
    if scale_a.numel() == scale_b.numel() == 1:
        scale = scale_a.float().reshape(()) * scale_b.float().reshape(())
        product = torch.mm(a.float(), b.float()) * scale
    else:
        product = torch.mm(_dequantized(a, scale_a), _dequantized(b, scale_b))
    if bias is not None:
        product = product + bias.float()
    dtype = a.dtype if out_dtype is None else out_dtype
    if scale_result is not None and dtype.itemsize == 1:
        product = product * (1 / scale_result.float())
    return product.to(dtype)


def _dequantized(codes: Tensor, scale: Tensor) -> Tensor:
    wide = codes.float()
    if scale.numel() == 1:
        return wide * scale.float().reshape(())
    if scale.dim() != codes.dim() or any(
        size % count for size, count in zip(codes.shape, scale.shape, strict=True)
    ):
        raise Fp8Error(
            f"'aten._scaled_mm' has scales of shape {list(scale.shape)} for an operand of"
            f" {list(codes.shape)}: give one, one per row, or one per block"
        )
    scale = scale.float()
    for dim, (size, count) in enumerate(zip(codes.shape, scale.shape, strict=True)):
        if count not in (1, size):
            scale = scale.repeat_interleave(size // count, dim)
    return wide * scale


@decomposes(
    getattr(_aten, "_scaled_grouped_mm", None) and _aten._scaled_grouped_mm.default,
)
def scaled_grouped_mm(
    a: Tensor,
    b: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """`grouped_mm` of dequantized operands: scales are per row of `a` and per column of `b`."""
    left, right = _along(scale_a, a, a.dim() - 1), _along(scale_b, b, b.dim() - 2)
    if offs is not None and a.dim() == 2 and b.dim() == 3:
        product = _grouped(a, b, offs) * left * right.squeeze(1)[_group_of_rows(a, offs)]
    else:
        product = _grouped(a.float() * left, b.float() * right, offs)
    if bias is not None:
        product = product + bias.float()
    return product.to(out_dtype or torch.bfloat16)


def _group_of_rows(rows: Tensor, offs: Tensor) -> Tensor:
    """[m]: which of g groups each row is in; the last for those beyond."""
    places = torch.arange(rows.shape[0]).unsqueeze(1)
    return (offs[:-1].unsqueeze(0) <= places).sum(1)


def _along(scale: Tensor, operand: Tensor, contracted: int) -> Tensor:
    """`scale` with a dimension of one where `operand` is added up along."""
    sizes = list(operand.shape)
    sizes[contracted] = 1
    if scale.numel() != torch.Size(sizes).numel():
        raise Fp8Error(
            f"'aten._scaled_grouped_mm' has scales of shape {list(scale.shape)} for an operand of"
            f" {list(operand.shape)}: give one per row"
        )
    return scale.float().reshape(sizes)


@decomposes(getattr(_aten, "_grouped_mm", None) and _aten._grouped_mm.default)
def grouped_mm(
    a: Tensor,
    b: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Products of groups that end at `offs`, in f32, rounded once."""
    product = _grouped(a, b, offs)
    if bias is not None:
        product = product + bias.float()
    return product.to(out_dtype or a.dtype)


def of_transformers() -> dict[Any, Callable[..., Any]]:
    """What becomes of the ops that transformers puts in the place of `torch._grouped_mm` on CPUs,
    where they are there."""
    ops = torch.ops.transformers
    found = {
        getattr(ops, "grouped_mm_fallback", None): grouped_mm,
        getattr(ops, "grouped_mm_fallback_backward", None): _backward_of_transformers,
    }
    return {op.default: what for op, what in found.items() if op is not None}


def _backward_of_transformers(
    a: Tensor, b: Tensor, offs: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of [m, k] by [g, k, n]."""
    of_a = _grouped(gradient, b.transpose(1, 2), offs)
    return of_a.to(a.dtype), _grouped(a.t(), gradient, offs).to(b.dtype)


def _grouped(a: Tensor, b: Tensor, offs: Tensor | None) -> Tensor:
    """One product per group, in f32 of narrower operands; what no group has is zero."""
    if offs is None:
        return torch.bmm(_summable(a), _summable(b))
    if a.dim() == 3:  # columns in groups: [g, m, k] by [k, n]
        return ragged_mm(b.t(), a.transpose(1, 2), offs).t()
    return ragged_mm(a, b, offs)


def _summable(operand: Tensor) -> Tensor:
    return operand.float() if operand.dtype.itemsize < 4 else operand


@decomposes(_aten.addmm.default)
def addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * bias + alpha * (a @ b)`, without factors of one."""
    return _added(bias, a, b, torch.mm, beta, alpha)


@decomposes(_aten.baddbmm.default)
def baddbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * bias + alpha * (a @ b)` of batches."""
    return _added(bias, a, b, torch.bmm, beta, alpha)


@decomposes(_aten.addmv.default)
def addmv(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * bias + alpha * (a @ b)` of a vector."""
    return _added(bias, a, b, torch.mv, beta, alpha)


def _added(bias: Tensor, a: Tensor, b: Tensor, op: Any, beta: Any, alpha: Any) -> Tensor:
    """Of bf16 and f16 rounded once, after the sum."""
    if not (a.is_floating_point() or a.is_complex()):
        beta, alpha = int(beta), int(alpha)
    product = op(_summable(a), _summable(b)) if a.is_floating_point() else op(a, b)
    product = product if alpha == 1 else product * alpha
    if beta != 0:  # what is in bias, NaN too, does not count then
        bias = bias.to(product.dtype)
        product = product + (bias if beta == 1 else bias * beta)
    return product.to(a.dtype)
