"""chlo.ragged_dot of JAX's exports, in artifacts, quantized by recipes and explained."""

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.lowering.fp8.scaling.decisions import Decision

SIZES = np.array([10, 0, 30, 20], np.int32)
TEXT = """
func.func @main(%x: tensor<64x32xf32>, %y: tensor<4x32x48xf32>, %n: tensor<4xi32>) -> tensor<64x48xf32> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
    : (tensor<64x32xf32>, tensor<4x32x48xf32>, tensor<4xi32>) -> tensor<64x48xf32>
  return %0 : tensor<64x48xf32>
}"""  # noqa: E501


def operands() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    return generator.standard_normal((64, 32), np.float32), generator.standard_normal(
        (4, 32, 48), np.float32
    )


def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    want, start = np.zeros((64, 48)), 0
    for matrix, size in zip(y, SIZES, strict=True):
        want[start : start + size] = x[start : start + size].astype(np.float64) @ matrix
        start += size
    return want


def relative(got: np.ndarray, want: np.ndarray) -> float:
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


@pytest.mark.parametrize("target", ["current", "0.17.0"])
def test_artifacts_compute_the_same(target: str) -> None:
    """As a composite; older versions, which have none, hold its decomposition."""
    module = ir.Module.parse(TEXT, make_context())
    artifact = mlir_fp8.serialize(module, target)
    (got,) = mlir_fp8.compile(artifact)(*operands(), SIZES)
    assert relative(got, reference(*operands())) < 1e-6
    assert "chlo.ragged_dot" in str(module)
    assert ("stablehlo.composite" in str(mlir_fp8.deserialize(artifact))) == (target == "current")


