"""Ops of the `fp8` dialect give the bits of the StableHLO programs that they are to stand for."""

import numpy as np
import pytest
from fp8_programs import MATMUL, cast, element, program, same_bits
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.dialects import fp8

DEQUANTIZED = """
  %aw = stablehlo.convert %a : (tensor<8x32xf8E4M3FN>) -> tensor<8x32xTYPE>
  %as = stablehlo.broadcast_in_dim %sa, dims = [] : (tensor<TYPE>) -> tensor<8x32xTYPE>
  %ad = stablehlo.multiply %aw, %as : tensor<8x32xTYPE>
  %bw = stablehlo.convert %b : (tensor<32x16xf8E5M2>) -> tensor<32x16xTYPE>
  %bs = stablehlo.broadcast_in_dim %sb, dims = [] : (tensor<TYPE>) -> tensor<32x16xTYPE>
  %bd = stablehlo.multiply %bw, %bs : tensor<32x16xTYPE>
  %d = stablehlo.dot_general %ad, %bd, contracting_dims = [1] x [0]
    : (tensor<8x32xTYPE>, tensor<32x16xTYPE>) -> tensor<8x16xTYPE>
"""
HEAD = """func.func @main(%a: tensor<8x32xf8E4M3FN>, %b: tensor<32x16xf8E5M2>, %sa: tensor<TYPE>,
    %sb: tensor<TYPE>, %bias: tensor<16xTYPE>) -> tensor<8x16xTYPE> {"""
BIAS = """
  %bb = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<16xTYPE>) -> tensor<8x16xTYPE>
  %x = stablehlo.add %d, %bb : tensor<8x16xTYPE>
"""
# As jax.nn.gelu of jax 0.10.2 writes both.
GELU_TANH = """
  %0 = stablehlo.multiply %x, %x : tensor<8x16xTYPE>
  %1 = stablehlo.multiply %0, %x : tensor<8x16xTYPE>
  %k0 = stablehlo.constant dense<K0> : tensor<8x16xTYPE>
  %3 = stablehlo.multiply %k0, %1 : tensor<8x16xTYPE>
  %4 = stablehlo.add %x, %3 : tensor<8x16xTYPE>
  %k1 = stablehlo.constant dense<K1> : tensor<8x16xTYPE>
  %6 = stablehlo.multiply %k1, %4 : tensor<8x16xTYPE>
  %7 = stablehlo.tanh %6 : tensor<8x16xTYPE>
  %one = stablehlo.constant dense<1.0> : tensor<8x16xTYPE>
  %9 = stablehlo.add %one, %7 : tensor<8x16xTYPE>
  %half = stablehlo.constant dense<0.5> : tensor<8x16xTYPE>
  %11 = stablehlo.multiply %half, %9 : tensor<8x16xTYPE>
  %y = stablehlo.multiply %x, %11 : tensor<8x16xTYPE>
"""
GELU_ERF = """
  %half = stablehlo.constant dense<0.5> : tensor<8x16xTYPE>
  %1 = stablehlo.multiply %half, %x : tensor<8x16xTYPE>
  %2 = stablehlo.negate %x : tensor<8x16xTYPE>
  %k = stablehlo.constant dense<K2> : tensor<8x16xTYPE>
  %4 = stablehlo.multiply %2, %k : tensor<8x16xTYPE>
  %5 = chlo.erfc %4 : tensor<8x16xTYPE> -> tensor<8x16xTYPE>
  %y = stablehlo.multiply %1, %5 : tensor<8x16xTYPE>
"""
CONSTANTS = {
    "bf16": {"K0": "4.467770e-02", "K1": "7.968750e-01", "K2": "7.070310e-01"},
    "f32": {"K0": "4.471500e-02", "K1": "0.797884583", "K2": "0.707106769"},
}


def _written(activation: str, name: str) -> str:
    body = {"gelu_tanh": GELU_TANH, "gelu_erf": GELU_ERF}[activation]
    text = f"{HEAD}{DEQUANTIZED}{BIAS}{body}  return %y : tensor<8x16xTYPE>\n}}"
    for key, value in {"TYPE": name, **CONSTANTS[name]}.items():
        text = text.replace(key, value)
    return text


def _fused(activation: str, name: str) -> ir.Module:
    def body(
        a: ir.Value, b: ir.Value, sa: ir.Value, sb: ir.Value, bias: ir.Value
    ) -> list[ir.Value]:
        return fp8.scaled_dot(
            a,
            b,
            dot_dimension_numbers=ir.Attribute.parse(MATMUL),
            result_element=element(name),
            a_scale=sa,
            b_scale=sb,
            bias=bias,
            operand_type=element(name),
            dot_type=element(name),
            activation=activation,
        )

    return program(["8x32xf8E4M3FN", "32x16xf8E5M2", name, name, f"16x{name}"], body)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("activation", ["gelu_tanh", "gelu_erf"])
@pytest.mark.parametrize("name", ["bf16", "f32"])
def test_a_dot_with_jax_gelu(activation: str, name: str) -> None:
    random = np.random.default_rng(0)
    a = cast(random.normal(size=(8, 32)), "f8E4M3FN")
    b = cast(random.normal(size=(32, 16)), "f8E5M2")
    a[0, 0], a[1, 1] = np.nan, -0.0
    b[2, 2] = np.inf
    scales = [cast(np.asarray(s), name) for s in (0.31, 0.77)]
    bias = cast(random.normal(size=16), name)
    fused = _fused(activation, name)
    (want,) = mlir_fp8.compile(mlir_fp8.load(_written(activation, name)))(a, b, *scales, bias)
    (got,) = mlir_fp8.compile(fused)(a, b, *scales, bias)
    assert same_bits(got, want)
    artifact = mlir_fp8.deserialize(mlir_fp8.serialize(fused, "1.0.0"))
    (from_artifact,) = mlir_fp8.compile(artifact)(a, b, *scales, bias)
    assert same_bits(from_artifact, want)


