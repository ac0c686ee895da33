"""Ops of the `fp8` dialect through portable artifacts: the same ops, and the same results."""

import re

import ml_dtypes
import numpy as np
import pytest
from fp8_programs import same_bits
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline

DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
    "rhs_contracting_dimensions = [0]>"
)
TEXT = f"""
module {{
  func.func @main(%x: tensor<4x8xf32>, %b: tensor<8x2xf8E5M2>, %s: tensor<f32>,
                  %h: tensor<3xf32>, %seed: tensor<ui64>, %w: tensor<2x1x2xf8E4M3FN>)
      -> (tensor<4x2xf8E4M3FN>, tensor<bf16>, tensor<f32>, tensor<3xf32>, tensor<4x8xf32>,
          tensor<4x8xbf16>, tensor<4x7x2xf32>) {{
    %q = "fp8.quantize"(%x, %s) {{saturate}} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
    %d:2 = "fp8.scaled_dot"(%q, %b, %s, %s) {{activation = "relu", amax, {DOT}, dot_type = bf16, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>, saturate}} : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>, tensor<f32>, tensor<f32>) -> (tensor<4x2xf8E4M3FN>, tensor<bf16>)
    %amax = stablehlo.convert %d#1 : (tensor<bf16>) -> tensor<f32>
    %u:2 = "fp8.update_scale"(%s, %h, %amax) {{format = f8E4M3FN, margin = 1.000000e+00 : f32, recipe = "flax"}} : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> (tensor<f32>, tensor<3xf32>)
    %y = "fp8.dequantize"(%q, %s) {{inverse}} : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
    %c = "fp8.convert"(%y, %seed) {{rounding = "stochastic", saturate, seed = 5 : i64}} : (tensor<4x8xf32>, tensor<ui64>) -> tensor<4x8xbf16>
    %3 = stablehlo.reshape %q : (tensor<4x8xf8E4M3FN>) -> tensor<4x8x1xf8E4M3FN>
    %v = "fp8.scaled_convolution"(%3, %w, %s) {{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}} : (tensor<4x8x1xf8E4M3FN>, tensor<2x1x2xf8E4M3FN>, tensor<f32>) -> tensor<4x7x2xf32>
    return %d#0, %d#1, %u#0, %u#1, %y, %c, %v : tensor<4x2xf8E4M3FN>, tensor<bf16>, tensor<f32>, tensor<3xf32>, tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x7x2xf32>
  }}
}}
"""  # noqa: E501


def _module() -> ir.Module:
    return mlir_fp8.load(TEXT)


def _arrays() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [
        random.normal(size=(4, 8)).astype(np.float32),
        random.integers(-3, 4, (8, 2)).astype(ml_dtypes.float8_e5m2),
        np.asarray(0.037, np.float32),
        np.asarray([1, 5, 2], np.float32),
        np.asarray(7, np.uint64),
        random.integers(-3, 4, (2, 1, 2)).astype(ml_dtypes.float8_e4m3fn),
    ]


@pytest.mark.parametrize("target", ["0.19.0", "1.0.0", "current", "auto"])
def test_the_ops_come_back(target: str) -> None:
    module = _module()
    before = str(module)
    read = mlir_fp8.deserialize(mlir_fp8.serialize(module, target))
    assert str(module) == before
    assert str(read).count("stablehlo.composite") == 6
    run_pipeline(read, ["composite-to-fp8"])
    assert str(read) == before


@pytest.mark.sampled(20)
@pytest.mark.parametrize("target", ["0.9.0", "1.0.0", "current"])
def test_every_road_gives_the_same_bits(target: str) -> None:
    """Native code of the ops, and of the artifact; the interpreter, which runs decompositions."""
    arrays = _arrays()
    want = mlir_fp8.compile(_module())(*arrays)
    read = mlir_fp8.deserialize(mlir_fp8.serialize(_module(), target))
    for got in (mlir_fp8.compile(read)(*arrays), mlir_fp8.interpret(read, *arrays)):
        for one, other in zip(got, want, strict=True):
            assert same_bits(one, other)


def test_decompositions_alone_give_the_same_bits() -> None:
    """As a consumer that knows nothing of the names runs them."""
    arrays = _arrays()
    want = mlir_fp8.compile(_module())(*arrays)
    read = mlir_fp8.deserialize(mlir_fp8.serialize(_module(), "1.0.0"))
    run_pipeline(read, ["func.func(stablehlo-legalize-composite-to-call)", "inline"])
    assert "composite" not in str(read)
    for one, other in zip(mlir_fp8.compile(read)(*arrays), want, strict=True):
        assert same_bits(one, other)


