"""cholesky and triangular_solve as native code, against numpy; the other triangle holds NaNs."""

from itertools import product

import numpy as np
import pytest

import mlir_fp8

TYPES = {"f32": (np.float32, 1e-5), "f64": (np.float64, 1e-13),
         "complex<f32>": (np.complex64, 1e-5), "complex<f64>": (np.complex128, 1e-13)}  # fmt: skip


def _tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _random(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    generator = np.random.default_rng(7)
    numbers = generator.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        numbers = numbers + 1j * generator.standard_normal(shape)
    return numbers.astype(dtype)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4), (0, 3, 3), (2, 0, 0)])
def test_cholesky(shape: tuple[int, ...], element: str, lower: bool) -> None:
    dtype, bound = TYPES[element]
    root = _random(shape, dtype)
    matrix = root @ root.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype)
    triangle = np.tril(np.ones(shape[-2:], bool))
    triangle = triangle if lower else triangle.T
    tensor = _tensor(shape, element)
    compiled = mlir_fp8.compile(f"""func.func @main(%x: {tensor}) -> {tensor} {{
      %0 = stablehlo.cholesky %x, lower = {str(lower).lower()} : {tensor}
      return %0 : {tensor}
    }}""")
    (got,) = compiled(np.where(triangle, matrix, np.nan).astype(dtype))
    want = np.linalg.cholesky(matrix) if shape[-1] else matrix
    want = want if lower else want.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound)


def test_what_is_not_positive_definite_is_nan() -> None:
    compiled = mlir_fp8.compile("""func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }""")
    (got,) = compiled(np.array([[4, 2], [2, -1]], np.float32))
    np.testing.assert_array_equal(got, np.array([[2, 0], [1, np.nan]], np.float32))


FORMS = list(product([True, False], [True, False], [True, False],
                     ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]))  # fmt: skip


@pytest.mark.parametrize("element", ["f32", "complex<f64>"])
def test_triangular_solve(element: str) -> None:
    """All forms in one module: sides, triangles, diagonals, transposes."""
    dtype, bound = TYPES[element]
    a = _random((2, 4, 4), dtype) + 4 * np.eye(4, dtype=dtype)
    right, left = _random((2, 4, 3), dtype), _random((2, 3, 4), dtype)
    types = [_tensor(each.shape, element) for each in (a, right, left)]
    arguments = [f"%a{i}: {types[0]}" for i in range(len(FORMS))]
    lines, inputs, wanted = [], [], []
    for number, (is_left, lower, unit, transpose) in enumerate(FORMS):
        b, type_ = ("%b", types[1]) if is_left else ("%c", types[2])
        lines.append(
            f'%r{number} = "stablehlo.triangular_solve"(%a{number}, {b}) {{'
            f"left_side = {str(is_left).lower()}, lower = {str(lower).lower()},"
            f" unit_diagonal = {str(unit).lower()},"
            f" transpose_a = #stablehlo<transpose {transpose}>}}"
            f" : ({types[0]}, {type_}) -> {type_}"
        )
        kept = np.tril(np.ones((4, 4), bool), -1 if unit else 0)
        kept = kept if lower else kept.T
        inputs.append(np.where(kept, a, np.nan).astype(dtype))
        matrix = np.where(kept, a, 0) + (np.eye(4) if unit else 0)
        if transpose != "NO_TRANSPOSE":
            matrix = matrix.swapaxes(-1, -2)
        if transpose == "ADJOINT":
            matrix = matrix.conj()
        wanted.append(
            np.linalg.solve(matrix, right)
            if is_left
            else np.linalg.solve(matrix.swapaxes(-1, -2), left.swapaxes(-1, -2)).swapaxes(-1, -2)
        )
    results = [types[1] if form[0] else types[2] for form in FORMS]
    names = ", ".join(f"%r{number}" for number in range(len(FORMS)))
    body = "\n".join(lines)
    compiled = mlir_fp8.compile(f"""
      func.func @main({", ".join(arguments)}, %b: {types[1]}, %c: {types[2]})
        -> ({", ".join(results)}) {{
        {body}
        return {names} : {", ".join(results)}
      }}""")
    for form, got, want in zip(FORMS, compiled(*inputs, right, left), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=bound, atol=bound, err_msg=str(form))


@pytest.mark.parametrize("element", ["f8E4M3FN", "bf16"])
def test_narrow_floats_compute_in_f32(element: str) -> None:
    compiled = mlir_fp8.compile(f"""
      func.func @main(%x: tensor<2x2x{element}>, %b: tensor<2x1x{element}>)
        -> (tensor<2x2x{element}>, tensor<2x1x{element}>) {{
        %0 = stablehlo.cholesky %x, lower = true : tensor<2x2x{element}>
        %1 = "stablehlo.triangular_solve"(%x, %b) {{left_side = true, lower = true,
          unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}
          : (tensor<2x2x{element}>, tensor<2x1x{element}>) -> tensor<2x1x{element}>
        return %0, %1 : tensor<2x2x{element}>, tensor<2x1x{element}>
      }}""")
    dtype = compiled.arguments[0].dtype
    factor, solution = compiled(
        np.array([[4, 0], [3, 5]]).astype(dtype), np.array([[2], [3]]).astype(dtype)
    )
    want = np.array([[2, 0], [1.5, np.sqrt(np.float32(2.75))]]).astype(dtype)
    np.testing.assert_array_equal(factor.astype(np.float32), want.astype(np.float32))
    want = np.array([[0.5], [np.float32(0.3)]]).astype(dtype)
    np.testing.assert_array_equal(solution.astype(np.float32), want.astype(np.float32))
