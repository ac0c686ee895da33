"""Weights quantized once: codes, scales and products against numpy, in every layout and form."""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.lowering.fp8.scaling.decisions import Decision
from mlir_fp8.quantized import weights_of

E4M3 = ml_dtypes.float8_e4m3fn
LAYOUTS = ("tensor", "channel", "block", "group32", "group64", "group128")
RNG = np.random.default_rng(17)

LINEAR = """
func.func @main(%x: tensor<5x{k}x{t}> {{mlir_fp8.name = "x"}},
    %w: tensor<{n}x{k}x{t}> {{mlir_fp8.name = "layer.weight"}}) -> tensor<5x{n}x{t}> {{
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
    : (tensor<5x{k}x{t}>, tensor<{n}x{k}x{t}>) -> tensor<5x{n}x{t}>
  return %y : tensor<5x{n}x{t}>
}}
"""


def blocks(layout: str, n: int, k: int) -> tuple[int, int]:
    """How many rows and columns of a weight [n, k] share a scale, as docs/inference.md has it."""
    if layout == "tensor":
        return n, k
    if layout == "block":
        return 128, 128
    return 1, {"channel": k}.get(layout) or int(layout.removeprefix("group"))


def quantized(w: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes and scales of a weight [n, k], element by element."""
    rows, columns = blocks(layout, *w.shape)
    codes = np.zeros(w.shape, E4M3)
    shape = [-(-w.shape[0] // rows), -(-w.shape[1] // columns)]
    scales = np.zeros(shape, np.float32)
    for i in range(shape[0]):
        for j in range(shape[1]):
            part = np.s_[i * rows : (i + 1) * rows, j * columns : (j + 1) * columns]
            amax = np.abs(w[part].astype(np.float32)).max()
            scale = np.float32(amax / np.float32(448))
            scales[i, j] = scale if scale >= 2**-126 else 1
            codes[part] = (w[part].astype(np.float32) / scales[i, j]).clip(-448, 448).astype(E4M3)
    return codes, scales


def wide(codes: np.ndarray, scales: np.ndarray, layout: str) -> np.ndarray:
    """What codes and scales stand for, in f64."""
    n, k = codes.shape
    rows, columns = blocks(layout, n, k)
    spread = scales.astype(np.float64).repeat(rows, 0)[:n].repeat(columns, 1)[:, :k]
    return codes.astype(np.float64) * spread


def error(got: Any, want: np.ndarray) -> float:
    """Relative L2."""
    return float(np.linalg.norm(np.asarray(got, np.float64) - want) / np.linalg.norm(want))


@pytest.mark.parametrize("k", [256, 100])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_codes_and_scales_are_those_of_the_formula(layout: str, k: int) -> None:
    w = RNG.standard_normal((130, k)).astype(np.float32)
    w[3] = 0
    made = mlir_fp8.quantize(
        LINEAR.format(k=k, n=130, t="f32"), "weight_only", weights=["layer.weight"], scales=layout
    )
    prepared = made.prepare({"layer.weight": w})
    codes, scales = quantized(w, layout)
    assert prepared["layer.weight"].tobytes() == codes.tobytes()
    assert prepared["layer.weight_scale"].reshape(scales.shape).tolist() == scales.tolist()
    assert made.bytes == (w.nbytes, codes.nbytes + scales.nbytes)


@pytest.mark.parametrize("k", [256, 100])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_products_are_those_of_what_the_codes_stand_for(layout: str, k: int, dtype: Any) -> None:
    w = RNG.standard_normal((130, k)).astype(dtype)
    x = RNG.standard_normal((5, k)).astype(dtype)
    element = "f32" if dtype is np.float32 else "bf16"
    text = LINEAR.format(k=k, n=130, t=element)
    made = mlir_fp8.quantize(text, "weight_only", weights=["layer.weight"], scales=layout)
    prepared = made.prepare({"layer.weight": w})
    want = x.astype(np.float64) @ wide(*quantized(w, layout), layout).T
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    assert got.dtype == dtype
    assert error(got, want) < (1e-6 if dtype is np.float32 else 3e-3)


@pytest.mark.parametrize("k", [256, 100])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scaled_products_quantize_the_other_operand_alone(layout: str, k: int) -> None:
    w = RNG.standard_normal((130, k)).astype(np.float32)
    x = RNG.standard_normal((5, k)).astype(np.float32)
    made = mlir_fp8.quantize(
        LINEAR.format(k=k, n=130, t="f32"), "current", weights=["layer.weight"], scales=layout
    )
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"layer.weight": w}), x))
    of_x = wide(*quantized(x, "tensor"), "tensor")
    want = of_x @ wide(*quantized(w, layout), layout).T
    assert error(got, want) < 1e-6
    assert isinstance(made.decisions[0], Decision)
    assert made.decisions[0].quantizers == ("dot0.lhs", "layer.weight")


def test_delayed_scaling_keeps_state_of_activations_alone() -> None:
    text = LINEAR.format(k=64, n=8, t="f32")
    made = mlir_fp8.quantize(text, "delayed", weights=["layer.weight"])
    assert list(made.state) == ["dot0.lhs.scale", "dot0.lhs.amax_history"]
    x, w = (RNG.standard_normal(shape).astype(np.float32) for shape in ((5, 64), (8, 64)))
    step = mlir_fp8.compile(made.module)
    prepared = made.prepare({"layer.weight": w})
    _, state = made.split(step(*made.arguments(prepared, x), *made.state.values()))
    (got,), _ = made.split(step(*made.arguments(prepared, x), *state.values()))
    assert error(got, x @ w.T) < 0.06


def test_artifacts_keep_which_weight_has_which_scale() -> None:
    text = LINEAR.format(k=64, n=8, t="f32")
    made = mlir_fp8.quantize(text, "current", weights=["layer.*"], scales="group32")
    for module in (made.module, mlir_fp8.deserialize(mlir_fp8.serialize(made.module))):
        (weight,) = weights_of(module)
        assert (weight.name, weight.argument) == ("layer.weight", 1)
        assert (weight.scale_name, weight.scale_argument) == ("layer.weight_scale", 2)
        assert (weight.format, weight.blocks, weight.shape) == ("f8E4M3FN", (1, 32), (8, 64))


CONSTANT = """
func.func @main(%x: tensor<2x3x{t}>) -> tensor<2x2x{t}> {{
  %w = stablehlo.constant dense<{w}> : tensor<3x2x{t}>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<2x3x{t}>, tensor<3x2x{t}>) -> tensor<2x2x{t}>
  return %y : tensor<2x2x{t}>
}}
"""


@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
def test_constants_become_constants_of_f8(element: str) -> None:
    text = CONSTANT.format(w="[[448.0, 7.0], [0.5, -3.5], [-1.0, 0.25]]", t=element)
    made = mlir_fp8.quantize(text, "weight_only", weights=["constants"])
    printed = str(made.module)
    # Scales of 1 and 1/64: 448 is the largest code, 7 is 448/64, and all are f8 numbers.
    assert "dense<[[1.000000e+00, 1.562500e-02]]> : tensor<1x2xf32>" in printed
    rows = (
        "4.480000e+02, 4.480000e+02",
        "5.000000e-01, -2.240000e+02",
        "-1.000000e+00, 1.600000e+01",
    )
    codes = "[[" + "], [".join(rows) + "]]"
    assert f"dense<{codes}> : tensor<3x2xf8E4M3FN>" in printed
    assert re.search(rf"constant .*tensor<3x2x{element}>", printed) is None
    x = np.array([[1, 2, 0], [0, 4, 1]], mlir_fp8.compile(text).arguments[0].dtype)
    (got,) = mlir_fp8.compile(made.module)(x)
    assert got.tolist() == [[448 if element == "bf16" else 449, 0], [1, -13.75]]
    assert made.bytes == ({"f32": 24}.get(element, 12), 6 + 8)


def test_constants_have_the_codes_of_compiled_code() -> None:
    w = RNG.standard_normal((70, 40)).astype(np.float32)
    rows = ", ".join(f"[{', '.join(f'{x:.9e}' for x in row)}]" for row in w)
    for layout in LAYOUTS:
        text = (
            "func.func @main(%x: tensor<2x40xf32>) -> tensor<2x70xf32> {\n"
            f"  %w = stablehlo.constant dense<[{rows}]> : tensor<70x40xf32>\n"
            "  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]"
            " : (tensor<2x40xf32>, tensor<70x40xf32>) -> tensor<2x70xf32>\n"
            "  return %y : tensor<2x70xf32>\n}"
        )
        folded = mlir_fp8.quantize(text, "weight_only", weights=["constants"], scales=layout)
        x = RNG.standard_normal((2, 40)).astype(np.float32)
        want = x.astype(np.float64) @ wide(*quantized(w, layout), layout).T
        assert error(mlir_fp8.compile(folded.module)(x)[0], want) < 1e-6


TIED = """
func.func @main(%t: tensor<300x64xf32> {mlir_fp8.name = "wte"}, %at: tensor<2x3xi32>)
    -> (tensor<2x3x64xf32>, tensor<2x3x300xf32>) {
  %i = stablehlo.reshape %at : (tensor<2x3xi32>) -> tensor<2x3x1xi32>
  %rows = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 64>}>
    : (tensor<300x64xf32>, tensor<2x3x1xi32>) -> tensor<2x3x64xf32>
  %logits = stablehlo.dot_general %rows, %t, contracting_dims = [2] x [1]
    : (tensor<2x3x64xf32>, tensor<300x64xf32>) -> tensor<2x3x300xf32>
  return %rows, %logits : tensor<2x3x64xf32>, tensor<2x3x300xf32>
}
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_table_is_looked_up_as_codes_by_the_product_s_scales(layout: str) -> None:
    table = RNG.standard_normal((300, 64)).astype(np.float32)
    at = np.array([[0, 127, 128], [299, 5000, -7]], np.int32)  # clamped to the table
    made = mlir_fp8.quantize(TIED, "weight_only", weights=["wte"], scales=layout)
    gathers = re.findall(r"gather.*: \((\S+)", str(made.module))
    assert "tensor<300x64xf8E4M3FN>," in gathers
    assert "tensor<300x64xf32>," not in gathers
    rows, logits = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"wte": table}), at))
    stands_for = wide(*quantized(table, layout), layout)
    want = stands_for[at.clip(0, 299)]
    assert error(rows, want) < 1e-7
    assert error(logits, rows.astype(np.float64) @ stands_for.T) < 1e-6