def test_versions() -> None:
    """Composites need 0.19.0; plain StableHLO is written for what is older."""
    assert mlir_fp8.minimum_version(_module()) == "0.19.0"
    old = str(mlir_fp8.deserialize(mlir_fp8.serialize(_module(), "0.18.0")))
    assert "stablehlo.composite" not in old and "fp8." not in old.replace("mlir_fp8.", "")
    newer = mlir_fp8.load(TEXT.replace("f8E4M3FN", "f8E4M3"))
    assert mlir_fp8.minimum_version(newer) == "1.7.0"
    with pytest.raises(mlir_fp8.Fp8Error, match=r"use target 1\.7\.0 or later"):
        mlir_fp8.serialize(newer, "1.0.0")


def test_types_that_a_target_lacks_are_emulated() -> None:
    newer = mlir_fp8.load(TEXT.replace("f8E4M3FN", "f8E4M3"))
    arrays = _arrays()
    arrays[-1] = arrays[-1].astype(ml_dtypes.float8_e4m3)
    artifact = mlir_fp8.serialize(newer, "1.0.0", emulate=True)
    restored = mlir_fp8.deserialize(artifact, raise_emulation=True)
    want = mlir_fp8.compile(newer)(*arrays)
    for one, other in zip(mlir_fp8.compile(restored)(*arrays), want, strict=True):
        assert same_bits(one, other)


def test_an_exact_gelu_travels_without_chlo() -> None:
    """Read here, its erfc is as good as before; elsewhere it is StableHLO's own formula."""
    text = f"""
    func.func @main(%a: tensor<8x8xf8E4M3FN>, %b: tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32> {{
      %d = "fp8.scaled_dot"(%a, %b) {{activation = "gelu_erf", {DOT}, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}} : (tensor<8x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>
      return %d : tensor<8x8xf32>
    }}"""  # noqa: E501
    module = mlir_fp8.load(text)
    random = np.random.default_rng(0)
    arrays = [random.normal(size=(8, 8)).astype(ml_dtypes.float8_e4m3fn) for _ in "ab"]
    (want,) = mlir_fp8.compile(module)(*arrays)
    artifact = mlir_fp8.deserialize(mlir_fp8.serialize(module, "1.0.0"))
    assert "chlo" not in str(artifact)
    assert same_bits(mlir_fp8.compile(artifact)(*arrays)[0], want)
    old = mlir_fp8.deserialize(mlir_fp8.serialize(module, "0.9.0"))
    for other in (mlir_fp8.interpret(module, *arrays), mlir_fp8.compile(old)(*arrays)):
        np.testing.assert_allclose(other[0], want, rtol=2e-5, atol=1e-6)


def test_an_op_that_cannot_be_written_is_named() -> None:
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
      %0 = "fp8.convert"(%x) {rounding = "toward_zero"} : (tensor<?xf32>) -> tensor<?xf8E5M2>
      return %0 : tensor<?xf8E5M2>
    }"""
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^m\.mlir:3:\d+: .*refine shapes first$"):
        mlir_fp8.serialize(mlir_fp8.load(text), "1.0.0", name="m.mlir")


def test_a_convert_of_an_open_shape_is_written_as_what_it_does() -> None:
    """Since no reader refines the shapes of composites; those of others are refined here."""
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
      %0 = "fp8.convert"(%x) {rounding = "nearest_even"} : (tensor<?xf32>) -> tensor<?xf8E5M2>
      return %0 : tensor<?xf8E5M2>
    }"""
    composite = """
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
      %0 = stablehlo.composite "fp8.other" %x {decomposition = @f} : (tensor<?xf32>) -> tensor<?xf8E5M2>
      return %0 : tensor<?xf8E5M2>
    }
    func.func private @f(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
      %0 = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xf8E5M2>
      return %0 : tensor<?xf8E5M2>
    }"""  # noqa: E501
    module = mlir_fp8.load(text)
    artifact = mlir_fp8.deserialize(mlir_fp8.serialize(module, "1.0.0"))
    assert "composite" not in str(artifact)
    x = np.asarray([1.1, -3.0, 1e9], np.float32)
    want = x.astype(ml_dtypes.float8_e5m2)
    for each in (module, artifact, mlir_fp8.load(composite)):
        assert same_bits(mlir_fp8.compile(each, shapes=[(3,)])(x)[0], want)
        assert same_bits(mlir_fp8.interpret(each, x)[0], want)


def test_a_convert_with_its_rounding_may_stay() -> None:
    """For those who name values by the ops that make them: the report."""
    module = _module()
    run_pipeline(module, ["fp8-legalize-to-stablehlo{keep-convert}"])
    assert re.findall(r'"fp8\.\w+"', str(module)) == ['"fp8.convert"']
    report = mlir_fp8.report(_module(), *_arrays())
    assert [each.value.op for each in report.values].count("fp8.convert") == 1
