"""`allow_excess_precision`: f32 between ops on bf16 and f16; rounding to f8 stays what it is."""

import ml_dtypes
import numpy as np
import pytest
from float_cases import tensor

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS


def chain(element: str) -> str:
    """(a + b) - a, in which a rounding of the sum loses b."""
    type_ = tensor([2], element)
    return f"""func.func @main(%a: {type_}, %b: {type_}) -> {type_} {{
      %0 = stablehlo.add %a, %b : {type_}
      %1 = stablehlo.reshape %0 : ({type_}) -> tensor<1x2x{element}>
      %2 = stablehlo.reshape %1 : (tensor<1x2x{element}>) -> {type_}
      %3 = stablehlo.subtract %2, %a : {type_}
      return %3 : {type_}
    }}"""


def run(element: str, *, excess: bool) -> list[float]:
    dtype = FORMATS[element].dtype
    given = [np.array(values).astype(dtype) for values in ([512.0, 1.0], [0.125, 2.0**-11])]
    (got,) = mlir_fp8.compile(chain(element), allow_excess_precision=excess)(*given)
    assert got.dtype == dtype
    return got.astype(np.float64).tolist()


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_roundings_between_ops_are_dropped(element: str) -> None:
    assert run(element, excess=True) == run("f32", excess=True) == [0.125, 2.0**-11]
    assert run(element, excess=False) == [0.0, 0.0]


def test_f8_is_rounded_at_every_op() -> None:
    text = chain("f8E5M2")
    given = [np.array(values, ml_dtypes.float8_e5m2) for values in ([512.0, 1.0], [0.5, 0.001])]
    for excess in (False, True):
        (got,) = mlir_fp8.compile(text, allow_excess_precision=excess)(*given)
        assert got.astype(np.float32).tolist() == [0.0, 0.0]


def test_fake_quantization_stays() -> None:
    text = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
      %1 = stablehlo.convert %0 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    }"""
    x = np.array([1.03, 17.5, -3.3], np.float32)
    (got,) = mlir_fp8.compile(text, allow_excess_precision=True)(x)
    np.testing.assert_array_equal(got, x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32))


@pytest.mark.parametrize("precision", ["bf16", "f16", "tf32"])
def test_the_algorithm_of_a_dot_rounds_its_operands(precision: str) -> None:
    text = f"""func.func @main(%a: tensor<1x1xf32>) -> tensor<1x1xf32> {{
      %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0],
        algorithm = <lhs_precision_type = {precision}, rhs_precision_type = {precision},
        accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
        num_primitive_operations = 1, allow_imprecise_accumulation = false>
        : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
      return %0 : tensor<1x1xf32>
    }}"""
    x = np.array([[1 + 2.0**-12]], np.float32)
    for excess in (False, True):
        (got,) = mlir_fp8.compile(text, allow_excess_precision=excess)(x)
        assert got == 1.0


def test_bf16_between_f32_and_f8_is_left_out() -> None:
    """1.0625 + 2^-9 is above the midpoint of two f8E4M3FN numbers, its bf16 the midpoint itself."""
    text = """func.func @main(%a: tensor<f32>) -> tensor<f8E4M3FN> {
      %0 = stablehlo.convert %a : (tensor<f32>) -> tensor<bf16>
      %1 = stablehlo.convert %0 : (tensor<bf16>) -> tensor<f8E4M3FN>
      return %1 : tensor<f8E4M3FN>
    }"""
    x = np.array(1.0625 + 2.0**-9, np.float32)
    results = [mlir_fp8.compile(text, allow_excess_precision=e)(x)[0] for e in (False, True)]
    assert [float(result) for result in results] == [1.0, 1.125]
