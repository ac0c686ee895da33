"""Factorizations by LAPACK, in the custom calls that JAX makes of them; solvers.py uses them.

Matrices that have no factorization give NaN where PyTorch raises.
"""

from typing import Any

import torch

from mlir_fp8.torch.decompositions.elementwise import like
from mlir_fp8.torch.decompositions.lapack import call, column_major
from mlir_fp8.torch.functions import Body, writes

_aten = torch.ops.aten


@writes(_aten.linalg_cholesky_ex.default)
def cholesky(body: Body) -> None:
    """The triangle of `potrf`, and where it failed."""
    matrix, info = body.outputs
    is_upper = bool(body.argument("upper", 1, False))
    options = f"uplo = {ord('U' if is_upper else 'L')} : ui8"
    made = call(body, "potrf", ["%arg0"], [matrix], [matrix, info], options)
    body.give(_triangle(body, _whole(body, f"{made}#0", f"{made}#1"), is_upper), f"{made}#1")


def _whole(body: Body, value: str, info: str) -> str:
    """`value`, NaN where `info` is not 0."""
    type_, flags = body.outputs[0], body.outputs[-1]
    bools = like(flags, "i1")
    zero = body.constant(0, flags)
    types = f"({flags}, {flags}) -> {bools}"
    is_right = body.let(f"stablehlo.compare EQ, {info}, {zero}, SIGNED : {types}")
    wide = like(type_, "i1")
    dims = [*range(flags.rank)]
    text = f"stablehlo.broadcast_in_dim {is_right}, dims = {dims} : ({bools}) -> {wide}"
    is_right = body.let(text)
    nan = body.constant(_nan(type_), type_)
    return body.let(f"stablehlo.select {is_right}, {value}, {nan} : {wide}, {type_}")


def _nan(type_: Any) -> str:
    bits = "0x7FF8000000000000" if "f64" in str(type_) else "0x7FC00000"
    return f"({bits}, {bits})" if "complex" in str(type_) else bits


def _triangle(body: Body, value: str, is_upper: bool) -> str:
    type_ = body.outputs[0]
    places, bools = like(type_, "i32"), like(type_, "i1")
    row, column = (
        body.let(f"stablehlo.iota dim = {type_.rank - each} : {places}") for each in (2, 1)
    )
    kind = "LE" if is_upper else "GE"
    types = f"({places}, {places}) -> {bools}"
    is_inside = body.let(f"stablehlo.compare {kind}, {row}, {column}, SIGNED : {types}")
    zero = body.constant("(0.0, 0.0)" if "complex" in str(type_) else "0.0", type_)
    return body.let(f"stablehlo.select {is_inside}, {value}, {zero} : {bools}, {type_}")


@writes(_aten.linalg_lu_factor_ex.default)
def lu_factor(body: Body) -> None:
    """`getrf`: both factors in one matrix, pivots from 1 on, and the first zero pivot."""
    made = call(body, "getrf", ["%arg0"], [body.inputs[0]], body.outputs, "")
    body.give(f"{made}#0", f"{made}#1", f"{made}#2")


@writes(_aten.geqrf.default)
def qr_packed(body: Body) -> None:
    """`geqrf`: R above, the vectors of reflectors below, and their factors."""
    made = call(body, "geqrf", ["%arg0"], [body.inputs[0]], body.outputs, "")
    body.give(f"{made}#0", f"{made}#1")


@writes(_aten.linalg_householder_product.default)
def householder(body: Body) -> None:
    """`orgqr`: the product of reflectors."""
    name = "ungqr" if "complex" in str(body.outputs[0]) else "orgqr"
    made = call(body, name, ["%arg0", "%arg1"], body.inputs, body.outputs, "")
    body.give(made)


@writes(_aten._linalg_eigh.default)
def eigh(body: Body) -> None:
    """`syevd`: eigenvalues upwards, and vectors."""
    values, _ = body.outputs
    (matrix,) = body.inputs
    options = f"mode = 86 : ui8, uplo = {ord(str(body.argument('UPLO', 1, 'L')))} : ui8"
    name = "heevd" if "complex" in str(matrix) else "syevd"
    info = _info_of(matrix)
    made = call(body, name, ["%arg0"], [matrix], [matrix, values, info], options)
    body.give(f"{made}#1", f"{made}#0")


@writes(_aten._linalg_svd.default)
def svd(body: Body) -> None:
    """`gesdd`: vectors, singular values downwards, vectors."""
    _, values, _ = body.outputs
    (matrix,) = body.inputs
    is_full = bool(body.argument("full_matrices", 1, False))
    rows, columns = matrix.shape[-2:]
    small = min(rows, columns)
    made_left = column_major(matrix, (rows, rows if is_full else small))
    made_right = column_major(matrix, (columns if is_full else small, columns))
    options = f"mode = {ord('A' if is_full else 'S')} : ui8"
    types = [matrix, values, made_left, made_right, _info_of(matrix)]
    made = call(body, "gesdd", ["%arg0"], [matrix], types, options)
    if not body.argument("compute_uv", 2, True):
        empty = [_empty(body, each) for each in (body.outputs[0], body.outputs[2])]
        body.give(empty[0], f"{made}#1", empty[1])
        return
    body.give(f"{made}#2", f"{made}#1", f"{made}#3")


def _empty(body: Body, type_: Any) -> str:
    return body.constant("(0.0, 0.0)" if "complex" in str(type_) else "0.0", type_)


def _info_of(matrix: Any) -> str:
    return f"tensor<{'x'.join([*map(str, matrix.shape[:-2]), 'i32'])}>"
