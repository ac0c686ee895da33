"""`apply_checkpoint`: a wide module with a checkpoint is the FP8 module, judged in numpy in f64."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.checkpoints.f8_weight import Activation

F8 = ml_dtypes.float8_e4m3fn
NAME = "up.weight"
MODULE = """
func.func @main(%w: tensor<130x256xf32> {mlir_fp8.name = "up.weight"}, %x: tensor<3x256xf32>,
                %b: tensor<130xf32> {mlir_fp8.name = "up.bias"}) -> tensor<3x130xf32> {
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<130x256xf32>) -> tensor<256x130xf32>
  %0 = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0]
    : (tensor<3x256xf32>, tensor<256x130xf32>) -> tensor<3x130xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<130xf32>) -> tensor<3x130xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x130xf32>
  return %2 : tensor<3x130xf32>
}"""
BLOCKS: dict[tuple[int, ...], tuple[int, ...]] = {
    (0, 0): (),
    (1, 0): (130, 1),
    (128, 128): (2, 2),
    (1, 64): (130, 4),
    (128, 0): (2, 1),
}
BIAS = np.arange(130)


def made_weight(
    block: tuple[int, ...] = (1, 0), dtype: Any = F8, shape: tuple[int, ...] = (130, 256), **kw: Any
) -> mlir_fp8.F8Weight:
    random = np.random.default_rng(7)
    scale = random.random(BLOCKS[block], np.float32) + np.float32(0.1)
    codes = random.standard_normal(shape).astype(dtype)
    return mlir_fp8.F8Weight(codes, np.asarray(scale, np.float32), block, **kw)


def checkpoint(weight: mlir_fp8.F8Weight, **others: np.ndarray) -> mlir_fp8.Checkpoint:
    bias = {"up.bias": BIAS.astype(ml_dtypes.bfloat16)}
    return mlir_fp8.Checkpoint("here", {NAME: weight}, bias | others)


def quantized(x: np.ndarray, activation: str | None, dtype: Any = F8) -> np.ndarray:
    """What the product takes of `x` [3, 256], in f64."""
    if activation in (None, "wide"):
        return x.astype(np.float64)
    largest = float(ml_dtypes.finfo(dtype).max)
    groups = x.reshape(3, 2, 128) if activation == "group" else x
    axis = {"tensor": None, "token": 1, "group": 2, "static": None}[str(activation)]
    amax = np.abs(groups).max(axis=axis, keepdims=True)
    scale = np.float32(0.01) if activation == "static" else (amax / np.float32(largest))
    codes = np.clip(groups / scale, -largest, largest).astype(dtype)
    return (codes.astype(np.float64) * scale).reshape(x.shape)


def distance(got: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("activation", [None, "wide", "static", "tensor", "token", "group"])
@pytest.mark.parametrize("dtype", [F8, ml_dtypes.float8_e4m3fnuz])
def test_the_module_computes_what_the_checkpoint_says(
    block: tuple[int, ...], activation: Activation | None, dtype: Any
) -> None:
    weight = made_weight(block, dtype, activation=activation, input_scale=np.float32(0.01))
    made, arrays = mlir_fp8.apply_checkpoint(MODULE, checkpoint(weight))
    step = mlir_fp8.compile(made.module)
    assert [str(spec.element) for spec in step.arguments][:1] == [str(made.weights[0].format)]
    x = np.random.default_rng(1).standard_normal((3, 256)).astype(np.float32)
    (got,) = step(*made.arguments(arrays, x))
    taken = quantized(x, activation, dtype)
    wanted = taken @ weight.dequantized().astype(np.float64).T + BIAS
    assert distance(got, wanted) < 1e-6
    if activation in (None, "wide"):
        return
    wide = x.astype(np.float64) @ weight.dequantized().astype(np.float64).T + BIAS
    assert distance(got, wide) > 1e-4  # it is the quantized one


def test_codes_and_scales_are_those_of_the_checkpoint() -> None:
    weight = made_weight((128, 128))
    made, arrays = mlir_fp8.apply_checkpoint(MODULE, checkpoint(weight))
    assert arrays[NAME] is weight.codes and arrays["up.weight_scale"] is weight.scale
    assert arrays["up.bias"].dtype == np.float32 and arrays["up.bias"].tolist() == BIAS.tolist()
    text = str(made.module)
    assert "mlir_fp8.scale_block = array<i64: 128, 128>" in text
    before, after = made.bytes
    assert (before, after) == (130 * 256 * 4, 130 * 256 + 4 * 4)


def test_activation_of_all() -> None:
    made, _ = mlir_fp8.apply_checkpoint(MODULE, checkpoint(made_weight()), activation="tensor")
    decision: Any = made.decisions[0]
    assert decision.formats == ("f8E4M3FN", "f8E4M3FN")


def test_names_and_matrices_of_another_library() -> None:
    text = MODULE.replace('"up.weight"', "\"params['up']\"").replace(
        "130x256xf32", "256x130xf32", 1
    )
    text = text.replace(
        "%t = stablehlo.transpose %w, dims = [1, 0] : (tensor<130x256xf32>) -> tensor<256x130xf32>",
        "%t = stablehlo.optimization_barrier %w : tensor<256x130xf32>",
    )
    weight = made_weight((1, 0))
    held = checkpoint(weight, **{"up.rotary": np.ones(2, np.float32)})
    made, arrays = mlir_fp8.apply_checkpoint(
        text,
        held,
        names={NAME: "params['up']"},
        ignore=["*.rotary"],
        transpose=["params['up']"],
    )
    assert arrays["params['up']_scale"].shape == (1, 130)
    x = np.random.default_rng(1).standard_normal((3, 256)).astype(np.float32)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, x))
    wanted = x.astype(np.float64) @ weight.dequantized().astype(np.float64).T + BIAS
    assert distance(got, wanted) < 1e-6


def test_by_a_path_and_back(tmp_path: Any) -> None:
    pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")
    weight = made_weight((128, 128), activation="group")
    mlir_fp8.save_checkpoint(tmp_path / "a", checkpoint(weight))
    made, arrays = mlir_fp8.apply_checkpoint(MODULE, tmp_path / "a")
    again = mlir_fp8.checkpoint_of(made, arrays, activation="group")
    mlir_fp8.save_checkpoint(tmp_path / "b", again)
    one, two = (mlir_fp8.load_checkpoint(tmp_path / each).weights[NAME] for each in "ab")
    assert (one.block, one.activation) == (two.block, two.activation) == ((128, 128), "group")
    assert one.codes.tobytes() == two.codes.tobytes() and one.scale.tobytes() == two.scale.tobytes()


@pytest.mark.parametrize(
    ("scales", "block"),
    [("tensor", (0, 0)), ("channel", (1, 0)), ("block", (128, 128)), ("group64", (1, 64))],
)
@pytest.mark.parametrize(("recipe", "activation"), [("weight_only", "wide"), ("current", "tensor")])
def test_what_was_quantized_here_is_a_checkpoint(
    scales: str, block: tuple[int, ...], recipe: str, activation: str
) -> None:
    wide = np.random.default_rng(2).standard_normal((130, 256)).astype(np.float32)
    made = mlir_fp8.quantize(MODULE, recipe, weights=[NAME], scales=scales)
    prepared = made.prepare({NAME: wide, "up.bias": BIAS.astype(np.float32)})
    weight = mlir_fp8.checkpoint_of(made, prepared).weights[NAME]
    assert (weight.block, weight.activation) == (block, activation)
    np.testing.assert_allclose(weight.dequantized(), wide, rtol=0.07, atol=0.01)
    renamed = mlir_fp8.checkpoint_of(
        made, prepared, names=lambda name: f"model.{name}", transpose=[NAME]
    )
    turned = renamed.weights["model.up.weight"]
    assert turned.block == block[::-1] and list(renamed.others) == ["model.up.bias"]
    assert turned.dequantized().T.tobytes() == weight.dequantized().tobytes()


def test_static_scales_go_with_the_weights(tmp_path: Any) -> None:
    pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")
    recipe = mlir_fp8.StaticScaling(scales={"up.input_scale": 0.01})
    wide = np.random.default_rng(2).standard_normal((130, 256)).astype(np.float32)
    made = mlir_fp8.quantize(MODULE, recipe, weights=[NAME])
    prepared = made.prepare({NAME: wide, "up.bias": BIAS.astype(np.float32)})
    mlir_fp8.save_checkpoint(tmp_path, mlir_fp8.checkpoint_of(made, prepared, recipe=recipe))
    weight = mlir_fp8.load_checkpoint(tmp_path).weights[NAME]
    assert (weight.activation, weight.input_scale) == ("static", np.float32(0.01))
    # The module of the checkpoint is the one that it was made of.
    again, arrays = mlir_fp8.apply_checkpoint(MODULE, tmp_path)
    x = np.random.default_rng(1).standard_normal((3, 256)).astype(np.float32)
    (one,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    (two,) = mlir_fp8.compile(again.module)(*again.arguments(arrays, x))
    assert one.tobytes() == two.tobytes()
    unknown = mlir_fp8.StaticScaling(scales={})
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor 'up\.input_scale' has no scale"):
        mlir_fp8.checkpoint_of(made, prepared, recipe=unknown)


OTHER = {"up.bias": np.zeros(131, np.float32)}
REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "shape": (
        checkpoint(made_weight((0, 0), shape=(256, 130))),
        {},
        "'here': 'up.weight' is tensor<256x130xf8E4M3FN>, and argument 'up.weight' is tensor<130x2",
    ),
    "shape of another": (
        mlir_fp8.Checkpoint("here", {NAME: made_weight()}, OTHER),
        {},
        "'here': 'up.bias' is tensor<131xf32>, and argument 'up.bias' is tensor<130xf32>",
    ),
    "name": (
        mlir_fp8.Checkpoint("here", {"down.weight": made_weight()}),
        {},
        "'here': 'down.weight' (tensor<130x256xf8E4M3FN>) is no argument 'down.weight' of the modu",
    ),
    "name of another": (
        checkpoint(made_weight(), rotary=np.zeros(1, np.float32)),
        {},
        "'here': 'rotary' (tensor<1xf32>) is no argument 'rotary' of the module (up.weight, ",
    ),
    "two for one": (
        mlir_fp8.Checkpoint("here", {"a": made_weight(), "b": made_weight()}),
        {"names": lambda _: NAME},
        "'here': 'b' is the second tensor of argument 'up.weight'",
    ),
    "narrower": (
        mlir_fp8.Checkpoint("here", {NAME: made_weight()}, {"up.bias": np.zeros(130)}),
        {},
        "'up.bias' is tensor<130xf64>, and argument 'up.bias' is tensor<130xf32>: convert it",
    ),
    "no scale": (
        checkpoint(made_weight()),
        {"activation": "static"},
        "'up.weight' has no input_scale for static activations: take another",
    ),
    "nothing": (
        mlir_fp8.Checkpoint("here", {NAME: made_weight()}),
        {"ignore": ["*"]},
        "'here': no f8 weight is left: see ignore=",
    ),
    "no weight": (
        mlir_fp8.Checkpoint("here", {"up.bias": made_weight((0, 0), shape=(130,))}),
        {},
        "weight 'up.bias' is tensor<130xf32>, of rank 1: leave it out of weights",
    ),
    "transposed vector": (
        checkpoint(made_weight()),
        {"transpose": ["up.bias"]},
        "'up.bias' is tensor<130xbf16>: only matrices are transposed",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_mismatches_are_refused(what: str) -> None:
    held, options, message = REFUSED[what]
    with pytest.raises(mlir_fp8.Fp8Error) as refused:
        mlir_fp8.apply_checkpoint(MODULE, held, **options)
    assert message in str(refused.value) and "\n" not in str(refused.value)
    assert not isinstance(refused.value, mlir_fp8.InternalError)


def test_a_missing_tensor_is_named() -> None:
    made, arrays = mlir_fp8.apply_checkpoint(
        MODULE, mlir_fp8.Checkpoint("here", {NAME: made_weight()})
    )
    with pytest.raises(mlir_fp8.Fp8Error, match=r"up\.bias"):
        made.arguments(arrays, np.zeros((3, 256), np.float32))
    del arrays["up.weight_scale"]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'up\.weight_scale' is missing"):
        mlir_fp8.checkpoint_of(made, arrays)


def test_a_convolution_has_one_scale_of_its_input() -> None:
    text = """
