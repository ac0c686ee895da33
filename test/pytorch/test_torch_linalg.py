"""Linear algebra, Fourier transforms and complex numbers, held to eager."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn")

import torch
from torch_programs import Of, check

import mlir_fp8.torch

L, T = torch.linalg, torch.fft
_random = torch.Generator().manual_seed(5)


def _randn(*shape: int) -> "torch.Tensor":
    return torch.randn(*shape, generator=_random)


A, B, TALL = _randn(2, 3, 3), _randn(2, 3, 2), _randn(2, 5, 3)
S = A @ A.mT + torch.eye(3)
X = _randn(3, 4, 6)
Z = torch.complex(_randn(3, 5), _randn(3, 5))

SOLVED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "cholesky": (lambda x: (L.cholesky(x), L.cholesky(x, upper=True)), (S,)),
    "where cholesky fails": (lambda x: L.cholesky_ex(x).info, (A,)),
    "lu": (lambda x, y: (L.lu_factor(x), L.lu(x), L.lu(y), L.lu(y.mT)), (A, TALL)),
    "solve": (lambda a, b: (L.solve(a, b), L.solve(a, b.mT, left=False)), (A, B)),
    "solve a vector": (L.solve, (A[0], B[0, :, 0])),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b, adjoint=True), (A, B)),
    "inverse": (lambda x, y: (L.inv(x), L.inv(y)), (A, A.double())),
    "determinants": (lambda x: (L.det(x), L.slogdet(x), L.det(x[0])), (A,)),
    "determinant of nothing": (L.det, (torch.zeros(0, 0),)),
    "qr": (lambda x: (*L.qr(x), *L.qr(x, mode="complete"), L.qr(x, mode="r")[1]), (TALL,)),
    "eigh": (lambda x: (L.eigvalsh(x), _joined(*L.eigh(x))), (S,)),
    "svd": (lambda x: (L.svdvals(x), _product(*L.svd(x, full_matrices=False))), (TALL,)),
    "svd of all": (lambda x: L.svd(x)[1], (TALL,)),
    "pseudoinverse": (L.pinv, (TALL,)),
    "rank": (L.matrix_rank, (TALL,)),
    "triangles": (
        lambda a, b: (
            L.solve_triangular(a, b, upper=True),
            L.solve_triangular(a, b[0], upper=False, unitriangular=True),
            L.solve_triangular(a, b.mT.contiguous(), upper=False, left=False),
        ),
        (A, B),
    ),
    "cholesky_solve": (
        lambda s, b: (torch.cholesky_solve(b, L.cholesky(s)), torch.cholesky_inverse(s)),
        (S, B),
    ),
    "norms of matrices": (lambda x: (L.matrix_norm(x, 2), L.matrix_norm(x, "nuc")), (A,)),
    "complex eigenvalues": (L.eigvalsh, (torch.complex(S, torch.zeros_like(S)),)),
}
TRANSFORMED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "rfft": (lambda x: (T.rfft(x), T.rfft(x, 9, dim=1), T.rfft(x).abs()), (X,)),
    "irfft": (lambda z: (T.irfft(z), T.irfft(z, 7)), (Z,)),
    "fft": (lambda z: (T.fft(z), T.ifft(z, norm="ortho"), T.fft(z, dim=0)), (Z,)),
    "several dimensions": (lambda x: (T.fftn(x), T.rfftn(x, norm="forward")), (X,)),
    "fft2": (lambda z: (T.fft2(z), T.irfft2(z), T.hfft(z), T.fftshift(z)), (Z,)),
    "stft": (
        lambda x: torch.stft(x, 8, 4, return_complex=True, window=torch.ones(8)),
        (_randn(2, 32),),
    ),
    "arithmetic": (lambda z: ((z + 2 * z[:1] - 1j) / (z + 3), z * z, -z, z * z.real), (Z,)),
    "functions": (lambda z: (z.exp(), z.log(), z.sqrt(), z.tanh(), z.abs(), z.angle()), (Z,)),
    "movement": (
        lambda z: (z.mT, z.conj() @ z.mT, z.flip(1), torch.nn.functional.pad(z, (1, 2))),
        (Z,),
    ),
    "sums": (lambda z: (z.sum(), z.sum(1), z.cumsum(1)), (Z,)),
}


def _joined(values: Any, vectors: Any) -> Any:
    return vectors @ (values.unsqueeze(-1) * vectors.mT)


def _product(left: Any, values: Any, right: Any) -> Any:
    return (left * values.unsqueeze(-2)) @ right


@pytest.mark.parametrize("name", SOLVED)
def test_linear_algebra_is_eagers(name: str) -> None:
    pytest.importorskip("scipy")
    function, args = SOLVED[name]
    check(function, *args, tolerance=1e-4)


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transform_is_eagers(name: str) -> None:
    function, args = TRANSFORMED[name]
    check(function, *args, tolerance=3e-5)


def test_a_matrix_without_a_factor_gives_nan() -> None:
    pytest.importorskip("scipy")
    module = mlir_fp8.torch.export(Of(L.cholesky), (S,))
    given = torch.stack([S[0], -S[1]])
    good, bad = module(given)
    torch.testing.assert_close(good, L.cholesky(S[0]), rtol=1e-4, atol=1e-4)
    assert bad.tril().isnan().sum() == 6
