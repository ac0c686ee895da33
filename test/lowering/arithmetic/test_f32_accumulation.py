"""Dots, convolutions and reductions accumulate in f32 and round once: compiled code.

Operands are small integers, so that every f32 sum is exact in any order, while a sum that rounds at
each step to a narrow type is far off.
"""

import numpy as np
import pytest
from float_cases import assert_codes, call, compile_ops, nearest, tensor

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline

CONVOLUTION = """stablehlo.convolution(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
  window = {{pad = [[1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = {} : i64}}
  : ({}, {}) -> {}"""


def integers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 5, shape).astype(np.float64)


def assert_rounded_once(element: str, got: np.ndarray, want: np.ndarray) -> None:
    assert got.shape == want.shape
    if element == "f32":
        np.testing.assert_array_equal(got, want)
        return
    fmt = FORMATS[element]
    assert_codes(fmt, got.reshape(-1), nearest(fmt, want.reshape(-1)))


@pytest.mark.sampled(13)
@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("bf16", "bf16", "bf16"),
        ("f16", "f16", "f16"),
        ("f8E4M3FN", "f8E5M2", "bf16"),
        ("f8E4M3FN", "f8E4M3FN", "f8E5M2"),
        ("f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ"),
        ("f4E2M1FN", "f6E3M2FN", "f16"),
        ("f8E4M3FN", "bf16", "bf16"),
    ],
)
def test_dots(lhs: str, rhs: str, result: str) -> None:
    a = np.sign(integers(0, 4, 900)) + 1
    b = np.abs(np.sign(integers(1, 900, 5)))
    types = [tensor(a.shape, lhs), tensor(b.shape, rhs)]
    product = tensor([4, 5], result)
    signature = f"({', '.join(types)}) -> {product}"
    ops = [
        (f"stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : {signature}", product),
        (f"stablehlo.dot %0, %1 : {signature}", product),
        call("stablehlo.einsum", types, product, '{einsum_config = "ab,bc->ac"}'),
    ]
    operands = a.astype(FORMATS[lhs].dtype), b.astype(FORMATS[rhs].dtype)
    for op in ops:
        (got,) = compile_ops(types, [op])(*operands)
        assert_rounded_once(result, got, a @ b)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("result", ["f8E4M3FN", "bf16", "f32"])