func.func @main(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
  return %0 : tensor<1x6x6x5xf32>
}"""
    codes = np.random.default_rng(0).standard_normal((3, 3, 4, 5)).astype(F8)
    weight = mlir_fp8.F8Weight(codes, np.array(0.5, np.float32), (0, 0, 0, 0), "tensor")
    held = mlir_fp8.Checkpoint("here", {"arg1": weight})
    made, arrays = mlir_fp8.apply_checkpoint(text, held)
    x = np.random.default_rng(1).standard_normal((1, 8, 8, 4)).astype(np.float32)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, x))
    (wide,) = mlir_fp8.compile(text)(x, weight.dequantized())
    assert 1e-4 < distance(got, wide) < 0.05
    with pytest.raises(mlir_fp8.Fp8Error, match="a convolution has one for all, activation 'tenso"):
        mlir_fp8.apply_checkpoint(text, held, activation="token")


@pytest.mark.parametrize("activation", ["wide", "tensor", "token", "group"])
@pytest.mark.parametrize("block", [(1, 0, 0), (1, 1, 0), (1, 128, 128)])
def test_stacked_experts(block: tuple[int, ...], activation: Activation) -> None:
    text = """
func.func @main(%x: tensor<3x2x256xf32>, %w: tensor<3x130x256xf32>) -> tensor<3x2x130xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<3x2x256xf32>, tensor<3x130x256xf32>) -> tensor<3x2x130xf32>
  return %0 : tensor<3x2x130xf32>
}"""
    random = np.random.default_rng(3)
    codes = random.standard_normal((3, 130, 256)).astype(F8)
    shapes: dict[tuple[int, ...], tuple[int, ...]]
    shapes = {(1, 0, 0): (3, 1, 1), (1, 1, 0): (3, 130, 1), (1, 128, 128): (3, 2, 2)}
    shape = shapes[block]
    scale = random.random(shape, np.float32) + np.float32(0.1)
    weight = mlir_fp8.F8Weight(codes, scale, block, activation)
    held = mlir_fp8.Checkpoint("here", {"arg1": weight})
    made, arrays = mlir_fp8.apply_checkpoint(text, held)
    x = random.standard_normal((3, 2, 256)).astype(np.float32)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, x))
    wide = weight.dequantized().astype(np.float64)
    if activation == "tensor":
        taken = quantized(x.reshape(6, 1, 256), "tensor").reshape(3, 2, 256)
    else:
        taken = np.stack([_of_rows(each, activation) for each in x])
    assert distance(got, np.einsum("ebk,enk->ebn", taken, wide)) < 1e-6


def _of_rows(x: np.ndarray, activation: str) -> np.ndarray:
    """`quantized` of [2, 256]."""
    return quantized(np.concatenate([x, x[:1]]), activation)[:2]


@pytest.mark.parametrize("block", [(0, 0), (1, 0), (128, 128)])
def test_a_table_that_is_looked_up(block: tuple[int, ...]) -> None:
    text = """
