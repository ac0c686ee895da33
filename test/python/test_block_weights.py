"""Weights in block formats: prepared once, constants, tables, and the search among layers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from block_format_reference import microxcaling, nvfp4, wide
from block_programs import values

import mlir_fp8
from mlir_fp8 import MXScaling, NVFP4Scaling
from mlir_fp8.quantized import weights_of
from mlir_fp8.tools import quantize as tool

RECIPES = [
    MXScaling(),
    MXScaling("f6E2M3FN", scale_rounding="ceil"),
    MXScaling("f4E2M1FN", scale_rounding="even", block=16),
    NVFP4Scaling(),
]

MODEL = """func.func @main(%x: tensor<6x80xf32>, %w: tensor<80x48xbf16> {mlir_fp8.name = "w"},
    %v: tensor<24x48xf32> {mlir_fp8.name = "v"})
    -> tensor<6x24xf32> {
  %wide = stablehlo.convert %w : (tensor<80x48xbf16>) -> tensor<80x48xf32>
  %0 = stablehlo.dot_general %x, %wide, contracting_dims = [1] x [0]
    : (tensor<6x80xf32>, tensor<80x48xf32>) -> tensor<6x48xf32>
  %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<24x48xf32>) -> tensor<48x24xf32>
  %1 = stablehlo.dot_general %0, %t, contracting_dims = [1] x [0]
    : (tensor<6x48xf32>, tensor<48x24xf32>) -> tensor<6x24xf32>
  return %1 : tensor<6x24xf32>
}"""


def arguments() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import ml_dtypes

    x, w, v = values(0, (6, 80)), values(1, (80, 48)), values(2, (24, 48))
    return x, w.astype(ml_dtypes.bfloat16), v


def expected(recipe: object) -> np.ndarray:
    x, w, v = arguments()
    w = np.ascontiguousarray(w.astype(np.float32).T)
    hidden = (wide(x, recipe) @ wide(w, recipe).T).astype(np.float32)
    return wide(hidden, recipe) @ wide(v, recipe).T


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_prepared_weights(recipe: MXScaling) -> None:
    x, w, v = arguments()
    made = mlir_fp8.quantize(MODEL, recipe, weights=["w", "v"], wide=())
    assert [each.format for each in made.weights] == [recipe.forward] * 2
    held = made.prepare({"w": w, "v": v})
    names = ["w", "w_scale", "v", "v_scale"]
    if isinstance(recipe, NVFP4Scaling):
        names = ["w", "w_scale", "w_scale_2", "v", "v_scale", "v_scale_2"]
        codes, scales, factor = nvfp4(v)
        assert held["v_scale_2"] == factor
        np.testing.assert_array_equal(held["v_scale"].astype(np.float32), scales)
    else:
        rounding = recipe.scale_rounding
        codes, exponents = microxcaling(v, recipe.format, recipe.block, rounding)
        np.testing.assert_array_equal(held["v_scale"].view(np.uint8), exponents + 127)
    assert sorted(held) == sorted(names)
    np.testing.assert_array_equal(held["v"].astype(np.float64), codes)
    (result,) = mlir_fp8.compile(made.module)(*made.arguments(held, x))
    want = expected(recipe)
    # The second dot quantizes what the first one gives, whose last bits are free.
    assert np.linalg.norm(result - want) < 1e-2 * np.linalg.norm(want)
    # The bytes are those of the arrays.
    assert made.bytes[1] == sum(array.nbytes for array in held.values())


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_a_file_keeps_how_weights_are_prepared(recipe: MXScaling) -> None:
    x, w, v = arguments()
    made = mlir_fp8.quantize(MODEL, recipe, weights=["w", "v"], wide=())
    (found, other) = weights_of(mlir_fp8.serialize(made.module))
    assert (found.rule, other.rule) == (recipe.rule, recipe.rule)
    held = made.prepare({"w": w, "v": v})
    direct = mlir_fp8.compile(made.module)(*made.arguments(held, x))
    again = mlir_fp8.compile(mlir_fp8.serialize(made.module))(*made.arguments(held, x))
    np.testing.assert_array_equal(direct[0], again[0])


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_constants_have_the_codes_of_arguments(recipe: MXScaling) -> None:
    x, _, v = arguments()
    dot = """func.func @main(%x: tensor<6x48xf32>{}) -> tensor<6x24xf32> {{
      {}
      %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1]
        : (tensor<6x48xf32>, tensor<24x48xf32>) -> tensor<6x24xf32>
      return %0 : tensor<6x24xf32>
    }}"""
    text = "".join(f"{byte:02X}" for byte in v.tobytes())
    constant = f'%v = stablehlo.constant dense<"0x{text}"> : tensor<24x48xf32>'
    argument = ', %v: tensor<24x48xf32> {mlir_fp8.name = "v"}'
    x = x[:, :48].copy()
    folded = mlir_fp8.quantize(dot.format("", constant), recipe, weights="constants", wide=())
    named = mlir_fp8.quantize(dot.format(argument, ""), recipe, weights="v", wide=())
    (one,) = mlir_fp8.compile(folded.module)(x)
    (other,) = mlir_fp8.compile(named.module)(*named.arguments(named.prepare({"v": v}), x))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("recipe", RECIPES[2:], ids=str)
def test_tables_have_blocks_along_their_rows(recipe: MXScaling) -> None:
    text = """func.func @main(
        %table: tensor<64x48xf32> {mlir_fp8.name = "table"}, %i: tensor<5xi32>,
        %w: tensor<48x8xf32> {mlir_fp8.name = "w"})
        -> (tensor<5x48xf32>, tensor<5x8xf32>) {
      %rows = "stablehlo.gather"(%table, %i) {
        dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
          start_index_map = [0], index_vector_dim = 1>,
        indices_are_sorted = false, slice_sizes = array<i64: 1, 48>}
        : (tensor<64x48xf32>, tensor<5xi32>) -> tensor<5x48xf32>
      %y = stablehlo.dot_general %rows, %w, contracting_dims = [1] x [0]
        : (tensor<5x48xf32>, tensor<48x8xf32>) -> tensor<5x8xf32>
      return %rows, %y : tensor<5x48xf32>, tensor<5x8xf32>
    }"""
    table, w, i = values(3, (64, 48)), values(4, (48, 8)), np.array([3, 0, 63, 3, 17], np.int32)
    made = mlir_fp8.quantize(text, recipe, weights=["table", "w"], wide=())
    held = made.prepare({"table": table, "w": w})
    rows, y = mlir_fp8.compile(made.module)(*made.arguments(held, i))
    want = wide(table, recipe)[i]
    np.testing.assert_allclose(rows, want, rtol=1e-6)
    np.testing.assert_allclose(
        y, want @ wide(np.ascontiguousarray(w.T), recipe).T, rtol=1e-3, atol=1
    )


def test_a_weight_that_is_summed_over_two_dimensions() -> None:
    text = """func.func @main(%x: tensor<3x4x24xf32>, %w: tensor<4x24x8xf32>
        {mlir_fp8.name = "w"}) -> tensor<3x8xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1, 2] x [0, 1]
        : (tensor<3x4x24xf32>, tensor<4x24x8xf32>) -> tensor<3x8xf32>
      return %0 : tensor<3x8xf32>
    }"""
    x, w = values(5, (3, 4, 24)), values(6, (4, 24, 8))
    for recipe in RECIPES:
        made = mlir_fp8.quantize(text, recipe, weights="w", wide=())
        held = made.prepare({"w": w})
        (result,) = mlir_fp8.compile(made.module)(*made.arguments(held, x))
        exact = np.einsum("ijk,jkl->il", x.astype(np.float64), w)
        assert np.linalg.norm(result - exact) < 0.3 * np.linalg.norm(exact)


def test_the_search_measures_layers_in_a_block_format() -> None:
    x, w, v = arguments()
    sqnr: list[float] = []
    for recipe in (MXScaling(), MXScaling("f4E2M1FN", scale_rounding="even"), NVFP4Scaling()):
        trial = mlir_fp8.Trial(MODEL, recipe, [[x]], {"w": w, "v": v}, weights=["w", "v"], wide=())
        sqnr.append(trial.sqnr(["w", "v"]))
        assert trial.sqnr(["w"]) > sqnr[-1] - 1
        made = mlir_fp8.quantize(MODEL, recipe, weights=["w", "v"], wide=())
        (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"w": w, "v": v}), x))
        (exact,) = mlir_fp8.compile(MODEL)(x, w, v)
        noise = np.square(got.astype(np.float64) - exact).sum()
        own = 10 * np.log10(np.square(exact.astype(np.float64)).sum() / noise)
        assert abs(own - sqnr[-1]) < 1
    assert sqnr[0] > max(sqnr[1:])


def test_numbers_of_tensors_by_calibration() -> None:
    x, w, v = arguments()
    calibration = mlir_fp8.Calibration(MODEL, weights=["w", "v"]).run([[2 * x, w, v]])
    made = mlir_fp8.quantize(MODEL, NVFP4Scaling(scales=calibration), weights=["w", "v"], wide=())
    factor = np.float32(np.float32(np.abs(2 * x).max() / np.float32(6)) / np.float32(448))
    assert f"{factor:.9g}"[:7] in str(made.module).replace("E-", "e-")
    (result,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"w": w, "v": v}), x))
    want = expected(NVFP4Scaling())
    assert np.linalg.norm(result - want) < 0.3 * np.linalg.norm(want)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor 'dot0.lhs' has no scale: calibrate"):
        other = mlir_fp8.Calibration(MODEL, weights=["v"]).run([[x, w, v]])
        mlir_fp8.quantize(MODEL, NVFP4Scaling(scales=other), weights=["w", "v"], wide=())


@pytest.mark.parametrize("is_calibrated", [False, True])
def test_options_of_gradients_change_no_weight(is_calibrated: bool) -> None:
    """Prepared weights have no gradients: random rounding is for none, a transform is refused."""
    x, w, v = arguments()
    calibration = mlir_fp8.Calibration(MODEL, weights=["w", "v"]).run([[x, w, v]])
    scales: dict[str, Any] = {"scales": calibration} if is_calibrated else {}
    options: dict[str, Any] = {"weights": ["w", "v"], "wide": ()}
    plain, random = (
        mlir_fp8.quantize(MODEL, NVFP4Scaling(**scales, stochastic_gradients=each), **options)
        for each in (False, True)
    )
    assert str(plain.module) == str(random.module)
    with pytest.raises(mlir_fp8.Fp8Error, match="hadamard transforms both operands"):
        mlir_fp8.quantize(MODEL, NVFP4Scaling(**scales, hadamard=16), **options)


@pytest.mark.parametrize("recipe", ["mxfp8", "mxfp6", "mxfp4", "nvfp4"])
def test_the_tool(recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, w, v = arguments()
    model, inputs, output = (tmp_path / name for name in ("m.mlir", "in.npz", "out.mlirbc"))
    prepared = tmp_path / "w.npz"
    model.write_text(MODEL)
    mlir_fp8.save_arrays(inputs, {"arg0": x, "w": w, "v": v})
    command = [str(model), "--weights=w;v", "--wide=", f"--recipe={recipe}", "--args", str(inputs)]
    assert tool.main([*command, "-o", str(output), f"--prepared={prepared}"]) == 0
    held = mlir_fp8.load_arrays(prepared)
    assert {"w", "w_scale", "v", "v_scale"} <= held.keys()
    assert ("w_scale_2" in held) == (recipe == "nvfp4")
    assert tool.main([*command, "--scales=block"]) == 1
    assert "has scales of blocks: drop --per, --scales" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scales": "block"}, "the recipe has scales of blocks of its own: drop scales"),
        ({"packed": True}, "packed is for scales in f32, or f4 and f6: drop it"),
        ({"cache": "w*"}, "cache is for scales in f32: drop it"),
        ({"recipe": MXScaling(hadamard=4)}, "hadamard transforms both operands of backward dots"),
    ],
)
def test_refusals(options: dict[str, object], message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.quantize(MODEL, **{"recipe": MXScaling(), "weights": "w", **options})  # type: ignore