MOVES = {
    "heads": (
        # The kernel [k, heads, size] of an attention layer, merged.
        "tensor<64x2x8xf32>",
        "%m = stablehlo.reshape %w : (tensor<64x2x8xf32>) -> tensor<64x16xf32>",
        lambda w: w.reshape(64, 16),
    ),
    "sliced": (
        "tensor<3x64x16xf32>",
        "%s = stablehlo.slice %w [1:2, 0:64, 0:16] : (tensor<3x64x16xf32>) -> tensor<1x64x16xf32>\n"
        "%m = stablehlo.reshape %s : (tensor<1x64x16xf32>) -> tensor<64x16xf32>",
        lambda w: w[1],
    ),
    "reversed": (
        "tensor<64x16xf32>",
        "%m = stablehlo.reverse %w, dims = [1] : tensor<64x16xf32>",
        lambda w: w[:, ::-1],
    ),
    "behind a barrier": (
        "tensor<64x16xf32>",
        "%m = stablehlo.optimization_barrier %w : tensor<64x16xf32>",
        lambda w: w,
    ),
    "split sums": (
        "tensor<4x16x16xf32>",
        "%m = stablehlo.reshape %w : (tensor<4x16x16xf32>) -> tensor<64x16xf32>",
        lambda w: w.reshape(64, 16),
    ),
    "cut along the sum": (
        "tensor<80x16xf32>",
        "%m = stablehlo.slice %w [3:67, 0:16] : (tensor<80x16xf32>) -> tensor<64x16xf32>",
        lambda w: w[3:67],
    ),
}


