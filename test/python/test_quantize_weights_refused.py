"""What is no weight, no layout, and no array for a weight: refused by name, in one line."""

import numpy as np
import pytest

import mlir_fp8

TEXT = """
func.func @main(%x: tensor<4x8xf32> {mlir_fp8.name = "x"},
    %w: tensor<8x2xf32> {mlir_fp8.name = "l.weight"}, %b: tensor<2xf32> {mlir_fp8.name = "l.bias"},
    %n: tensor<4x2xf32> {mlir_fp8.name = "n"}, %i: tensor<4x2xi32> {mlir_fp8.name = "i"})
    -> tensor<4x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
  %z = stablehlo.add %y, %c : tensor<4x2xf32>
  %v = stablehlo.add %z, %n : tensor<4x2xf32>
  return %v : tensor<4x2xf32>
}
"""


def refusal(**options: object) -> str:
    recipe = options.pop("recipe", "weight_only")
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.quantize(TEXT, recipe, **options)  # pyright: ignore[reportArgumentType]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"weights": ["nobody"]},
            "has no argument 'nobody' (arguments: x, l.weight, l.bias, n, i)",
        ),
        ({"weights": ["*.nothing"]}, "has no argument '*.nothing'"),
        ({"weights": ["l.bias"]}, "weight 'l.bias' is tensor<2xf32>, of rank 1"),
        ({"weights": ["i"]}, "weight 'i' is tensor<4x2xi32>, not of f32, bf16 or f16"),
        ({"weights": ["n"]}, "weight 'n' is read by stablehlo.add and by no product and no gather"),
        ({"weights": ["l.weight"], "scales": "row"}, "'row' is no layout of scales"),
        ({"weights": ["l.weight"], "wide": ["m"]}, "wide has 'm', which no weight is called"),
        ({}, "recipe is weight_only: name weights"),
        ({"weights": ["l.weight"], "ops": "all"}, "ops and weights are named"),
        ({"weights": ["l.weight"], "entry": "f"}, "there is no function 'f'"),
    ],
)
def test_what_cannot_be_quantized(options: dict[str, object], reason: str) -> None:
    assert reason in refusal(**options)


def test_patterns_leave_what_can_be_no_weight() -> None:
    made = mlir_fp8.quantize(TEXT, "weight_only", weights=["l.*"])
    bias = next(each for each in made.weights if each.name == "l.bias")
    assert str(bias) == "weight 'l.bias' (tensor<2xf32>) stays wide: it is tensor<2xf32>, of rank 1"
    assert made.bytes == (16 * 4 + 8, 16 + 8 + 8)


def test_a_scale_has_no_name_of_another_argument() -> None:
    text = TEXT.replace('"n"', '"l.weight_scale"')
    with pytest.raises(mlir_fp8.Fp8Error, match=r"has an argument 'l.weight_scale' already"):
        mlir_fp8.quantize(text, "weight_only", weights=["l.weight"])


def test_names_of_locations_and_places() -> None:
    text = """
func.func @main(%x: tensor<4x8xf32> loc("x"), %w: tensor<8x2xf32> loc("params['w']"),
    %v: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %z = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0]
    : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}"""
    made = mlir_fp8.quantize(text, "weight_only", weights=["params['w']", "arg2"])
    assert [each.name for each in made.weights] == ["params['w']", "arg2"]
    ones = np.ones((8, 2), np.float32)
    prepared = made.prepare({"params['w']": ones, "arg2": ones[:2]})
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, np.ones((4, 8), np.float32)))
    np.testing.assert_allclose(got, 16, rtol=1e-6)


MADE = mlir_fp8.quantize(TEXT, "weight_only", weights=["l.weight"])
W = np.ones((8, 2), np.float32)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ({}, "weight 'l.weight' is missing"),
        (
            {"l.weight": W, "m": W},
            "no argument is named 'm' (arguments: x, l.weight, l.bias, n, i)",
        ),
        ({"l.weight": W.T}, "argument 'l.weight' is f32[2,8], declared"),
        ({"l.weight": W.astype(np.float64)}, "argument 'l.weight' is"),
        ({"l.weight": W * np.nan}, "weight 'l.weight' has infinite or NaN elements"),
        ({"l.weight": W * np.inf}, "weight 'l.weight' has infinite or NaN elements"),
        ({"l.weight": W, "l.weight_scale": W}, "no argument is named 'l.weight_scale'"),
    ],
)
def test_arrays_that_are_no_weights(weights: dict[str, np.ndarray], reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        MADE.prepare(weights)
    assert reason.partition(" f32[")[0] in str(caught.value)


def test_arguments_are_counted_by_name() -> None:
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r"1 arguments are given beside .*: x, l.bias, n, i"
    ):
        MADE.arguments(MADE.prepare({"l.weight": W}), W)


def test_infinite_constants_are_refused() -> None:
    text = """
func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = stablehlo.constant dense<[[1.0, 2.0], [0x7F800000, 1.0]]> : tensor<2x2xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}"""
    with pytest.raises(mlir_fp8.Fp8Error, match="infinite or NaN elements"):
        mlir_fp8.quantize(text, "weight_only", weights=["constants"])


def test_what_a_skipped_product_reads_stays_wide() -> None:
    made = mlir_fp8.quantize(TEXT, "current", weights=["l.weight"], skip_first=1)
    assert "is read by a product that is among the first 1 (skip-first)" in str(made.weights[0])
    assert made.decisions[0].left == "is among the first 1 (skip-first)"


def test_tensors_of_one_memory_share_their_codes() -> None:
    text = """
func.func @main(%a: tensor<8x2xf32>, %b: tensor<8x2xf32>, %x: tensor<4x8xf32>)
    -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %y = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %z = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y, %z : tensor<4x2xf32>, tensor<4x2xf32>
}"""
    made = mlir_fp8.quantize(text, "weight_only", weights=["arg0", "arg1"])
    shared = made.prepare({"arg0": W, "arg1": W})
    assert shared["arg0"] is shared["arg1"]
    apart = made.prepare({"arg0": W, "arg1": 2 * W})
    assert apart["arg1_scale"].tolist() == (2 * apart["arg0_scale"]).tolist()