CONVOLUTION = """
func.func @main(%a: tensor<2x9x8x4xf8E4M3FN>, %b: tensor<3x2x2x6xf8E4M3FN>, %sa: tensor<f32>, %sb: tensor<1x1x1x6xf32>, %bias: tensor<6xbf16>) -> tensor<2x5x3x6xf8E4M3FN> {
  %0 = stablehlo.convert %a : (tensor<2x9x8x4xf8E4M3FN>) -> tensor<2x9x8x4xbf16>
  %1 = stablehlo.convert %sa : (tensor<f32>) -> tensor<bf16>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<bf16>) -> tensor<2x9x8x4xbf16>
  %3 = stablehlo.multiply %0, %2 : tensor<2x9x8x4xbf16>
  %4 = stablehlo.convert %b : (tensor<3x2x2x6xf8E4M3FN>) -> tensor<3x2x2x6xbf16>
  %5 = stablehlo.convert %sb : (tensor<1x1x1x6xf32>) -> tensor<1x1x1x6xbf16>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xbf16>) -> tensor<3x2x2x6xbf16>
  %7 = stablehlo.multiply %4, %6 : tensor<3x2x2x6xbf16>
  %8 = stablehlo.convolution(%3, %7) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3], pad = [[1, 1], [0, 1]], rhs_dilate = [1, 2], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x8x4xbf16>, tensor<3x2x2x6xbf16>) -> tensor<2x5x3x6xbf16>
  %9 = stablehlo.broadcast_in_dim %bias, dims = [3] : (tensor<6xbf16>) -> tensor<2x5x3x6xbf16>
  %10 = stablehlo.add %8, %9 : tensor<2x5x3x6xbf16>
  %11 = stablehlo.convert %10 : (tensor<2x5x3x6xbf16>) -> tensor<2x5x3x6xf8E4M3FN>
  return %11 : tensor<2x5x3x6xf8E4M3FN>
}
"""  # noqa: E501


def test_a_convolution() -> None:
    """Strides, padding, dilation, reversal and groups; the builder infers the shape."""

    def body(
        a: ir.Value, b: ir.Value, sa: ir.Value, sb: ir.Value, bias: ir.Value
    ) -> list[ir.Value]:
        numbers = "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
        attributes = {
            "dimension_numbers": numbers,
            "feature_group_count": "2 : i64",
            "window_strides": "array<i64: 2, 3>",
            "padding": "dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>",
            "rhs_dilation": "array<i64: 1, 2>",
            "window_reversal": "array<i1: true, false>",
        }
        return fp8.scaled_convolution(
            a,
            b,
            convolution={key: ir.Attribute.parse(text) for key, text in attributes.items()},
            result_element=element("f8E4M3FN"),
            a_scale=sa,
            b_scale=sb,
            bias=bias,
            operand_type=element("bf16"),
            dot_type=element("bf16"),
        )

    types = ["2x9x8x4xf8E4M3FN", "3x2x2x6xf8E4M3FN", "f32", "1x1x1x6xf32", "6xbf16"]
    fused = program(types, body)
    random = np.random.default_rng(0)
    a = cast(random.normal(size=(2, 9, 8, 4)), "f8E4M3FN")
    b = cast(random.normal(size=(3, 2, 2, 6)), "f8E4M3FN")
    scales = [np.asarray(0.3, np.float32), random.uniform(1, 2, (1, 1, 1, 6)).astype(np.float32)]
    bias = cast(random.normal(size=6), "bf16")
    (want,) = mlir_fp8.compile(mlir_fp8.load(CONVOLUTION))(a, b, *scales, bias)
    artifact = mlir_fp8.deserialize(mlir_fp8.serialize(fused, "1.0.0"))
    for module in (fused, artifact):
        (got,) = mlir_fp8.compile(module)(a, b, *scales, bias)
        assert same_bits(got, want)


def test_scales_of_a_batched_and_transposed_dot() -> None:
    """Scales of the sum follow their dimensions into the result's order, blocks and all."""
    numbers = (
        "#stablehlo.dot<lhs_batching_dimensions = [2, 0], rhs_batching_dimensions = [1, 3], "
        "lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>"
    )

    def body(a: ir.Value, b: ir.Value, sa: ir.Value, sb: ir.Value) -> list[ir.Value]:
        return fp8.scaled_dot(
            a,
            b,
            dot_dimension_numbers=ir.Attribute.parse(numbers),
            result_element=element("f32"),
            a_scale=sa,
            b_scale=sb,
        )

    random = np.random.default_rng(0)
    # a[q, m, p, k] . b[k, p, n, q] = d[p, q, m, n]
    a = cast(random.integers(-4, 5, (2, 4, 3, 8)) / 2, "f8E4M3FN")
    b = cast(random.integers(-4, 5, (8, 3, 6, 2)) / 2, "f8E4M3FN")
    sa = (2.0 ** random.integers(-3, 4, (2, 2, 3, 1))).astype(np.float32)
    sb = (2.0 ** random.integers(-3, 4, (1, 1, 3, 2))).astype(np.float32)
    types = ["2x4x3x8xf8E4M3FN", "8x3x6x2xf8E4M3FN", "2x2x3x1xf32", "1x1x3x2xf32"]
    (got,) = mlir_fp8.compile(program(types, body))(a, b, sa, sb)
    scaled_a = a.astype(np.float32) * sa.repeat(2, 1)
    scaled_b = b.astype(np.float32) * sb.repeat(2, 2)
    want = np.einsum("qmpk,kpnq->pqmn", scaled_a, scaled_b)
    assert same_bits(got, want)