@pytest.mark.parametrize("layout", ["tensor", "channel", "group32", "block"])
@pytest.mark.parametrize("recipe", ["weight_only", "current"])
@pytest.mark.parametrize("case", MOVES)
def test_scales_follow_what_moves_a_weight(case: str, recipe: str, layout: str) -> None:
    type_, moves, moved = MOVES[case]
    text = f"""
func.func @main(%x: tensor<4x64xf32>, %w: {type_} {{mlir_fp8.name = "w"}}) -> tensor<4x16xf32> {{
  {moves}
  %y = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0]
    : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}}"""
    made = mlir_fp8.quantize(text, recipe, weights=["w"], scales=layout)
    shape = tuple(map(int, re.findall(r"\d+(?=x)", type_)))
    w = RNG.standard_normal(shape).astype(np.float32) * RNG.uniform(0.1, 9, shape[-1])
    w = w.astype(np.float32)
    x = RNG.standard_normal((4, 64)).astype(np.float32)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"w": w}), x))
    assert 1e-4 < error(got, x @ moved(w)) < 0.06


SCAN = """
func.func @main(%w: tensor<3x8x8xf32> {mlir_fp8.name = "w"}, %x: tensor<4x8xf32>)
    -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<3> : tensor<i32>
  %y, %held, %i = stablehlo.while(%h = %x, %carried = %w, %n = %zero)
      : tensor<4x8xf32>, tensor<3x8x8xf32>, tensor<i32>
  cond {
    %more = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %carried, %n, %zero, %zero, sizes = [1, 8, 8]
      : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %layer = stablehlo.reshape %slice : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %next = stablehlo.dot_general %h, %layer, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %after = stablehlo.add %n, %one : tensor<i32>
    stablehlo.return %next, %carried, %after : tensor<4x8xf32>, tensor<3x8x8xf32>, tensor<i32>
  }
  %kept = stablehlo.slice %held [0:1, 0:1, 0:1] : (tensor<3x8x8xf32>) -> tensor<1x1x1xf32>
  return %y : tensor<4x8xf32>
}
"""


