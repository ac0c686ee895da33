"""Products of few rows by f8 weights: values of the kernel's PTX, by the interpreter."""

import dataclasses

import few_rows_cases as cases
import numpy as np
import pytest

from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue

ODD = FewRows(3, 21, 77, along=2, steps=1, stages=2)
SHAPES = [
    FewRows(1, 16, 1024),
    FewRows(1, 40, 1040, "f8E4M3FN", along=2, across=2, steps=1, stages=2),
    FewRows(2, 16, 16, "f8E5M2", "f8E4M3FN", along=1),
    FewRows(4, 33, 333, "f32", "f8E5M2", along=2),
    FewRows(7, 16, 260, "f16", along=2, steps=2, stages=4, prefetch=0),
    FewRows(8, 32, 512, "f8E4M3FN", "f8E5M2", along=2, steps=2, stages=4, split=2),
    FewRows(9, 48, 272, "bf16", tiles=3, along=1, steps=1, stages=3, prefetch=256),
    FewRows(20, 70, 528, "bf16", tiles=2, across=2, along=1, steps=1, stages=2, split=4),
    FewRows(33, 16, 144, "f32", along=1, steps=1, stages=2),
    FewRows(64, 64, 192, "f8E4M3FN", tiles=2, across=2, along=1, steps=1, stages=2),
    FewRows(63, 1, 1, "bf16", along=1, steps=1, stages=2),
    dataclasses.replace(ODD, a_type="f8E4M3FN"),
    dataclasses.replace(ODD, a_type="f16", k=1),
    dataclasses.replace(ODD, a_type="f32", k=78, split=2),
    # Of weights [k, n]:
    FewRows(1, 128, 160, "f16", along=1, tiles=8, steps=1, stages=2, k_major=False),
    FewRows(9, 96, 333, "f8E4M3FN", tiles=2, across=2, along=2, steps=1, stages=2, k_major=False),
    FewRows(5, 33, 70, "f32", "f8E5M2", tiles=4, along=1, steps=1, stages=2, k_major=False),
    FewRows(2, 40, 272, "bf16", tiles=4, along=2, steps=1, stages=3, split=2, k_major=False),
]


def _name(shape: FewRows) -> str:
    order = "nk" if shape.k_major else "kn"
    return f"{shape.rows}x{shape.n}x{shape.k}-{shape.a_type}-{shape.b_format}-{order}"


@pytest.mark.parametrize("shape", SHAPES, ids=_name)
def test_sums_of_integers_are_exact(shape: FewRows) -> None:
    a = cases.integers((shape.rows, shape.k), shape.a_type, 1)
    b = cases.integers((shape.n, shape.k), shape.b_format, 2)
    np.testing.assert_array_equal(cases.run(shape, a, b), cases.product(a, b))


@pytest.mark.parametrize("shape", [*SHAPES[1:8], *SHAPES[-3:]], ids=_name)
def test_other_sums_are_within_their_bound(shape: FewRows) -> None:
    a = cases.numbers((shape.rows, shape.k), shape.a_type, 3)
    b = cases.numbers((shape.n, shape.k), shape.b_format, 4)
    distance = np.abs(cases.run(shape, a, b) - cases.product(a, b))
    assert (distance <= cases.bound(shape, a, b)).all()
    assert (distance[1:] > 0).any() or shape.rows == 1


def test_an_f32_activation_keeps_all_its_bits() -> None:
    """A sum of one product each, whose 24 bits times 4 are exact."""
    shape = FewRows(4, 16, 64, "f32", along=1, steps=1, stages=2)
    a = np.zeros((4, 64), np.float32)
    a[:, 5] = [1 + 2**-23, -(2 - 2**-23), 2.0**-100 * (1 + 2**-23), -3.4028235e38]
    b = np.zeros((16, 64), np.float32)
    b[:, 5] = 0.5
    b = b.astype(cases.TYPES["f8E4M3FN"])
    np.testing.assert_array_equal(cases.run(shape, a, b), cases.product(a, b))