@pytest.mark.parametrize("groups", [1, 2, 8])
def test_convolutions(groups: int, result: str) -> None:
    dtype = FORMATS["f8E4M3FN"].dtype
    image, kernel = integers(2, 2, 20, 8), integers(3, 3, 8 // groups, 8)
    types = [tensor(array.shape, "f8E4M3FN") for array in (image, kernel)]
    out = tensor([2, 20, 8], result)
    compiled = compile_ops(types, [(CONVOLUTION.format(groups, *types, out), out)])
    (got,) = compiled(image.astype(dtype), kernel.astype(dtype))
    padded = np.pad(image, ((0, 0), (1, 1), (0, 0)))
    windows = np.stack([padded[:, i : i + 20] for i in range(3)], axis=2)
    windows = windows.reshape(2, 20, 3, groups, 8 // groups)
    kernels = kernel.reshape(3, 8 // groups, groups, 8 // groups)
    want = np.einsum("btwgi,wigo->btgo", windows, kernels).reshape(2, 20, 8)
    assert_rounded_once(result, got, want)


def reduce_text(operand: str, element: str, body: str) -> str:
    """A reduction of rows of %0 with %1 as its start; `body` is of %x and %y, returning %z."""
    rows, scalar = operand.split("x")[0].removeprefix("tensor<"), tensor([], element)
    return f"""stablehlo.reduce(%0 init: %1) across dimensions = [1] : ({operand}, {scalar})
      -> tensor<{rows}x{element}> reducer(%x: {scalar}, %y: {scalar}) {{
        {body}
        stablehlo.return %z : {scalar}
      }}"""


@pytest.mark.sampled(13)
@pytest.mark.parametrize("element", ["bf16", "f16", "f8E4M3FN", "f8E5M2", "f8E5M2FNUZ"])
def test_sums(element: str) -> None:
    x = np.abs(integers(4, 6, 700)) / 4
    dtype = FORMATS[element].dtype
    type_, scalar = tensor(x.shape, element), tensor([], element)
    plain = f"%z = stablehlo.add %x, %y : {scalar}"
    with_constant = f"""%c = stablehlo.constant dense<0.5> : {scalar}
        %half = stablehlo.multiply %y, %c : {scalar}
        %z = stablehlo.add %x, %half : {scalar}"""
    through_f32 = f"""%a = stablehlo.convert %x : ({scalar}) -> tensor<f32>
        %b = stablehlo.convert %y : ({scalar}) -> tensor<f32>
        %s = stablehlo.add %a, %b : tensor<f32>
        %z = stablehlo.convert %s : (tensor<f32>) -> {scalar}"""
    for body, factor in ((plain, 1), (with_constant, 0.5), (through_f32, 1)):
        op = (reduce_text(type_, element, body), tensor([6], element))
        (got,) = compile_ops([type_, scalar], [op])(x.astype(dtype), dtype.type(2))
        assert_rounded_once(element, got, x.sum(1) * factor + 2)


def test_promoting_sum() -> None:
    x = np.abs(integers(5, 6, 700))
    dtype = FORMATS["f8E5M2"].dtype
    types = [tensor(x.shape, "f8E5M2"), tensor([], "f8E5M2")]
    text = f""""stablehlo.reduce"(%0, %1) ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %z : tensor<f32>
      }}) {{dimensions = array<i64: 1>}} : ({", ".join(types)}) -> tensor<6xf32>"""
    (got,) = compile_ops(types, [(text, "tensor<6xf32>")])(x.astype(dtype), dtype.type(1))
    np.testing.assert_array_equal(got, x.sum(1) + 1)


def test_running_sum() -> None:
    x = np.abs(integers(6, 600))
    text, type_ = (
        """"stablehlo.reduce_window"(%0, %1) ({
      ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
        %z = stablehlo.add %x, %y : tensor<bf16>
        stablehlo.return %z : tensor<bf16>
      }) {window_dimensions = array<i64: 600>, padding = dense<[[599, 0]]> : tensor<1x2xi64>}
      : (tensor<600xbf16>, tensor<bf16>) -> tensor<600xbf16>""",
        "tensor<600xbf16>",
    )
    dtype = FORMATS["bf16"].dtype
    (got,) = compile_ops([type_, "tensor<bf16>"], [(text, type_)])(x.astype(dtype), dtype.type(0))
    assert_rounded_once("bf16", got, np.cumsum(x))


def test_argmax_keeps_its_indices() -> None:
    x = np.random.default_rng(7).permutation(np.arange(-100, 100)).astype(FORMATS["bf16"].dtype)
    text = """stablehlo.reduce(%0 init: %2), (%1 init: %3) across dimensions = [0]
        : (tensor<200xbf16>, tensor<200xi32>, tensor<bf16>, tensor<i32>)
        -> (tensor<bf16>, tensor<i32>)
      reducer(%x: tensor<bf16>, %y: tensor<bf16>) (%i: tensor<i32>, %j: tensor<i32>) {
        %c = stablehlo.compare GE, %x, %y : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
        %v = stablehlo.select %c, %x, %y : tensor<i1>, tensor<bf16>
        %k = stablehlo.select %c, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %v, %k : tensor<bf16>, tensor<i32>
      }"""
    compiled = mlir_fp8.compile(
        "func.func @main(%0: tensor<200xbf16>, %1: tensor<200xi32>, %2: tensor<bf16>,"
        f" %3: tensor<i32>) -> (tensor<bf16>, tensor<i32>) {{\n%r:2 = {text}\n"
        "return %r#0, %r#1 : tensor<bf16>, tensor<i32> }"
    )
    value, index = compiled(x, np.arange(200, dtype=np.int32), x.dtype.type(-np.inf), np.int32(0))
    assert (value, index) == (99, np.argmax(x))


ALGORITHM = """stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], algorithm =
  <lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = {1},
   lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {2},
   allow_imprecise_accumulation = false> : ({3}, {3}) -> {3}"""


@pytest.mark.parametrize(
    ("precision", "mantissa_bits"), [("bf16", 7), ("f16", 10), ("tf32", 10), ("f32", 23)]
)
def test_dot_algorithm_rounds_its_operands(precision: str, mantissa_bits: int) -> None:
    type_ = tensor([1, 1], "f32")
    step = np.float32(2.0**-mantissa_bits)
    x = np.array([[1 + step * np.float32(1.75)]], np.float32)
    op = (ALGORITHM.format(precision, "f32", 1, type_), type_)
    (got,) = compile_ops([type_] * 2, [op])(x, np.ones_like(x))
    assert got == np.float32(1 + step * 2)


@pytest.mark.parametrize(
    ("precision", "accumulation", "operations", "reason"),
    [
        ("bf16", "bf16", 1, "has an algorithm that accumulates in bf16; give one that does in f32"),
        ("f16", "f16", 1, "has an algorithm that accumulates in f16; give one that does in f32"),
    ],
)
def test_other_dot_algorithms_are_refused(
    precision: str, accumulation: str, operations: int, reason: str
) -> None:
    type_ = tensor([1, 1], accumulation)
    op = ALGORITHM.format(precision, accumulation, operations, type_)
    with pytest.raises(Fp8Error, match=f"'stablehlo.dot_general' {reason}"):
        compile_ops([type_] * 2, [(op, type_)])


def test_passes_leave_wide_programs_and_their_own_results_alone() -> None:
    wide = """func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf64>) -> tensor<4x4xf64> {
      %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
        : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = stablehlo.exponential %0 : tensor<4x4xf32>
      %2 = stablehlo.convert %1 : (tensor<4x4xf32>) -> tensor<4x4xf64>
      %3 = stablehlo.negate %b : tensor<4x4xf64>
      %4 = stablehlo.dot_general %2, %3, contracting_dims = [1] x [0]
        : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
      return %4 : tensor<4x4xf64>
    }"""
    narrow = wide.replace("f32", "bf16").replace("f64", "f8E5M2")
    passes = ["accumulate-in-f32", "float-normalization"]
    for text in (wide, narrow):
        module = mlir_fp8.load(text)
        before = str(module)
        run_pipeline(module, passes)
        once = str(module)
        assert (once == before) == (text is wide)
        run_pipeline(module, passes)
        assert str(module) == once
