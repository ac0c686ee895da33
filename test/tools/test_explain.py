"""`mlir_fp8.explain`: verdicts on patterns, models and devices, and the places of obstacles."""

from pathlib import Path
from typing import Any

import pytest

import mlir_fp8
from mlir_fp8.lowering.fp8.scaled_dot.target_names import SUMMARIES

ROOT = Path(__file__).parent.parent.parent
PATTERNS = ROOT / "test" / "lowering" / "patterns"
MODELS = ROOT / "test" / "models"
TARGETS = ("fp8", "xla-gpu", "cublaslt", "torch-scaled-mm", "cublaslt-blackwell")

# By pattern: what each target finds in the way on a Hopper GPU, "!" where the product is lost. The
# row-major [K, N] weights of all patterns are no TN layout; that alone is written as +.
VERDICTS = {
    "p01_raw_f8_dot": ("", "", "+ unclamped-output", "+ unclamped-output", "unclamped-output"),
    "p02_convert_only": ("", "", "+", "+", ""),
    "p03_scaled_ab": ("", "", "+", "+", ""),
    "p04_inv_scaled_ab": ("", "", "+", "+", ""),
    "p05_scaled_d": ("", "", "+", "+", ""),
    "p06_scaled_d_amax": ("", "", "+", "+ amax", ""),
    "p07_vector_bias": ("", "", "+", "+", ""),
    "p08_matrix_bias": ("", "", "+", "+ matrix-bias", ""),
    "p09_bias_relu_amax": ("", "", "+", "+ activation amax", ""),
    "p10_bias_gelu_tanh": ("", "", "+", "+ activation", ""),
    "p11_batched": ("", "", "+", "! + rank-2 rank-2", ""),
    "p13_mixed_bwd_highest": ("", "", "+", "+", ""),
    "p15_const_alpha": ("", "", "+", "+ alpha", ""),
    "r01_e5m2_e5m2": ("! both-e5m2",) * 5,
    "r02_rowwise_scale": ("", "! scale-rank scale-rank", "+", "+", "! scale-capability"),
    "r03_no_clamp": (
        "",
        "unclamped-output",
        "+ unclamped-output",
        "+ unclamped-output",
        "unclamped-output",
    ),
    "r04_wrong_clamp": (
        "clamp-bounds",
        "clamp-bounds",
        "+ clamp-bounds",
        "+ clamp-bounds",
        "clamp-bounds",
    ),
    "r06_fnuz": (
        "",
        "! format format",
        "! + format format",
        "! + format format",
        "! format format",
    ),
    "r08_f32_bias": ("", "bias-type", "+ bias-type", "+ bias-type", "bias-type"),
}
# By model: how many dots are fused, partly fused, not fused and not FP8 for xla-gpu.
COUNTS = {
    "mlp_delayed_scaling": (0, 2, 0, 0),
    "transformer_forward": (0, 0, 5, 2),
    "transformer_train_step": (0, 0, 15, 6),
}


def explained(file: Path, **options: Any) -> mlir_fp8.Explanation:
    return mlir_fp8.explain(mlir_fp8.load(file), TARGETS, name=str(file), **options)


def test_every_target_has_verdicts() -> None:
    assert tuple(SUMMARIES) == TARGETS, "give it a column in VERDICTS"


def test_every_pattern_has_verdicts() -> None:
    assert {file.stem for file in PATTERNS.glob("*.mlir")} == set(VERDICTS)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("pattern", VERDICTS)
def test_pattern(pattern: str) -> None:
    (row,) = explained(PATTERNS / f"{pattern}.mlir").rows
    assert [answer.target for answer in row.answers] == list(TARGETS)
    for answer, expected in zip(row.answers, VERDICTS[pattern], strict=True):
        kinds = expected.replace("+", "layout").replace("!", "").split()
        assert sorted(each.kind for each in answer.obstacles) == sorted(kinds), answer.target
        verdict = "not fused" if "!" in expected else "partly fused" if kinds else "fused"
        assert answer.verdict == verdict, answer.target


