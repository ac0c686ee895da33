"""`fp8-to-quantized-types` and `fp8-from-quantized-types` against numpy."""

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8 import Fp8Error, StaticScaling
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.passes.pass_pipeline import run_pipeline

F8 = ml_dtypes.float8_e4m3fn


def passed(module: ir.Module | str, *passes: str) -> ir.Module:
    made = copy_of(mlir_fp8.load(module) if isinstance(module, str) else module)
    run_pipeline(made, list(passes))
    return made


def f8(x: np.ndarray, scale: np.ndarray | np.float32) -> np.ndarray:
    return np.clip(x / scale, -448, 448).astype(F8).astype(np.float32) * scale


W8A8 = """
!x = !quant.uniform<u8:f32, 0.02:117>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.01, 0.02, 0.005}>
!sum = !quant.uniform<i32:f32:1, {0.0002, 0.0004, 0.0001}>
!y = !quant.uniform<u8:f32, 0.05>
func.func @main(%x: tensor<5x7x!x>, %w: tensor<7x3x!w>) -> tensor<5x3x!y> {
  %0 = call @layer(%x, %w) : (tensor<5x7x!x>, tensor<7x3x!w>) -> tensor<5x3x!y>
  return %0 : tensor<5x3x!y>
}
func.func private @layer(%x: tensor<5x7x!x>, %w: tensor<7x3x!w>) -> tensor<5x3x!y> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<5x7x!x>, tensor<7x3x!w>) -> tensor<5x3x!sum>
  %1 = stablehlo.uniform_quantize %0 : (tensor<5x3x!sum>) -> tensor<5x3x!y>
  return %1 : tensor<5x3x!y>
}
"""


def test_integers_become_fp8() -> None:
    """A layer whose result's range, from 0 on, is a rectifier."""
    module = passed(W8A8, "fp8-from-quantized-types")
    assert '"fp8.scaled_dot"' in str(module) and "xi32" not in str(module)
    compiled = mlir_fp8.compile(module)
    assert [spec.element for spec in (*compiled.arguments, *compiled.results)] == [
        "ui8", "i8", "ui8",
    ]  # fmt: skip
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (5, 7)).astype(np.uint8)
    w = random.integers(-127, 128, (7, 3)).astype(np.int8)
    scale = np.array([0.01, 0.02, 0.005], np.float32)
    numbers = (x.astype(np.int64) - 117).astype(np.float32) * np.float32(0.02)
    a = f8(numbers, np.float32(0.02 * 138 / 448))
    b = f8(w.astype(np.float32) * scale, (np.array([0.01, 0.02, 0.005]) * 127 / 448).astype("f"))
    y = f8(np.clip(a.astype(np.float64) @ b, 0, 12.75), np.float32(0.05 * 255 / 448))
    want = np.round(np.clip(y / np.float32(0.05), 0, 255))
    (got,) = compiled(x, w)
    assert (np.abs(got.astype(np.int64) - want) <= 1).all()  # sums in another order
    assert (got == want).mean() > 0.9 and (want == 0).any()
    wide = (x.astype(np.float64) - 117) * 0.02 @ (w * scale.astype(np.float64))
    loss = (y - np.clip(wide, 0, 12.75)) / np.abs(wide).max()
    assert np.abs(loss).max() < 0.05


def test_loss_of_constants_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    text = """func.func @main() -> tensor<4xf32> {
      %0 = "stablehlo.constant"() {value = dense<[1, -77, 127, 3]> : tensor<4xi8>}
        : () -> tensor<4x!quant.uniform<i8<-127:127>:f32, 0.5>>
      %1 = stablehlo.uniform_dequantize %0
        : (tensor<4x!quant.uniform<i8<-127:127>:f32, 0.5>>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }"""
    module = passed(text, "fp8-from-quantized-types{remarks}")
    exact = np.array([1, -77, 127, 3]) * np.float32(0.5)
    scale = np.float32(0.5 * 127 / 448)
    (got,) = mlir_fp8.compile(module)()
    np.testing.assert_array_equal(got, f8(exact, scale))
    decibel = 10 * np.log10((exact**2).sum() / ((got - exact) ** 2).sum())
    assert f"becomes f8E4M3FN: SQNR {decibel:.1f} dB" in capfd.readouterr().err
    back = passed(module, "fp8-to-quantized-types{remarks}")
    (again,) = mlir_fp8.compile(back)()
    step = np.float32(np.abs(got).max() / np.float32(127))
    np.testing.assert_allclose(again, np.round(got / step) * step, rtol=1e-7)
    assert "becomes i8: SQNR" in capfd.readouterr().err


MATRICES = """func.func @main(%a: tensor<6x40xf32>, %b: tensor<40x5xf32>) -> tensor<6x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<6x40xf32>, tensor<40x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}"""