@pytest.mark.parametrize("recipe", ["weight_only", "current", "delayed"])
def test_loops_over_stacked_weights(recipe: str) -> None:
    made = mlir_fp8.quantize(SCAN, recipe, weights=["w"])
    assert "tensor<3x8x8xf32>" not in str(made.module)
    w = RNG.standard_normal((3, 8, 8)).astype(np.float32)
    x = RNG.standard_normal((4, 8)).astype(np.float32)
    arguments = made.arguments(made.prepare({"w": w}), x)
    step = mlir_fp8.compile(made.module)
    state, got = made.state, x
    for _ in range(5):  # until the scale is that of the largest turn
        (got,), state = made.split(step(*arguments, *state.values()))
    assert error(got, x @ w[0] @ w[1] @ w[2]) < 0.1


def test_filters_of_convolutions() -> None:
    text = """
func.func @main(%x: tensor<1x6x6x4xf32>, %w: tensor<3x3x4x8xf32> {mlir_fp8.name = "w"})
    -> tensor<1x4x4x8xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}"""
    x = RNG.standard_normal((1, 6, 6, 4)).astype(np.float32)
    w = RNG.standard_normal((3, 3, 4, 8)).astype(np.float32)
    (want,) = mlir_fp8.compile(text)(x, w)
    for recipe in ("weight_only", "current"):
        for layout in LAYOUTS:
            made = mlir_fp8.quantize(text, recipe, weights=["w"], scales=layout)
            prepared = made.prepare({"w": w})
            sizes = {"tensor": (), "channel": (1, 1, 1, 8), "block": (3, 3, 1, 1)}
            assert prepared["w_scale"].shape == sizes.get(layout, (3, 3, 1, 8))
            (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
            assert 1e-4 < error(got, want) < 0.05


def test_experts_have_scales_of_their_own() -> None:
    text = """
func.func @main(%x: tensor<2x4x64xf32>, %w: tensor<2x64x8xf32> {mlir_fp8.name = "w"})
    -> tensor<2x4x8xf32> {
  %y = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x4x64xf32>, tensor<2x64x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}"""
    x = RNG.standard_normal((2, 4, 64)).astype(np.float32)
    w = RNG.standard_normal((2, 64, 8)).astype(np.float32)
    w[1] *= 1000
    for recipe in ("weight_only", "current"):
        for layout, shape in (("channel", (2, 1, 8)), ("block", (2, 1, 1)), ("group32", (2, 2, 8))):
            made = mlir_fp8.quantize(text, recipe, weights=["w"], scales=layout)
            prepared = made.prepare({"w": w})
            assert prepared["w_scale"].shape == shape
            (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
            for expert in range(2):
                assert error(got[expert], x[expert] @ w[expert]) < 0.05