@pytest.mark.sampled(4)
@pytest.mark.parametrize("pattern", VERDICTS)
def test_pattern_on_blackwell(pattern: str) -> None:
    """The layout is no matter there, and scales per row are not for cuBLASLt."""
    (row,) = explained(PATTERNS / f"{pattern}.mlir", compute_capability="10.0").rows
    for answer, expected in zip(row.answers, VERDICTS[pattern], strict=True):
        kinds = expected.replace("+", "").replace("!", "").split()
        if pattern == "r02_rowwise_scale" and answer.target.startswith("cublaslt"):
            kinds = ["scale-capability"]
        assert sorted(each.kind for each in answer.obstacles) == sorted(kinds), answer.target


@pytest.mark.parametrize(
    ("pattern", "capability", "verdict"),
    [
        ("r06_fnuz", "gfx942", "fused"),
        ("p03_scaled_ab", "gfx942", "not fused"),
        ("p03_scaled_ab", "gfx950", "fused"),
        ("p05_scaled_d", "gfx950", "partly fused"),
        ("p03_scaled_ab", "8.9", "fused"),
        ("p03_scaled_ab", "8.6", "not fused"),
    ],
)
def test_other_devices(pattern: str, capability: str, verdict: str) -> None:
    module = mlir_fp8.load(PATTERNS / f"{pattern}.mlir")
    (row,) = mlir_fp8.explain(module, "xla-gpu", compute_capability=capability).rows
    assert [answer.verdict for answer in row.answers] == [verdict]


@pytest.mark.parametrize("model", COUNTS)
@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_model(model: str, suffix: str) -> None:
    explanation = explained(MODELS / f"{model}.{suffix}")
    assert tuple(explanation.counts("xla-gpu").values()) == COUNTS[model]
    own = explanation.counts("fp8")
    assert own["not fused"] == 0 and own["not FP8"] == COUNTS[model][-1]
    assert own["fused"] + own["partly fused"] == sum(COUNTS[model][:-1])


def test_a_convert_in_the_scales_path_is_found_where_it_is() -> None:
    """`x.astype(bf16) * s.astype(bf16)`: XLA:GPU runs every FP8 dot of the model in 16 bits."""
    row = explained(MODELS / "transformer_forward.mlir").rows[0]
    obstacles = row.answers[1].obstacles
    assert [(each.kind, each.part) for each in obstacles] == [
        ("scale-convert", "lhs"),
        ("scale-convert", "rhs"),
    ]
    lines = (MODELS / "transformer_forward.mlir").read_text().splitlines()
    for each in obstacles:
        line = lines[int(each.location.split(":")[-2]) - 1]
        assert "stablehlo.convert" in line and line.endswith("(tensor<f32>) -> tensor<bf16>")


@pytest.mark.parametrize(
    ("pattern", "target", "kind", "line"),
    [
        ("r03_no_clamp", "xla-gpu", "unclamped-output", "stablehlo.convert %sc"),
        ("r04_wrong_clamp", "fp8", "clamp-bounds", "stablehlo.clamp"),
        ("r08_f32_bias", "xla-gpu", "bias-type", "stablehlo.add"),
        ("r02_rowwise_scale", "xla-gpu", "scale-rank", "stablehlo.multiply"),
        ("p06_scaled_d_amax", "torch-scaled-mm", "amax", "stablehlo.reduce"),
        ("p09_bias_relu_amax", "torch-scaled-mm", "activation", "stablehlo.maximum %pre"),
        ("p15_const_alpha", "torch-scaled-mm", "alpha", "stablehlo.multiply %d, %k"),
        ("p08_matrix_bias", "torch-scaled-mm", "matrix-bias", "stablehlo.add"),
        ("r06_fnuz", "xla-gpu", "format", "stablehlo.dot_general"),
    ],
)
def test_places(pattern: str, target: str, kind: str, line: str) -> None:
    file = PATTERNS / f"{pattern}.mlir"
    (row,) = mlir_fp8.explain(mlir_fp8.load(file), target, name=str(file)).rows
    found = next(each for each in row.answers[0].obstacles if each.kind == kind)
    name, number, _ = found.location.rsplit(":", 2)
    assert name == str(file)
    assert line in file.read_text().splitlines()[int(number) - 1]