@pytest.mark.parametrize("a_type", ["f8E4M3FN", "f8E5M2", "bf16", "f16", "f32"])
@pytest.mark.parametrize("format_", ["f8E4M3FN", "f8E5M2"])
def test_all_codes_of_weights(a_type: str, format_: str) -> None:
    """Each times 1, -1, 0, and what of infinity and NaN the activation's type has."""
    shape = FewRows(5, 256, 16, a_type, format_, along=1, across=2, steps=1, stages=2)
    codes = np.arange(256, dtype=np.uint8).view(cases.TYPES[format_])
    b = np.zeros((256, 16), codes.dtype)
    b[:, 3] = codes
    a = np.zeros((5, 16), np.float32)
    a[:, 3] = [1, -1, 0, np.inf, np.nan]
    a = a.astype(cases.TYPES[a_type])
    found = cases.run(shape, a, b)
    np.testing.assert_array_equal(found, cases.product(a, b))
    assert not np.signbit(found[:2][:, codes.astype(np.float32) == 0]).any()  # 0 + -0


@pytest.mark.parametrize("sign", [0, 0x80000000])
def test_nan_and_infinity_of_f32_activations(sign: int) -> None:
    """Those of a NaN are in the lower half alone; infinity times finite is infinite."""
    shape = FewRows(2, 16, 16, "f32", "f8E5M2", along=1, steps=1, stages=2)
    a = np.ones((2, 16), np.float32)
    a.view(np.uint32)[:, 2] = [0x7F800001 | sign, 0x7F800000 | sign]
    b = np.ones((16, 16), np.float32).astype(cases.TYPES["f8E5M2"])
    found = cases.run(shape, a, b)
    assert np.isnan(found[0]).all()
    assert (found[1] == (-np.inf if sign else np.inf)).all()


def test_the_sum_is_the_same_for_each_row_alone() -> None:
    """Rows behind the last are neither read nor stored."""
    many = FewRows(11, 16, 256, "bf16", along=2, steps=1, stages=2)
    a = cases.numbers((11, 256), "bf16", 5)
    b = cases.numbers((16, 256), "f8E4M3FN", 6)
    found = cases.run(many, a, b)
    for row in (0, 10):
        one = cases.run(dataclasses.replace(many, rows=1), a[row : row + 1], b)
        np.testing.assert_array_equal(one[0], found[row])


EPILOGUES = [
    Epilogue("tensor", "tensor", result="bf16"),
    Epilogue("row", "column", bias="f32"),
    Epilogue("", "column", "bf16", "bf16", 0.5, "bf16", "relu", result="bf16"),
    Epilogue("row", "tensor", "f32", "f16", None, "f16", result="f16"),
]


@pytest.mark.parametrize("steps", EPILOGUES)
def test_scales_bias_and_activation_round_as_the_op_says(steps: Epilogue) -> None:
    shape = FewRows(3, 24, 80, "f8E4M3FN", epilogue=steps, along=2, steps=1, stages=2)
    generator = np.random.default_rng(7)
    a = cases.integers((3, 80), "f8E4M3FN", 8)
    b = cases.integers((24, 80), "f8E4M3FN", 9)
    sizes = {"": 0, "tensor": 1, "row": 3, "column": 24}
    scales = [
        generator.uniform(0.5, 2, sizes[kind]).astype(np.float32)
        for kind in (steps.a_scale, steps.b_scale)
    ]
    x = cases.product(a, b).astype(np.float32)
    if steps.a_scale:
        x = x * scales[0][:, None]
    if steps.b_scale:
        x = x * scales[1]
    x = x.astype(cases.TYPES[steps.dot_type]).astype(cases.TYPES[steps.type])
    if steps.alpha is not None:
        x = x * cases.TYPES[steps.type](steps.alpha)
    others = [each for each in scales if len(each)]
    if steps.bias:
        bias = generator.standard_normal(24).astype(cases.TYPES[steps.bias])
        x = x + bias.astype(x.dtype)
        others.append(bias)
    if steps.activation == "relu":
        x = np.maximum(x, x.dtype.type(0))
    np.testing.assert_array_equal(
        cases.run(shape, a, b, others), x.astype(cases.TYPES[steps.result])
    )