@pytest.mark.parametrize(("storage", "largest"), [("i8", 127), ("i4", 7)])
def test_fp8_becomes_integers(storage: str, largest: int) -> None:
    made = mlir_fp8.quantize(MATRICES, StaticScaling(scales={"dot0.lhs": 0.01, "dot0.rhs": 0.02}))
    module = passed(made.module, f"fp8-to-quantized-types{{storage={storage}}}")
    assert "fp8." not in str(module) and "quant.uniform<i32:f32, " in str(module)
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(shape).astype(np.float32) * 2 for shape in ((6, 40), (40, 5)))
    a[0, 0] = 1e9
    steps = [np.float32(float(np.float32(s)) * 448 / largest) for s in (0.01, 0.02)]
    codes = [
        np.round(np.clip(x / s, -largest, largest)).astype(np.int64)
        for x, s in zip((a, b), steps, strict=True)
    ]
    factor = np.float32(float(steps[0]) * float(steps[1]))
    want = (codes[0] @ codes[1]).astype(np.float32) * factor
    np.testing.assert_array_equal(mlir_fp8.compile(module)(a, b)[0], want)
    found = mlir_fp8.interpret(module, a, b)[0]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-3)


def test_weights_per_channel_and_their_moves() -> None:
    w = np.random.default_rng(2).standard_normal((5, 40)).astype(np.float32)
    w[3] = 0
    dense = np.array2string(w, separator=",", threshold=10**6, floatmode="unique")
    text = f"""func.func @main(%a: tensor<6x40xf32>) -> tensor<6x5xf32> {{
      %w = stablehlo.constant dense<{dense}> : tensor<5x40xf32>
      %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<5x40xf32>) -> tensor<40x5xf32>
      %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0]
        : (tensor<6x40xf32>, tensor<40x5xf32>) -> tensor<6x5xf32>
      return %0 : tensor<6x5xf32>
    }}"""
    made = mlir_fp8.quantize(
        text, StaticScaling(scales={"dot0.lhs": 0.01}), weights="constants", wide=()
    )
    module = passed(made.module, "fp8-to-quantized-types")
    printed = str(module)
    assert "tensor<40x5x!quant.uniform<i8<-127:127>:f32:1, {" in printed and " fp8." not in printed
    a = np.random.default_rng(3).standard_normal((6, 40)).astype(np.float32)
    amax = np.abs(w).max(1, keepdims=True)
    scale = np.where(amax == 0, np.float32(1), amax / np.float32(448))
    numbers = f8(w, scale)
    steps = np.where(
        amax == 0, np.float32(1), np.abs(numbers).max(1, keepdims=True) / np.float32(127)
    )
    codes = np.round(numbers / steps).astype(np.int64)
    step = np.float32(float(np.float32(0.01)) * 448 / 127)
    x = np.round(np.clip(a / step, -127, 127)).astype(np.int64)
    factors = (float(step) * steps.astype(np.float64)).astype(np.float32).T
    want = (x @ codes.T).astype(np.float32) * factors
    np.testing.assert_array_equal(mlir_fp8.compile(module)(a)[0], want)


def test_blocks_are_sub_channel_types() -> None:
    text = """func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
      %s = stablehlo.constant dense<[[0.5, 0.25], [1.0, 2.0]]> : tensor<2x2xf32>
      %q = "fp8.quantize"(%x, %s) {saturate}
        : (tensor<4x6xf32>, tensor<2x2xf32>) -> tensor<4x6xf8E4M3FN>
      %0 = "fp8.dequantize"(%q, %s) : (tensor<4x6xf8E4M3FN>, tensor<2x2xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }"""
    module = passed(text, "fp8-to-quantized-types")
    assert "quant.uniform<i8<-127:127>:f32:{0:2, 1:3}, {{" in str(module)
    x = np.random.default_rng(4).normal(0, 99, (4, 6)).astype(np.float32)
    steps = np.array([[0.5, 0.25], [1, 2]]) * 448 / 127
    steps = steps.astype(np.float32).repeat(2, 0).repeat(3, 1)
    want = np.round(np.clip(x / steps, -127, 127)) * steps
    np.testing.assert_array_equal(mlir_fp8.compile(module)(x)[0], want)
    back = passed(module, "fp8-from-quantized-types")
    assert '"fp8.quantize"' in str(back) and "tensor<2x2xf32>" in str(back)
    again = mlir_fp8.compile(back)(x)[0]
    np.testing.assert_array_equal(
        again, f8(x, (np.array(steps, np.float64) * 127 / 448).astype("f"))
    )


def test_stored_floats_are_the_same_numbers() -> None:
    """What `storage=f8` gives computes what the module did, and comes back as it was."""
    made = mlir_fp8.quantize(MATRICES, StaticScaling(scales={"dot0.lhs": 0.013, "dot0.rhs": 0.029}))
    module = passed(made.module, "fp8-to-quantized-types{storage=f8}")
    assert str(module).count("fp8.uniform_quantize") == 2
    assert "{type = !quant.uniform<f8E4M3FN:f32, 0.013" in str(module)
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((6, 40), (40, 5)))
    want = f8(a, np.float32(0.013)).astype(np.float64) @ f8(b, np.float32(0.029))
    np.testing.assert_allclose(mlir_fp8.compile(module)(a, b)[0], want, rtol=1e-5, atol=1e-5)
    back = passed(module, "fp8-from-quantized-types", "fp8-fuse-scaled-dot", "canonicalize", "cse")
    assert '"fp8.scaled_dot"' in str(back) and "!quant." not in str(back)
    np.testing.assert_allclose(mlir_fp8.compile(back)(a, b)[0], want, rtol=1e-5, atol=1e-5)