def test_an_operand_that_is_not_fp8_makes_no_fp8_dot_unless_the_other_is() -> None:
    text = """
func.func @main(%a: tensor<64x128xf32>, %q: tensor<128x32xf8E4M3FN>, %b: tensor<128x32xf32>)
    -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %w = stablehlo.convert %q : (tensor<128x32xf8E4M3FN>) -> tensor<128x32xf32>
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}
"""
    explanation = mlir_fp8.explain(mlir_fp8.load(text))
    assert [row.answers[0].verdict for row in explanation.rows] == ["not fused", "not FP8"]


CONVOLUTION = """
func.func @main(%a: tensor<1x8x8x16xf8E4M3FN>, %b: tensor<3x3x16x32xf8E4M3FN>,
                %s: tensor<f32>) -> tensor<1x6x6x32xf32> {{
  %aw = stablehlo.convert %a : (tensor<1x8x8x16xf8E4M3FN>) -> tensor<1x8x8x16xf32>
  %as = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1x8x8x16xf32>
  %ad = stablehlo.multiply %aw, %as : tensor<1x8x8x16xf32>
  %at = {move}
  %bd = stablehlo.convert %b : (tensor<3x3x16x32xf8E4M3FN>) -> tensor<3x3x16x32xf32>
  %d = stablehlo.convolution(%at, %bd) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {{stride = [1, 1], pad = [[0, 0], [0, 0]]}}
    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x6x6x32xf32>
  return %d : tensor<1x6x6x32xf32>
}}
"""


def test_a_dequantize_before_a_transpose_is_lost_before_a_convolution() -> None:
    type_ = "tensor<1x8x8x16xf32>"
    move = f"stablehlo.transpose %ad, dims = [0, 2, 1, 3] : ({type_}) -> {type_}"
    moved = mlir_fp8.explain(mlir_fp8.load(CONVOLUTION.format(move=move)), "xla-gpu").rows[0]
    (obstacle,) = moved.answers[0].obstacles
    assert (obstacle.kind, obstacle.part) == ("movement-between", "lhs")
    assert obstacle.location == "<module>:7:9"
    assert moved.answers[0].verdict == "not fused"
    direct = CONVOLUTION.format(move=f"stablehlo.negate %ad : {type_}").replace("(%at,", "(%ad,")
    row = mlir_fp8.explain(mlir_fp8.load(direct), "xla-gpu").rows[0]
    assert row.answers[0].verdict == "fused"


def test_ops_of_the_dialect_have_rows() -> None:
    """In text, and as the composites that an artifact holds."""
    text = """
func.func @main(%a: tensor<64x128xf8E4M3FN>, %b: tensor<32x128xf8E4M3FN>, %s: tensor<64x1xf32>)
    -> tensor<64x32xf32> {
  %0 = "fp8.scaled_dot"(%a, %b, %s) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1]>, operand_type = f32}
    : (tensor<64x128xf8E4M3FN>, tensor<32x128xf8E4M3FN>, tensor<64x1xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
"""
    module = mlir_fp8.load(text)
    for each in (module, mlir_fp8.deserialize(mlir_fp8.serialize(module))):
        (row,) = mlir_fp8.explain(each, ["fp8", "xla-gpu"]).rows
        assert [answer.verdict for answer in row.answers] == ["fused", "not fused"]
        assert row.op == "scaled_dot"


def test_the_module_stays_as_it_is() -> None:
    module = mlir_fp8.load(MODELS / "transformer_forward.mlir")
    before = str(module)
    mlir_fp8.explain(module, "all")
    mlir_fp8.lint(module)
    assert str(module) == before


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"target": "tpu"}, "'tpu' is no target: it is all, or one of fp8, xla-gpu"),
        ({"target": ["fp8", "x"]}, "'x' is no target"),
        ({"compute_capability": "x"}, "'x' is no compute capability"),
        ({"cuda_version": "x"}, "'x' is no CUDA version"),
    ],
)
def test_api_errors(options: dict[str, Any], reason: str) -> None:
    module = mlir_fp8.load("func.func @main() { return }\n")
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        mlir_fp8.explain(module, **options)
    with pytest.raises(mlir_fp8.Fp8Error, match="module is a"):
        mlir_fp8.explain("text")  # type: ignore[arg-type]
    with pytest.raises(mlir_fp8.Fp8Error, match="module is a"):
        mlir_fp8.lint("text")  # type: ignore[arg-type]
