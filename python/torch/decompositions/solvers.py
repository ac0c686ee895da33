"""Systems of equations, inverses and determinants, of the factorizations of LAPACK."""

from typing import Any

import torch
from torch import Tensor

from mlir_fp8.torch.decompositions.register import decomposes
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@decomposes(_aten.linalg_solve_triangular.default)
def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor | Any:
    """The solution of `a @ x = b`, or of `x @ a = b`, with one triangle of `a`."""
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if batch == a.shape[:-2] == b.shape[:-2]:
        return NotImplemented
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    return _aten.linalg_solve_triangular(
        a.clone(), b.clone(), upper=upper, left=left, unitriangular=unitriangular
    )


@writes(_aten.linalg_solve_triangular.default)
def write_solve_triangular(body: Body) -> None:
    """`stablehlo.triangular_solve`."""
    names = [body.function.operands.index(each) for each in body.function.node.args[:2]]  # pyright: ignore
    options = body.function.node.kwargs
    attributes = ", ".join(
        f"{name} = {str(bool(options.get(key, default))).lower()}"
        for name, key, default in (
            ("left_side", "left", True),
            ("unit_diagonal", "unitriangular", False),
        )
    )
    is_lower = str(not options["upper"]).lower()
    types = [body.inputs[each] for each in names]
    body.give(
        body.let(
            f'"stablehlo.triangular_solve"(%arg{names[0]}, %arg{names[1]}) <{{{attributes},'
            f" lower = {is_lower}, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}> :"
            f" ({types[0]}, {types[1]}) -> {body.outputs[0]}"
        )
    )


@decomposes(_aten.triangular_solve.default)
def triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """The older name, which gives `a` too."""
    turned = a.mT if transpose else a
    x = _triangular(turned, b, upper=upper != transpose, is_unit=unitriangular)
    return x, a.clone()


def _triangular(a: Tensor, b: Tensor, *, upper: bool, is_unit: bool = False) -> Tensor:
    return torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=is_unit)


@decomposes(_aten.cholesky.default)
def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """The older name."""
    return _aten.linalg_cholesky_ex(x, upper=upper)[0]


@decomposes(_aten.cholesky_solve.default)
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    """The solution of `a @ x = b`, of the factor of `a`."""
    lower = factor.mH if upper else factor
    inner = _triangular(lower, b, upper=False)
    return _triangular(lower.mH, inner, upper=True)


@decomposes(_aten.cholesky_inverse.default)
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    """The inverse of the matrix that `factor` is of."""
    return cholesky_solve(_eye_like(factor), factor, upper)


def _eye_like(x: Tensor) -> Tensor:
    return torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)


def _order(pivots: Tensor, rows: int) -> Tensor:
    """Which row of the matrix each row of its factors is: the swaps of pivots, one after another.

    `pivots` are [..., k], from 1 on; the result is [..., rows].
    """
    places = torch.arange(rows, dtype=torch.int32)
    order = places.expand(*pivots.shape[:-1], rows)
    for i in range(pivots.shape[-1]):
        swapped = pivots[..., i : i + 1] - 1
        hit = places == swapped
        there = torch.where(hit, order, 0).sum(-1, keepdim=True, dtype=torch.int32)
        here = order[..., i : i + 1]
        order = torch.where(places == i, there, torch.where(hit, here, order))
    return order.to(torch.int64)


def _rows(x: Tensor, order: Tensor) -> Tensor:
    """The rows of `x` in another order."""
    batch = torch.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    index = order.unsqueeze(-1).expand(*batch, order.shape[-1], x.shape[-1])
    return x.expand(*batch, *x.shape[-2:]).gather(-2, index)