func.func @main(%w: tensor<130x256xf32> {mlir_fp8.name = "embed.weight"}, %i: tensor<5x1xi32>)
    -> tensor<5x256xf32> {
  %0 = "stablehlo.gather"(%w, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}
    : (tensor<130x256xf32>, tensor<5x1xi32>) -> tensor<5x256xf32>
  return %0 : tensor<5x256xf32>
}"""
    weight = made_weight(block)
    held = mlir_fp8.Checkpoint("here", {"embed.weight": weight})
    made, arrays = mlir_fp8.apply_checkpoint(text, held)
    rows = np.array([0, 127, 128, 129, 3], np.int32)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, rows[:, None]))
    np.testing.assert_allclose(got, weight.dequantized()[rows], rtol=1e-6)


def test_bf16_products_are_rounded_once() -> None:
    text = MODULE.replace("xf32>", "xbf16>")
    weight = made_weight((1, 0), activation="token")
    made, arrays = mlir_fp8.apply_checkpoint(text, checkpoint(weight))
    x = np.random.default_rng(1).standard_normal((3, 256)).astype(ml_dtypes.bfloat16)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, x))
    taken = quantized(x.astype(np.float32), "token")
    dot = (taken @ weight.dequantized().astype(np.float64).T).astype(ml_dtypes.bfloat16)
    wanted = dot.astype(np.float64) + BIAS.astype(ml_dtypes.bfloat16).astype(np.float64)
    assert distance(got.astype(np.float64), wanted) < 2**-8
