"""chlo.ragged_dot in its three modes, with products in f32 and one rounding."""

import numpy as np
import pytest
from float_cases import call, compile_ops, tensor

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
    want = np.zeros(shape)
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
    [("f32", "f32"), ("bf16", "bf16"), ("f8E4M3FN", "f32"), ("f8E5M2", "f8E5M2"), ("i8", "i32")],
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
        want = reference(a.astype(np.float64), b.astype(np.float64), shape).astype(got.dtype)
        assert got.tobytes() == (want + got.dtype.type(0)).tobytes(), mode