def test_results_in_f8_are_quantized_again() -> None:
    text = """func.func @main(%x: tensor<3x8xf32>, %y: tensor<8x4xf32>) -> tensor<3x4xf32> {
      %s = stablehlo.constant dense<0.5> : tensor<f32>
      %d = stablehlo.constant dense<0.25> : tensor<f32>
      %a = "fp8.quantize"(%x, %s) {saturate}
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf8E4M3FN>
      %b = "fp8.quantize"(%y, %s) {saturate}
        : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf8E4M3FN>
      %q = "fp8.scaled_dot"(%a, %b, %s, %s, %s) {saturate, activation = "relu",
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
        rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>}
        : (tensor<3x8xf8E4M3FN>, tensor<8x4xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<f32>)
        -> tensor<3x4xf8E4M3FN>
      %0 = "fp8.dequantize"(%q, %s) : (tensor<3x4xf8E4M3FN>, tensor<f32>) -> tensor<3x4xf32>
      return %0 : tensor<3x4xf32>
    }"""
    module = passed(text, "fp8-to-quantized-types")
    assert "fp8." not in str(module)
    random = np.random.default_rng(6)
    x, y = (random.normal(0, 50, shape).astype(np.float32) for shape in ((3, 8), (8, 4)))
    step = np.float32(0.5 * 448 / 127)
    p, q = (np.round(np.clip(each / step, -127, 127)) for each in (x, y))
    factor = np.float32(float(step) * float(step))
    total = np.maximum((p @ q).astype(np.float32) * factor, 0)
    want = np.round(np.clip(total / step, -127, 127)) * step
    np.testing.assert_array_equal(mlir_fp8.compile(module)(x, y)[0], want)


def test_what_stays_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    made = mlir_fp8.quantize(MATRICES, "current")
    passed(made.module, "fp8-to-quantized-types{remarks}")
    said = capfd.readouterr().err
    assert said.count("stays f8E4M3FN: its scale is known at run time alone") == 2
    half = """func.func @main(%x: tensor<2x4xf32>, %q: tensor<4x2xf8E4M3FN>) -> tensor<2x2xf32> {
      %s = stablehlo.constant dense<0.5> : tensor<f32>
      %a = "fp8.quantize"(%x, %s) {saturate}
        : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf8E4M3FN>
      %0 = "fp8.scaled_dot"(%a, %q, %s, %s) {dot_dimension_numbers = #stablehlo.dot<
        lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
        operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}
        : (tensor<2x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }"""
    kept = passed(half, "fp8-to-quantized-types{remarks}")
    assert "the right operand of a product of it stays" in capfd.readouterr().err
    assert "!quant." not in str(kept)


Q = "!quant.uniform<i8:f32, 0.5>"
Q_F8 = "!quant.uniform<i4:f8E4M3FN, 0.5>"
BITCAST = f"%0 = stablehlo.bitcast_convert %a : (tensor<2x{Q}>) -> tensor<2xi8>"
CALL = f"%0 = stablehlo.custom_call @f(%a) : (tensor<2x{Q}>) -> tensor<2xf32>"


@pytest.mark.parametrize(
    ("signature", "body", "message"),
    [
        (f"%a: tensor<2x{Q}>", BITCAST, "'stablehlo.bitcast_convert' reads what is stored"),
        (f"%a: tensor<2x{Q}>", CALL, "'stablehlo.custom_call' reads what is stored"),
        (f"%a: tuple<tensor<2x{Q}>>", "", "'func.func' has tuple<.*take tuples apart first"),
        ("%a: tensor<2x!quant.any<i8:f32>>", "", "only quantization by known scales"),
        (f"%a: tensor<2x{Q_F8}>", "", "expresses f8E4M3FN, no wide float"),
        ("%a: tensor<2x!quant.uniform<i8:f32, 1.0e-38>>", "", "is no normal number of f32"),
    ],
)
def test_refusals(signature: str, body: str, message: str) -> None:
    with pytest.raises(Fp8Error, match=message):
        passed(f"func.func @main({signature}) {{\n{body}\nreturn\n}}", "fp8-from-quantized-types")


def test_options_are_checked() -> None:
    text = f"func.func @main(%a: tensor<2x{Q}>) {{ return }}"
    with pytest.raises(Fp8Error, match="'i3' is no storage: it is one of i8, i4, f8"):
        passed(text, "fp8-to-quantized-types{storage=i3}")
    with pytest.raises(Fp8Error, match="'f32' is no storage format"):
        passed(text, "fp8-from-quantized-types{format=f32}")


def test_stored_floats_in_blocks_are_refused_before_the_parser_crashes() -> None:
    text = (
        "func.func @main(%a: tensor<2x!quant.uniform<f8E4M3FN:f32:{0:1}, {0.5, 0.5}>>) { return }"
    )
    with pytest.raises(Fp8Error, match=r"1:30: .*no type stores floats in blocks"):
        mlir_fp8.load(text)
