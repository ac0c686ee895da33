"""Weights of f4 and f6 without gaps between codes: prepared, as constants, in artifacts."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.packing import packed, unpacked
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.execution import lower_to_llvm
from mlir_fp8.dialects.float_formats import FORMATS

SHORT = ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")
RECIPES = {
    "MXFP4": mlir_fp8.MXScaling("f4E2M1FN"),
    "MXFP6": mlir_fp8.MXScaling("f6E2M3FN"),
    "NVFP4": mlir_fp8.NVFP4Scaling(),
}
MODEL = """func.func @main(%x: tensor<4x64xf32>, %w: tensor<40x64xf32> {mlir_fp8.name = "w"})
    -> tensor<4x40xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
    : (tensor<4x64xf32>, tensor<40x64xf32>) -> tensor<4x40xf32>
  return %0 : tensor<4x40xf32>
}"""
RNG = np.random.default_rng(2)


@pytest.mark.parametrize("element", SHORT)
def test_round_trip_of_every_code(element: str) -> None:
    bits = FORMATS[element].bits
    codes = np.stack([np.roll(np.arange(1 << bits, dtype=np.uint8), i) for i in range(4)])
    array = codes.view(FORMATS[element].dtype)
    held = packed(array)
    assert held.shape == (4, (1 << bits) * bits // 8)
    back = unpacked(held, element)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back.view(np.uint8), codes)
    assert packed(array[:, :0]).shape == (4, 0)
    assert unpacked(held[:0], element).shape == (0, 1 << bits)


@pytest.mark.parametrize("recipe", RECIPES)
def test_prepared_weights_take_fewer_bytes(recipe: str) -> None:
    x, w = (RNG.standard_normal(shape, np.float32) for shape in ((4, 64), (40, 64)))
    plain = mlir_fp8.quantize(MODEL, RECIPES[recipe], weights="w")
    made = mlir_fp8.quantize(MODEL, RECIPES[recipe], weights="w", packed=True)
    arrays, bits = made.prepare({"w": w}), FORMATS[made.weights[0].format].bits
    codes = plain.prepare({"w": w})
    assert arrays["w"].dtype == np.uint8 and arrays["w"].nbytes == 40 * 64 * bits // 8
    np.testing.assert_array_equal(arrays["w"], packed(codes["w"]))
    for quantized, held in ((plain, codes), (made, arrays)):
        assert quantized.weights[0].bytes_after == sum(each.nbytes for each in held.values())
    (want,) = mlir_fp8.compile(plain.module)(*plain.arguments(codes, x))
    artifact = mlir_fp8.serialize(made.module)
    for module in (made.module, artifact):
        (got,) = mlir_fp8.compile(module)(*made.arguments(arrays, x))
        np.testing.assert_array_equal(got, want)


def test_arguments_of_codes_are_packed_by_name() -> None:
    text = """func.func @main(
            %x: tensor<2x64xf32>, %w: tensor<40x64xf4E2M1FN> {mlir_fp8.name = "w"})
        -> tensor<2x40xf32> {
      %0 = stablehlo.convert %w : (tensor<40x64xf4E2M1FN>) -> tensor<40x64xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1]
        : (tensor<2x64xf32>, tensor<40x64xf32>) -> tensor<2x40xf32>
      return %1 : tensor<2x40xf32>
    }"""
    x = RNG.standard_normal((2, 64), np.float32)
    w = RNG.integers(0, 16, (40, 64)).astype(np.uint8).view(FORMATS["f4E2M1FN"].dtype)
    (want,) = mlir_fp8.compile(text)(x, w)
    made = mlir_fp8.pack_weights(text, "w")
    assert [str(each) for each in made.packing] == ["weight 'w' is packed as 40x32"]
    arrays = made.prepare({"w": w})
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, x))
    np.testing.assert_array_equal(got, want)
    again = made.prepare({"w": arrays["w"]})  # what is packed stays
    assert again["w"] is arrays["w"]
    odd = mlir_fp8.pack_weights(text.replace("64x", "63x").replace("x64x", "x63x"), "w")
    reason = "weight 'w' is not packed: it has 63 numbers of f4E2M1FN side by side, which are no"
    assert str(odd.packing[0]).startswith(reason)


@pytest.mark.parametrize("element", SHORT)
def test_constants_are_held_packed(element: str) -> None:
    bits = FORMATS[element].bits
    codes = RNG.integers(0, 1 << bits, (64, 128)).astype(np.uint8)
    w = codes.view(FORMATS[element].dtype)
    listed = "".join(f"{code:02X}" for code in codes.reshape(-1))
    text = f"""func.func @main(%x: tensor<2x128xf32>) -> tensor<2x64xf32> {{
      %w = stablehlo.constant dense<"0x{listed}"> : tensor<64x128x{element}>
      %0 = stablehlo.convert %w : (tensor<64x128x{element}>) -> tensor<64x128xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1]
        : (tensor<2x128xf32>, tensor<64x128xf32>) -> tensor<2x64xf32>
      return %1 : tensor<2x64xf32>
    }}"""
    module, *_ = lower_to_llvm(mlir_fp8.load(text), CompileOptions())
    held = str(module)
    assert f"array<64 x array<{128 * bits // 8} x i8>>" in held
    assert "array<64 x array<128 x i8>>" not in held
    x = RNG.integers(-8, 9, (2, 128)).astype(np.float32)
    (got,) = mlir_fp8.compile(text)(x)
    np.testing.assert_array_equal(got, x @ w.astype(np.float32).T)


def test_layers_that_are_outlined_read_packed_weights() -> None:
    sizes, names = 128, [f"w{number}" for number in range(4)]
    weight = f"tensor<{sizes}x{sizes}xf32>"
    parameters = ", ".join(f'%{name}: {weight} {{mlir_fp8.name = "{name}"}}' for name in names)
    rows, body, last = f"tensor<8x{sizes}xf32>", "", "%x"
    for i, name in enumerate(names):
        body += f"""
          %d{i} = stablehlo.dot_general {last}, %{name}, contracting_dims = [1] x [1]
            : ({rows}, {weight}) -> {rows}
          %t{i} = stablehlo.tanh %d{i} : {rows}
          %e{i} = stablehlo.exponential %t{i} : {rows}
          %s{i} = stablehlo.add %e{i}, {last} : {rows}
          %n{i} = stablehlo.logistic %s{i} : {rows}"""
        last = f"%n{i}"
    text = (
        f"func.func @main(%x: {rows}, {parameters}) -> {rows} {{{body}\nreturn {last} : {rows}\n}}"
    )
    arrays = {name: RNG.standard_normal((sizes, sizes), np.float32) / 8 for name in names}
    x = RNG.standard_normal((8, sizes), np.float32)
    results: list[np.ndarray] = []
    for is_packed in (False, True):
        recipe = RECIPES["MXFP4"]
        made = mlir_fp8.quantize(text, recipe, weights="w*", wide=[], packed=is_packed)
        given = made.arguments(made.prepare(arrays), x)
        results.append(mlir_fp8.compile(made.module)(*given)[0])
    np.testing.assert_array_equal(results[0], results[1])
