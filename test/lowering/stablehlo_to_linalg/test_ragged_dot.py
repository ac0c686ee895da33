"""chlo.ragged_dot in its three modes, with products in f32 and one rounding."""

import numpy as np
import pytest
from float_cases import call, compile_ops, tensor

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype

MODES = {  # shapes of the operands and of the result
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
    " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]": ((7, 3), (3, 3, 5), (7, 5)),
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],"
    " lhs_ragged_dimensions = [1]": ((4, 7), (7, 5), (3, 4, 5)),
    "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],"
    " lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1],"
    " lhs_ragged_dimensions = [0]": ((3, 4, 7), (3, 7, 5), (3, 4, 5)),
}
SIZES = np.array([2, 0, 4])


def reference(a: np.ndarray, b: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if a.ndim == 3:
        return a @ b
    want = np.zeros(shape, a.dtype)
    for group, (start, size) in enumerate(zip(np.cumsum(SIZES) - SIZES, SIZES, strict=True)):
        part = slice(start, start + size)
        if b.ndim == 3:
            want[part] = a[part] @ b[group]
        else:
            want[group] = a[:, part] @ b[part]
    return want


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("element", "result"),
    [
        ("f32", "f32"),
        ("bf16", "bf16"),
        ("f8E4M3FN", "f32"),
        ("f8E5M2", "f8E5M2"),
        ("i8", "i32"),
        ("complex<f32>", "complex<f32>"),
    ],
)
def test_ragged_dot(element: str, result: str) -> None:
    generator = np.random.default_rng(5)
    for mode, (lhs, rhs, shape) in MODES.items():
        a, b = (
            generator.integers(-3, 5, each).astype(element_dtype(element)) for each in (lhs, rhs)
        )
        types = [tensor(lhs, element), tensor(rhs, element), "tensor<3xi64>"]
        attributes = f"{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{mode}>}}"
        op = call("chlo.ragged_dot", types, tensor(shape, result), attributes)
        (got,) = compile_ops(types, [op])(a, b, SIZES)
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        want = reference(a.astype(wide), b.astype(wide), shape).astype(got.dtype)
        assert got.tobytes() == (want + got.dtype.type(0)).tobytes(), mode


SPREAD = [[200, 2, 98, 0], [0, 0, 0, 0], [0, 64, 65, 171], [8, 9, 96, 97], [300, 0, 0, 0]]
"""Sizes of groups of 300 rows: each size of tile, whole and begun, rows of no group, all of one."""


@pytest.mark.parametrize("turned", [False, True])
def test_rows_by_tiles(turned: bool) -> None:
    """Products that are worth kernels, in place in a slice of the operand, transposed or not."""
    a, b = _operands((300, 40), (4, 40, 24))
    given = "tensor<4x24x40xf32>" if turned else "tensor<4x40x24xf32>"
    matrices = "%b"
    lines = ""
    if turned:
        matrices = "%0"
        lines = f"%0 = stablehlo.transpose %b, dims = [0, 2, 1] : ({given}) -> tensor<4x40x24xf32>"
    mode = (
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
        " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"
    )
    compiled = mlir_fp8.compile(
        f"""func.func @main(%a: tensor<300x40xf32>, %b: {given}, %s: tensor<4xi32>)
            -> tensor<300x24xf32> {{
          {lines}
          %r = "chlo.ragged_dot"(%a, {matrices}, %s)
            {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{mode}>}}
            : (tensor<300x40xf32>, tensor<4x40x24xf32>, tensor<4xi32>) -> tensor<300x24xf32>
          return %r : tensor<300x24xf32>
        }}"""
    )
    for sizes in SPREAD:
        want = np.zeros((300, 24), np.float32)
        ends = np.cumsum(sizes)
        for group, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            want[end - size : end] = a[end - size : end] @ b[group]
        given_b = np.ascontiguousarray(b.transpose(0, 2, 1)) if turned else b
        (got,) = compiled(a, given_b, np.array(sizes, np.int32))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_by_tiles(threads: int) -> None:
    """NaN outside of all groups is not added."""
    a, b = _operands((300, 40), (300, 24))
    a[298:] = np.nan
    mode = (
        "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0],"
        " lhs_ragged_dimensions = [0]"
    )
    compiled = mlir_fp8.compile(
        f"""func.func @main(%a: tensor<300x40xf32>, %b: tensor<300x24xf32>, %s: tensor<4xi64>)
            -> tensor<4x40x24xf32> {{
          %r = "chlo.ragged_dot"(%a, %b, %s)
            {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{mode}>}}
            : (tensor<300x40xf32>, tensor<300x24xf32>, tensor<4xi64>) -> tensor<4x40x24xf32>
          return %r : tensor<4x40x24xf32>
        }}""",
        threads=threads,
    )
    for sizes in ([200, 2, 96, 0], [0, 0, 0, 0], [64, 65, 0, 169]):
        (got,) = compiled(a, b, np.array(sizes))
        ends = np.cumsum(sizes)
        for group, (end, size) in enumerate(zip(ends, sizes, strict=True)):
            part = slice(end - size, end)
            np.testing.assert_array_equal(got[group], a[part].T @ b[part])


def _operands(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Small whole numbers, whose sums are exact."""
    generator = np.random.default_rng(11)
    return [generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
