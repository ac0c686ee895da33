"""Every known `algorithm` of dot_general: as exact as it says, or refused by name."""

import numpy as np
import pytest
from float_cases import compile_ops, tensor

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

# Precision of the operands, how many products, and the relative L2 error between which it lies.
KNOWN = [
    ("bf16", 1, 1e-3, 5e-3),
    ("bf16", 3, 3e-6, 5e-5),
    ("bf16", 6, 0.0, 2e-7),
    ("bf16", 9, 0.0, 2e-7),
    ("tf32", 1, 1e-4, 6e-4),
    ("tf32", 3, 1e-7, 1e-6),
    ("f16", 1, 1e-4, 6e-4),
    ("f32", 1, 0.0, 3e-7),
]


def dot(precision: str, products: int, types: list[str], result: str, sums_in: str = "f32") -> str:
    return (
        "stablehlo.dot_general %0, %1, contracting_dims = [1] x [0],"
        f" algorithm = <lhs_precision_type = {precision}, rhs_precision_type = {precision},"
        f" accumulation_type = {sums_in}, lhs_component_count = 1, rhs_component_count = 1,"
        f" num_primitive_operations = {products}, allow_imprecise_accumulation = false>"
        f" : ({', '.join(types)}) -> {result}"
    )


def run(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    types = [tensor(array.shape, "f32") for array in (a, b)]
    result = tensor([a.shape[0], b.shape[1]], "f32")
    ops = [(dot(precision, products, types, result), result) for precision, products, *_ in KNOWN]
    return list(compile_ops(types, ops)(a, b))


def test_errors_are_those_of_the_algorithm() -> None:
    generator = np.random.default_rng(0)
    a = generator.standard_normal((8, 64)).astype(np.float32)
    b = generator.standard_normal((64, 8)).astype(np.float32)
    want = a.astype(np.float64) @ b.astype(np.float64)
    for (precision, products, low, high), got in zip(KNOWN, run(a, b), strict=True):
        error = np.linalg.norm(got - want) / np.linalg.norm(want)
        assert low <= error <= high, f"{precision} {products}: {error}"


def test_numbers_without_low_pieces_are_exact() -> None:
    a = np.random.default_rng(1).integers(-9, 9, (5, 7)).astype(np.float32)
    b = np.random.default_rng(2).integers(-9, 9, (7, 3)).astype(np.float32)
    for got in run(a, b):
        np.testing.assert_array_equal(got, a @ b)


def test_what_is_not_finite_is_that_of_f32() -> None:
    payload = np.array(0x7F800001, np.uint32).view(np.float32)  # its leading bits are infinity's
    a = np.array([[np.inf, -np.inf, np.nan, payload, 0.0, 1.2345678]], np.float32).T
    b = np.array([[1.0, -1.2345678, 0.0, np.inf]], np.float32)
    with np.errstate(invalid="ignore"):
        want = a * b
    for (precision, products, *_), got in zip(KNOWN, run(a, b), strict=True):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), f"{precision} {products}")
        np.testing.assert_array_equal(
            got[np.isinf(want)], want[np.isinf(want)], f"{precision} {products}"
        )
        np.testing.assert_array_equal(np.isinf(got), np.isinf(want), f"{precision} {products}")


def test_the_largest_number_is_cut_not_rounded_to_infinity() -> None:
    largest = np.array([[np.finfo(np.float32).max]], np.float32)
    for (precision, products, *_), got in zip(KNOWN, run(largest, largest / largest), strict=True):
        assert np.isfinite(got) == (products > 1 or precision == "f32"), f"{precision} {products}"


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_f8_algorithms(element: str) -> None:
    a = np.random.default_rng(3).integers(-3, 5, (4, 9)).astype(FORMATS[element].dtype)
    types = [tensor(a.shape, element), tensor(a.T.shape, element)]
    op = (dot(element, 1, types, "tensor<4x4xf32>"), "tensor<4x4xf32>")
    (got,) = compile_ops(types, [op])(a, np.ascontiguousarray(a.T))
    np.testing.assert_array_equal(got, a.astype(np.float32) @ a.astype(np.float32).T)


def test_f64() -> None:
    a = np.random.default_rng(4).standard_normal((4, 9))
    types = [tensor(a.shape, "f64"), tensor(a.T.shape, "f64")]
    op = (dot("f64", 1, types, "tensor<4x4xf64>", "f64"), "tensor<4x4xf64>")
    (got,) = compile_ops(types, [op])(a, np.ascontiguousarray(a.T))
    np.testing.assert_allclose(got, a @ a.T, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("element", ["i64", "ui64"])
@pytest.mark.parametrize(("precision", "sums_in"), [("tf32", "f32"), ("f16", "f16")])
def test_nothing_to_integers(element: str, precision: str, sums_in: str) -> None:
    """(2^40 + 1) * 3 + 1 and products that wrap around: no f32, nor f16, holds them."""
    types = [tensor([1, 2], element), tensor([2, 2], element)]
    op = (dot(precision, 1, types, f"tensor<1x2x{element}>", sums_in), f"tensor<1x2x{element}>")
    dtype = np.dtype("uint64" if element == "ui64" else "int64")
    a, b = np.array([[2**40 + 1, 1]], dtype), np.array([[3, 2**24], [1, 2]], dtype)
    (got,) = compile_ops(types, [op])(a, b)
    assert got.tolist() == [[3 * 2**40 + 4, 2**24 + 2]]


def test_complex_operands_are_refused() -> None:
    type_ = tensor([2, 2], "complex<f32>")
    with pytest.raises(Fp8Error, match="has an algorithm for floats, but tensor<2x2x"):
        compile_ops([type_] * 2, [(dot("f32", 1, [type_] * 2, type_), type_)])
