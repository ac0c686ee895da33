"""Constants of every storage, control flow, artifacts and a transformer, to integers and back."""

from pathlib import Path

import numpy as np
import pytest
from test_quantized_types import F8, passed

import mlir_fp8
from mlir_fp8 import StaticScaling
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.passes.pass_pipeline import run_pipeline

MODEL = "test/models/transformer_forward"


@pytest.mark.parametrize(
    ("storage", "values"),
    [
        ("i2", [1, -2, 0, 1]), ("i4", [1, -2, -8, 7]), ("u4", [1, 14, 8, 7]), ("u4", [15, 15]),
        ("i8", [5, -128, 127]), ("u8", [255, 0, 128, 3]), ("i4", []), ("i8", [-3, -3, -3]),
    ],
)  # fmt: skip
def test_constants_of_few_bits(storage: str, values: list[int]) -> None:
    signless = storage.replace("u", "i")
    bits = int(signless[1:])
    type_ = f"tensor<{len(values)}x!quant.uniform<{storage}:f32, 0.5:1>>"
    written = ", ".join(
        str(each if each < 1 << bits - 1 else each - (1 << bits)) for each in values
    )
    dense = f"dense<[{written}]>" if values else "dense<>"
    text = f"""func.func @main() -> tensor<{len(values)}xf32> {{
      %0 = "stablehlo.constant"() {{value = {dense} : tensor<{len(values)}x{signless}>}}
        : () -> {type_}
      %1 = stablehlo.uniform_dequantize %0 : ({type_}) -> tensor<{len(values)}xf32>
      return %1 : tensor<{len(values)}xf32> }}"""
    numbers = (np.array(values, np.float32) - 1) * np.float32(0.5)
    np.testing.assert_array_equal(mlir_fp8.compile(text)()[0], numbers)
    ends = (0, (1 << bits) - 1) if storage[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    scale = np.float32(max(abs(end - 1) for end in ends) * 0.5 / 448)
    want = np.clip(numbers / scale, -448, 448).astype(F8).astype(np.float32) * scale
    module = passed(text, "fp8-from-quantized-types")
    np.testing.assert_array_equal(mlir_fp8.compile(module)()[0], want)
    back = mlir_fp8.compile(passed(module, "fp8-to-quantized-types"))()[0]
    step = np.abs(want).max(initial=0) / np.float32(127)
    assert (np.abs(back - want) <= step * 0.51).all()


def test_resources_are_read() -> None:
    q = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    integers = f"""func.func @main() -> tensor<2xf32> {{
      %c = "stablehlo.constant"() {{value = dense_resource<r> : tensor<2xi8>}} : () -> {q}
      %0 = stablehlo.uniform_dequantize %c : ({q}) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }}
    {{-# dialect_resources: {{ builtin: {{ r: "0x010000000102" }} }} #-}}"""
    codes = """func.func @main() -> tensor<2xf32> {
      %c = stablehlo.constant dense_resource<r> : tensor<2xf8E4M3FN>
      %s = stablehlo.constant dense<0.5> : tensor<f32>
      %0 = "fp8.dequantize"(%c, %s) : (tensor<2xf8E4M3FN>, tensor<f32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { r: "0x010000003840" } } #-}"""
    for text, name in ((integers, "fp8-from-quantized-types"), (codes, "fp8-to-quantized-types")):
        module = mlir_fp8.load(text)
        run_pipeline(module, [name])
        assert ("!quant." in str(module)) == (text == codes)
        np.testing.assert_allclose(mlir_fp8.compile(module)()[0], [0.5, 1], rtol=0.02)


def test_more_bits_stay_wide() -> None:
    q = "tensor<4x!quant.uniform<i16:f32, 0.01>>"
    text = f"""func.func @main(%x: {q}) -> {q} {{
      %0 = stablehlo.multiply %x, %x : {q}
      return %0 : {q} }}"""
    module = passed(text, "fp8-from-quantized-types")
    assert "f8E4M3FN" not in str(module)
    x = np.array([300, -7, 32767, -32768], np.int16)
    np.testing.assert_array_equal(mlir_fp8.compile(module)(x)[0], mlir_fp8.compile(text)(x)[0])


def test_loops_carry_f8() -> None:
    q = "tensor<4x!quant.uniform<i8:f32, 0.5>>"
    text = f"""func.func @main(%x: {q}) -> {q} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, {q}
        cond {{
          %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }} do {{
          %j = stablehlo.add %i, %one : tensor<i32>
          %b = stablehlo.maximum %a, %x : {q}
          stablehlo.return %j, %b : tensor<i32>, {q}
        }}
      return %r#1 : {q} }}"""
    module = passed(text, "fp8-from-quantized-types")
    assert ": tensor<i32>, tensor<4xf8E4M3FN>" in str(module)
    x = np.array([3, -128, 127, 16], np.int8)
    found = mlir_fp8.compile(module)(x)[0].astype(np.int64)
    assert (np.abs(found - x) <= 4).all()  # f8 has four bits


@pytest.mark.parametrize("per_axis", [False, True])
def test_convolutions_both_ways(per_axis: bool) -> None:
    layout, scales = (":2", "{0.25, 0.125}") if per_axis else ("", "0.25")
    sums = "{0.125, 0.0625}" if per_axis else "0.125"
    types = (
        "tensor<1x6x1x!quant.uniform<i8:f32, 0.5>>",
        f"tensor<2x1x2x!quant.uniform<i8<-127:127>:f32{layout}, {scales}>>",
        f"tensor<1x5x2x!quant.uniform<i32:f32{layout}, {sums}>>",
    )
    text = f"""func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
      %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %r : {types[2]} }}"""
    random = np.random.default_rng(1)
    a = random.integers(-64, 65, (1, 6, 1)).astype(np.int8)
    b = random.integers(-127, 128, (2, 1, 2)).astype(np.int8)
    want = np.stack([np.correlate(a[0, :, 0], b[:, 0, i].astype(np.int64)) for i in (0, 1)], 1)
    np.testing.assert_array_equal(mlir_fp8.compile(text)(a, b)[0][0], want)
    module = passed(text, "fp8-from-quantized-types")
    assert '"fp8.scaled_convolution"' in str(module)
    back = passed(module, "fp8-to-quantized-types")
    assert " fp8." not in str(back) and "stablehlo.convolution" in str(back)
    for each, loss in ((module, 0.07), (back, 0.09)):
        found = mlir_fp8.compile(each)(a, b)[0][0]
        assert np.abs(found - want).max() <= loss * np.abs(want).max()


def test_artifacts_hold_integer_models() -> None:
    module = mlir_fp8.load("examples/w8a8.mlir")
    x = np.random.default_rng(2).integers(0, 256, (2, 4)).astype(np.uint8)
    for each in (module, passed(module, "fp8-from-quantized-types", "fp8-to-quantized-types")):
        again = mlir_fp8.deserialize(mlir_fp8.serialize(each, "1.0.0"))
        (want,) = mlir_fp8.compile(each)(x)
        np.testing.assert_array_equal(mlir_fp8.compile(again)(x)[0], want)


@pytest.mark.exhaustive
def test_a_transformer() -> None:
    wide = mlir_fp8.load(f"{MODEL}.mlir")
    arguments = [array for _, array in restored(np.load(f"{MODEL}.in.npz"))]
    wide = passed(wide, "fp8-remove-quantizers")
    scales = mlir_fp8.Calibration(wide).run([arguments])
    made = mlir_fp8.quantize(wide, StaticScaling(scales=scales)).module
    integers = passed(made, "fp8-to-quantized-types")
    assert str(integers).count("-> tensor<") and " fp8." not in str(integers)
    exact = mlir_fp8.compile(wide)(*arguments)[0].astype(np.float64)
    of_fp8, of_integers, of_fp8_again = (
        mlir_fp8.compile(each)(*arguments)[0].astype(np.float64)
        for each in (made, integers, passed(integers, "fp8-from-quantized-types"))
    )
    noise = [np.square(each - exact).sum() for each in (of_integers, of_fp8, of_fp8_again)]
    decibels = 10 * np.log10(np.square(exact).sum() / np.array(noise))
    assert decibels[0] > 25 and abs(decibels[1] - decibels[2]) < 0.5 and decibels[1] > 18


@pytest.mark.parametrize("passes", [(), ("fp8-from-quantized-types",)])
def test_judges_take_stored_integers(passes: tuple[str, ...]) -> None:
    text = Path("examples/w8a8.mlir").read_text().replace("<u8:", "<i8:").replace(":117", ":-11")
    x = np.random.default_rng(3).integers(-128, 128, (2, 4)).astype(np.int8)
    verdict = mlir_fp8.compare(passed(text, *passes), x, judges=("llvm", "interpreter"))
    assert verdict.is_comparison and verdict.is_good