@decomposes(_aten.lu_unpack.default)
def lu_unpack(
    lu: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """The permutation matrix and both factors."""
    rows, columns = lu.shape[-2:]
    small = min(rows, columns)
    none = lu.new_empty((0,))
    p = lower = upper = none
    if unpack_pivots:
        order = _order(pivots, rows)
        p = (order.unsqueeze(-2) == torch.arange(rows).unsqueeze(-1)).to(lu.dtype)
    if unpack_data:
        lower = lu[..., :small].tril(-1) + torch.eye(rows, small, dtype=lu.dtype)
        upper = lu[..., :small, :].triu()
    return p, lower, upper


@decomposes(_aten.linalg_lu.default)
def linalg_lu(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """`p @ l @ u`."""
    lu, pivots, _ = _aten.linalg_lu_factor_ex(a, pivot=pivot)
    return lu_unpack(lu, pivots)


@decomposes(_aten.linalg_lu_solve.default)
def lu_solve(
    lu: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The solution of `a @ x = b` of the factors of `a`."""
    if not left:
        turned = lu_solve(lu, pivots, b.mH, adjoint=not adjoint)
        return turned.mH
    order = _order(pivots, lu.shape[-2])
    if adjoint:
        x = _triangular(lu.mH, b, upper=False)
        x = _triangular(lu.mH, x, upper=True, is_unit=True)
        return _rows(x, order.argsort(-1))
    x = _triangular(lu, _rows(b, order), upper=False, is_unit=True)
    return _triangular(lu, x, upper=True)


@decomposes(_aten._linalg_solve_ex.default)
def solve(
    a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The solution of `a @ x = b`, and the factors of `a`."""
    lu, pivots, info = _aten.linalg_lu_factor_ex(a)
    is_vector = b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])
    x = lu_solve(lu, pivots, b.unsqueeze(-1) if is_vector else b, left=left)
    return x.squeeze(-1) if is_vector else x, lu, pivots, info


@decomposes(_aten.linalg_inv_ex.default)
def inverse(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """The solution for the unit matrix."""
    x, _, _, info = solve(a, _eye_like(a))
    return x, info


def _odd_swaps(pivots: Tensor) -> Tensor:
    swaps = pivots != torch.arange(1, pivots.shape[-1] + 1, dtype=torch.int32)
    return (swaps.sum(-1) % 2) == 1


def _factors(a: Tensor) -> tuple[Tensor, Tensor]:
    """Of the transpose where `a` is real and contiguous, as the derivatives of determinants have
    it.
    """
    is_turned = a.is_contiguous() and not a.is_complex()
    lu, pivots, _ = _aten.linalg_lu_factor_ex(a.mT if is_turned else a)
    return lu, pivots


@decomposes(_aten._linalg_det.default)
def determinant(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The product of the diagonal, with the sign of the swaps."""
    lu, pivots = _factors(a)
    product = lu.diagonal(0, -2, -1).prod(-1)
    return torch.where(_odd_swaps(pivots), -product, product), lu, pivots


@decomposes(_aten._linalg_slogdet.default)
def slogdet(a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The sign of the determinant, and the logarithm of its magnitude."""
    lu, pivots = _factors(a)
    diagonal = lu.diagonal(0, -2, -1)
    sign = torch.sgn(diagonal).prod(-1)
    sign = torch.where(_odd_swaps(pivots), -sign, sign)
    return sign, diagonal.abs().log().sum(-1), lu, pivots


@decomposes(_aten.linalg_qr.default)
def qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """`q @ r`."""
    rows, columns = a.shape[-2:]
    small = min(rows, columns)
    packed, factors = torch.geqrf(a)
    if mode == "r":
        return a.new_empty((0,)), packed[..., :small, :].triu()
    if mode == "complete" and rows > columns:
        fill = packed.new_zeros((*packed.shape[:-1], rows - columns))
        q = torch.linalg.householder_product(torch.cat([packed, fill], -1), factors)
        return q, packed.triu()
    q = torch.linalg.householder_product(packed[..., :small], factors)
    return q, packed[..., :small, :].triu()


@decomposes(_aten.linalg_cholesky.default)
def linalg_cholesky(x: Tensor, *, upper: bool = False) -> Tensor:
    """Without the check, which PyTorch has as an op with effects."""
    return _aten.linalg_cholesky_ex(x, upper=upper)[0]


@decomposes(_aten.linalg_inv.default, _aten.inverse.default)
def linalg_inv(a: Tensor) -> Tensor:
    """Likewise."""
    return inverse(a)[0]


@decomposes(_aten.linalg_solve.default)
def linalg_solve(a: Tensor, b: Tensor, *, left: bool = True) -> Tensor:
    """Likewise."""
    return solve(a, b, left=left)[0]


@decomposes(_aten.linalg_lu_factor.default)
def linalg_lu_factor(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor]:
    """Likewise."""
    lu, pivots, _ = _aten.linalg_lu_factor_ex(a, pivot=pivot)
    return lu, pivots


@decomposes(_aten.linalg_pinv.atol_rtol_tensor)
def pinv(
    a: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False
) -> Tensor | Any:
    """The pseudoinverse by singular values, of which those below the tolerance count for none."""
    if hermitian:
        return NotImplemented
    left, values, right = torch.linalg.svd(a, full_matrices=False)
    largest = values.amax(-1, keepdim=True)
    absolute = torch.zeros_like(largest) if atol is None else atol.unsqueeze(-1)
    default = max(a.shape[-2:]) * torch.finfo(values.dtype).eps
    if rtol is not None:
        relative: Any = rtol.unsqueeze(-1)
    elif atol is None:
        relative = default
    else:
        relative = torch.where(absolute > 0, 0.0, default)
    is_large = values > torch.maximum(absolute, relative * largest)
    inverse = torch.where(is_large, 1 / values, 0.0)
    return (right.mH * inverse.unsqueeze(-2)) @ left.mH
