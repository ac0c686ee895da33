"""Writes what JAX makes of its functions of linear algebra: `python lapack_of_jax.py LETTER FILE`.

In a process of its own, since JAX does not leave the one that it is in as it was. LETTER is
LAPACK's for the type; FILE is pickled: by name, the program's text, its arguments, and what XLA:CPU
gives.
"""

import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
J: Any = None  # jax.numpy.linalg, and below jax.scipy.linalg, jax.lax.linalg, jax.numpy, jax
S: Any = None
L: Any = None
N: Any = None
X: Any = None

A, B, V = "square", "two columns", "vector"
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "cholesky": (lambda a: J.cholesky(a), ("definite",)),
    "cholesky of a batch": (lambda a: J.cholesky(a, upper=True), ("definite batch",)),
    "cholesky of the lower half": (
        lambda a: L.cholesky(a, symmetrize_input=False), ("definite below",)),
    "cholesky, not definite": (lambda a: J.cholesky(-a), ("definite",)),
    "cond": (lambda a: (J.cond(a), J.cond(a[:3], 1)), ("tall",)),
    "det": (lambda a: (J.det(a), J.slogdet(a), J.det(a[..., :1, :1])), ("batch",)),
    "eig": (lambda a: J.eig(a), (A,)),
    "eig of a batch": (lambda a: L.eig(a), ("batch",)),
    "eig of NaN": (lambda a: L.eig(a), ("nan",)),
    "eigh": (lambda a: J.eigh(a), ("batch",)),
    "eigh of the upper half": (
        lambda a: L.eigh(a, lower=False, symmetrize_input=False), ("nan below",)),
    "eigvals": (lambda a: (J.eigvals(a), J.eigvalsh(a)), ("batch",)),
    "inv": (lambda a: J.inv(a), ("batch",)),
    "inv of a singular matrix": (lambda a: J.inv(a * 0 + 1), (A,)),
    "lstsq": (lambda a, b: J.lstsq(a, b)[0], ("tall", "tall two")),
    "matrix_power": (lambda a: J.matrix_power(a, -3), (A,)),
    "matrix_rank": (lambda a: J.matrix_rank(a), ("tall",)),
    "norms": (lambda a: (J.norm(a, 2), J.norm(a, "nuc"), J.norm(a, -2)), ("tall",)),
    "pinv": (lambda a: J.pinv(a), ("tall",)),
    "qr": (lambda a: (J.qr(a), J.qr(a, mode="r")), ("tall",)),
    "qr of a wide batch": (lambda a: J.qr(N.swapaxes(a, -1, -2)[..., :2, :]), ("batch",)),
    "qr, complete": (lambda a: (J.qr(a, mode="complete"), J.qr(a, mode="raw")), ("tall",)),
    "qr, pivoted": (lambda a: S.qr(a, pivoting=True, mode="economic"), ("tall",)),
    "qr of nothing": (lambda a: J.qr(a[:, :0], mode="complete"), ("tall",)),
    "solve": (lambda a, b: (J.solve(a, b), J.solve(a, b[:, 0])), (A, B)),
    "svd": (lambda a: (J.svd(a), J.svd(a.T, full_matrices=False)), ("tall",)),
    "svd of a batch": (lambda a: (J.svd(a[..., :2]), J.svdvals(a)), ("batch",)),
    "svd of NaN": (lambda a: J.svd(a), ("nan",)),
    "svd by QR": (lambda a: L.svd(a, algorithm=L.SvdAlgorithm.QR), ("tall",)),
    "svd by QR, thin": (lambda a: L.svd(a, full_matrices=False, algorithm=L.SvdAlgorithm.QR),
                        ("wide",)),
    "singular values by QR": (
        lambda a: L.svd(a, compute_uv=False, algorithm=L.SvdAlgorithm.QR), ("batch",)),
    "tensorinv": (lambda a: J.tensorinv(a.reshape(4, 2, 2), ind=1), (A,)),
    "tensorsolve": (lambda a, v: J.tensorsolve(a.reshape(2, 2, 4), v.reshape(2, 2)), (A, V)),
    "cho_solve": (lambda a, b: S.cho_solve(S.cho_factor(a), b), ("definite", B)),
    "expm": (lambda a: S.expm(a), (A,)),
    "expm_frechet": (lambda a: S.expm_frechet(a, a), (A,)),
    "funm": (lambda a: S.funm(a, N.exp, disp=False)[0], (A,)),
    "hessenberg": (lambda a: S.hessenberg(a, calc_q=True), (A,)),
    "lu": (lambda a: (S.lu(a), S.lu(a.T)), ("tall",)),
    "lu of a batch": (lambda a: L.lu(a), ("batch",)),
    "lu_solve": (lambda a, b: S.lu_solve(S.lu_factor(a), b, trans=1), (A, B)),
    "polar by svd": (lambda a: S.polar(a, method="svd"), (A,)),
    "qr_multiply": (lambda a, b: S.qr_multiply(a, b.T), ("tall", "tall two")),
    "rsf2csf": (lambda a: S.rsf2csf(*S.schur(a)), (A,)),
    "schur": (lambda a: (S.schur(a), S.schur(a, output="complex")), (A,)),
    "scipy's eigh": (lambda a: S.eigh(a), ("definite",)),
    "scipy's solve": (lambda a, b: S.solve(a, b, assume_a="pos"), ("definite", B)),
    "solve_sylvester": (lambda a, b: S.solve_sylvester(a, b.T @ b, b), (A, B)),
    "solve_triangular": (lambda a, b: S.solve_triangular(a, b, lower=True, trans=2), (A, B)),
    "sqrtm": (lambda a: S.sqrtm(a), (A,)),
    "householder_product": (lambda a, v: L.householder_product(a[:, :3], v[:2]), (A, V)),
    "ormqr": (lambda a, v, b: L.ormqr(a[:, :3], v[:3], b, transpose=True), (A, V, B)),
    "ormqr from the right": (lambda a, v, b: L.ormqr(a, v, b.T, left=False), (A, V, B)),
    "tridiagonal": (lambda a: (L.tridiagonal(a), L.tridiagonal(a, lower=False)), ("batch",)),
    "tridiagonal_solve": (lambda a, b: L.tridiagonal_solve(a[0], a[1], a[2], b), (A, B)),
    "tridiagonal_solve of a batch": (
        lambda a, b: L.tridiagonal_solve(a[0], a[1], a[2], b), ("batch", "batch of two")),
    "triangular_solve": (
        lambda a, b: [L.triangular_solve(a, b, left_side=True, lower=lower, transpose_a=turned,
                                         conjugate_a=turned, unit_diagonal=unit)
                      for lower in (True, False) for turned in (True, False)
                      for unit in (True, False)], (A, B)),
    "triangular_solve from the right": (
        lambda a, b: L.triangular_solve(a, b.T, lower=True, conjugate_a=True), (A, B)),
    "gradients": (lambda a: X.grad(lambda x: N.abs(J.det(x)) + N.abs(J.inv(x)).sum())(a), (A,)),
    "in a loop": (lambda a: X.lax.fori_loop(0, 3, lambda i, x: J.inv(x) + x.T, a), (A,)),
    "in a branch": (
        lambda a: X.lax.cond(N.abs(a[0, 0]) > 9, lambda x: J.inv(x), lambda x: J.qr(x)[0], a),
        (A,)),
    "of what is updated": (
        lambda a: (lambda x: (J.inv(x), J.inv(x.at[0, 0].set(9)), x.at[1].set(2), J.det(x)))(
            a + 1), (A,)),
}  # fmt: skip
"""Functions with the names of their arguments; those of numpy.linalg's and scipy.linalg's names."""
REAL_ONLY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "cholesky_update": (lambda a, v: L.cholesky_update(a, v), ("definite below", V)),
    "eigh_tridiagonal": (
        lambda a: S.eigh_tridiagonal(a[0], a[1, :3], eigvals_only=True), (A,)),
}  # fmt: skip