def quantized(x: np.ndarray) -> np.ndarray:
    """To f8E4M3FN by the largest magnitude, and back, in f64."""
    x = x.astype(np.float32)
    scale = np.abs(x).max() / np.float32(448)
    return (x / scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scale


def test_recipes_quantize_each_operand_once() -> None:
    made = mlir_fp8.quantize(TEXT, "current")
    (decision,) = made.decisions
    assert isinstance(decision, Decision)
    assert decision.formats == ("f8E4M3FN", "f8E4M3FN")
    (got,) = mlir_fp8.compile(made.module)(*operands(), SIZES)
    assert relative(got, reference(*map(quantized, operands()))) < 1e-6
    assert relative(got, reference(*operands())) > 1e-3
    artifact = mlir_fp8.serialize(made.module)
    (again,) = mlir_fp8.compile(artifact)(*operands(), SIZES)
    assert np.array_equal(got, again)


def test_sums_of_groups_are_quantized() -> None:
    """Of bf16, with a result in bf16, from f32 sums."""
    text = """
func.func @main(%x: tensor<64x32xbf16>, %y: tensor<64x48xbf16>, %n: tensor<4xi32>) -> tensor<4x32x48xbf16> {
  %0 = "chlo.ragged_dot"(%x, %y, %n) {mlir_fp8.skip = false, ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>}
    : (tensor<64x32xbf16>, tensor<64x48xbf16>, tensor<4xi32>) -> tensor<4x32x48xbf16>
  return %0 : tensor<4x32x48xbf16>
}"""  # noqa: E501
    made = mlir_fp8.quantize(text, "current")
    assert "mlir_fp8.skip" not in str(made.module)
    assert '"fp8.scaled_ragged_dot"' in str(made.module)
    assert '"chlo.ragged_dot"' not in str(made.module)
    generator = np.random.default_rng(1)
    x, y = (
        generator.standard_normal(shape, np.float32).astype(ml_dtypes.bfloat16)
        for shape in ((64, 32), (64, 48))
    )
    (got,) = mlir_fp8.compile(made.module)(x, y, SIZES)
    ends = np.cumsum(SIZES)
    a, b = quantized(x), quantized(y)
    parts = [slice(end - size, end) for end, size in zip(ends, SIZES, strict=True)]
    want = np.stack([a[part].T @ b[part] for part in parts])
    assert relative(got.astype(np.float64), want) < 2.0**-8


BATCHES = """
func.func @main(%x: tensor<3x4x{k}xf32>, %y: tensor<3x{k}x5xf32>, %n: tensor<{n}xi32>) -> tensor<{r}xf32> {{
  %0 = "chlo.ragged_dot"(%x, %y, %n) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
    lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [{of}]>}}
    : (tensor<3x4x{k}xf32>, tensor<3x{k}x5xf32>, tensor<{n}xi32>) -> tensor<{r}xf32>
  return %0 : tensor<{r}xf32>
}}"""  # noqa: E501


def test_a_ragged_batch_is_a_scaled_dot() -> None:
    made = mlir_fp8.quantize(BATCHES.format(k=7, n=3, r="3x4x5", of=0), "current")
    assert '"fp8.scaled_dot"' in str(made.module) and "ragged" not in str(made.module)
    generator = np.random.default_rng(2)
    x, y = (generator.standard_normal(s, np.float32) for s in ((3, 4, 7), (3, 7, 5)))
    (got,) = mlir_fp8.compile(made.module)(x, y, np.array([1, 0, 1], np.int32))
    assert relative(got, quantized(x) @ quantized(y)) < 1e-6


def test_batches_of_groups_read_dequantized_operands() -> None:
    made = mlir_fp8.quantize(BATCHES.format(k=7, n="3x2", r="2x3x4x5", of=2), "current")
    assert '"fp8.dequantize"' in str(made.module) and "chlo.ragged_dot" in str(made.module)
    generator = np.random.default_rng(3)
    x, y = (generator.standard_normal(s, np.float32) for s in ((3, 4, 7), (3, 7, 5)))
    sizes = np.array([[2, 5], [0, 7], [4, 1]], np.int32)
    (got,) = mlir_fp8.compile(made.module)(x, y, sizes)
    a, b = quantized(x), quantized(y)
    want = np.zeros((2, 3, 4, 5))
    for batch, (first, second) in enumerate(sizes):
        for group, part in enumerate((slice(first), slice(first, first + second))):
            want[group, batch] = a[batch, :, part] @ b[batch, part]
    assert relative(got, want) < 1e-6


def test_sizes_for_selection_are_those_of_a_group() -> None:
    (taken,) = mlir_fp8.quantize(TEXT, "current", min_size=32).decisions
    (left,) = mlir_fp8.quantize(TEXT, "current", min_size=33).decisions
    assert not taken.left
    assert "33" in left.left


def test_explain_names_it() -> None:
    made = mlir_fp8.quantize(TEXT, "current").module
    for module, kind in ((ir.Module.parse(TEXT, make_context()), "not-fp8"), (made, "groups")):
        (row,) = mlir_fp8.explain(module).rows
        assert [each.kind for each in row.answers[0].obstacles] == [kind]


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_exports_of_jax(platform: str) -> None:
    """For a TPU JAX writes a composite, for a CPU masked dots."""
    jax = pytest.importorskip("jax")
    export = pytest.importorskip("jax.export")

    def gradients(x: np.ndarray, y: np.ndarray, sizes: np.ndarray) -> tuple[object, object]:
        def loss(x: np.ndarray, y: np.ndarray) -> object:
            return (jax.lax.ragged_dot(x, y, sizes) ** 2).sum()

        return jax.grad(loss, argnums=(0, 1))(x, y)

    arguments = (*operands(), SIZES)
    made = export.export(jax.jit(gradients), platforms=[platform])(*arguments).mlir_module()
    assert ("chlo.ragged_dot" in made) == (platform == "tpu")
    got = mlir_fp8.compile(made)(*arguments)
    for own, want in zip(got, jax.jit(gradients)(*arguments), strict=True):
        assert relative(own, np.asarray(want)) < 1e-6