def _arguments(dtype: Any) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        real, imaginary = random.standard_normal((2, *shape))
        is_complex = np.issubdtype(dtype, np.complexfloating)
        return (real + 1j * imaginary if is_complex else real).astype(dtype)

    square, batch = numbers(4, 4), numbers(3, 2, 4, 4)
    definite = (square @ square.conj().T + 4 * np.eye(4)).astype(dtype)
    definite_batch = (batch @ batch.conj().swapaxes(-1, -2) + 4 * np.eye(4)).astype(dtype)
    below = np.tri(4, dtype=bool)
    nan = square.copy()
    nan[1, 2] = np.nan
    return {
        "square": square, "two columns": numbers(4, 2), "vector": numbers(4),
        "tall": numbers(5, 3), "wide": numbers(3, 5), "tall two": numbers(5, 2),
        "batch": batch, "batch of two": numbers(2, 4, 4, 2), "nan": nan,
        "definite": definite, "definite batch": definite_batch,
        "definite below": np.where(below, definite, np.array(np.nan, dtype)),
        "nan below": np.where(below & ~np.eye(4, dtype=bool), np.array(np.nan, dtype), definite),
    }  # fmt: skip


def _main(letter: str, file: str, names: list[str]) -> None:
    global J, S, L, N, X
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy  # pyright: ignore[reportMissingImports]
    import jax.scipy.linalg  # pyright: ignore[reportMissingImports]

    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    J, S, L, N, X = jax.numpy.linalg, jax.scipy.linalg, jax.lax.linalg, jax.numpy, jax
    given = _arguments(DTYPES[letter])
    made = {}
    for name in names:
        function, operands = (FUNCTIONS | REAL_ONLY)[name]
        arguments = [given[each] for each in operands]
        jitted = jax.jit(function, keep_unused=True)
        results = [np.asarray(each) for each in jax.tree.leaves(jitted(*arguments))]
        made[name] = (jitted.lower(*arguments).as_text(), arguments, results)
    Path(file).write_bytes(pickle.dumps(made))


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], sys.argv[3:])
