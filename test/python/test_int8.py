"""The int8 recipe against numpy: codes, exact i32 sums, scales of tensors and rows, gradients."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error, Int8Scaling
from mlir_fp8.lowering.fp8.scaling.decisions import Decision
from mlir_fp8.lowering.fp8.scaling.recipes import recipe_named

MLP = "test/lowering/Inputs/gradients/mlp.mlir"


def quantized(x: np.ndarray, summed: tuple[int, ...] | None) -> tuple[np.ndarray, np.ndarray]:
    """Codes as int64, and the scale in a shape that broadcasts; `summed` None is per tensor."""
    axis = tuple(range(x.ndim)) if summed is None else summed
    amax = np.abs(x).max(axis=axis, keepdims=True, initial=0)
    scale = amax / np.float32(127)
    scale = np.where(scale < np.float32(2.0**-126), np.float32(1), scale)
    return np.round(np.clip(x / scale, -127, 127)).astype(np.int64), scale


def product(a: np.ndarray, b: np.ndarray, per: str) -> np.ndarray:
    (p, s), (q, t) = (
        quantized(x, None if per == "tensor" else (dim,)) for x, dim in ((a, 1), (b, 0))
    )
    return (p @ q).astype(np.float32) * s * t


def dot(shapes: tuple[tuple[int, int], tuple[int, int]], element: str = "f32") -> str:
    (m, _), (_, n) = shapes
    types = [f"tensor<{rows}x{columns}x{element}>" for rows, columns in (*shapes, (m, n))]
    return f"""func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]} }}"""


@pytest.mark.parametrize("per", ["tensor", "row"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 40, 7), (33, 129, 65), (0, 3, 2)])
def test_dots(sizes: tuple[int, int, int], per: str) -> None:
    m, k, n = sizes
    random = np.random.default_rng(k)
    a = random.standard_normal((m, k)).astype(np.float32)
    b = (random.standard_normal((k, n)) * np.exp(random.normal(size=n))).astype(np.float32)
    if m and k:
        a[0] = 0  # whose scale is 1
    made = mlir_fp8.quantize(dot(((m, k), (k, n))), Int8Scaling(per=per))
    (decision,) = made.decisions
    assert isinstance(decision, Decision) and decision.formats == ("i8", "i8")
    assert ("xi32>" in str(made.module)) and " fp8." not in str(made.module)
    (got,) = mlir_fp8.compile(made.module)(a, b)
    np.testing.assert_array_equal(got, product(a, b, per))


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_narrow_results_round_once(element: str) -> None:
    dtype = ml_dtypes.bfloat16 if element == "bf16" else np.float16
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(shape).astype(dtype) for shape in ((4, 64), (64, 6)))
    made = mlir_fp8.quantize(dot(((4, 64), (64, 6)), element), "int8")
    (got,) = mlir_fp8.compile(made.module)(a, b)
    want = product(a.astype(np.float32), b.astype(np.float32), "tensor").astype(dtype)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_loud(number: float) -> None:
    a, b = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    a[0, 1] = number
    made = mlir_fp8.quantize(dot(((2, 3), (3, 2))), Int8Scaling(per="row"))
    (got,) = mlir_fp8.compile(made.module)(a, b)
    assert np.isnan(got[0]).all() and (got[1] == 3).all()


def test_the_largest_depth() -> None:
    """127 * 127 * 133144 is what i32 holds; one more is left as it is, and said."""
    made = mlir_fp8.quantize(dot(((1, 133144), (133144, 1))), "int8")
    ones = np.ones((1, 133144), np.float32)
    (got,) = mlir_fp8.compile(made.module)(ones, ones.T)
    np.testing.assert_array_equal(got, product(ones, ones.T, "tensor"))
    (decision,) = mlir_fp8.quantize(dot(((1, 133145), (133145, 1))), "int8").decisions
    assert "which i32 does not hold" in str(decision)


def test_what_sums_nothing_stays() -> None:
    made = mlir_fp8.quantize(dot(((3, 0), (0, 4))), "int8")
    assert "sums nothing" in str(made.decisions[0])
    (got,) = mlir_fp8.compile(made.module)(np.ones((3, 0), np.float32), np.ones((0, 4), np.float32))
    assert not got.any() and got.shape == (3, 4)


def test_batches_and_order_of_dimensions() -> None:
    text = """func.func @main(%a: tensor<2x8x3x5xf32>, %b: tensor<8x7x2x5xf32>)
        -> tensor<2x3x7xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2],
        contracting_dims = [3, 1] x [3, 0]
        : (tensor<2x8x3x5xf32>, tensor<8x7x2x5xf32>) -> tensor<2x3x7xf32>
      return %0 : tensor<2x3x7xf32> }"""
    random = np.random.default_rng(2)
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((2, 8, 3, 5), (8, 7, 2, 5)))
    (p, s), (q, t) = quantized(a, (3, 1)), quantized(b, (3, 0))
    total = np.einsum("bkml,knbl->bmn", p, q).astype(np.float32)
    want = total * s[:, 0, :, 0][:, :, None] * t[0, :, :, 0].T[:, None, :]
    made = mlir_fp8.quantize(text, Int8Scaling(per="row"))
    np.testing.assert_array_equal(mlir_fp8.compile(made.module)(a, b)[0], want)


def test_convolutions_have_scales_of_tensors() -> None:
    text = """func.func @main(%a: tensor<1x9x2xf32>, %b: tensor<3x2x4xf32>) -> tensor<1x7x4xf32> {
      %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x9x2xf32>, tensor<3x2x4xf32>) -> tensor<1x7x4xf32>
      return %0 : tensor<1x7x4xf32> }"""
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((1, 9, 2), (3, 2, 4)))
    (p, s), (q, t) = quantized(a, None), quantized(b, None)
    total = sum(np.einsum("bxi,io->bxo", p[:, i : i + 7], q[i]) for i in range(3))
    made = mlir_fp8.quantize(text, Int8Scaling(per="row"))
    want = np.asarray(total).astype(np.float32) * s.reshape(()) * t.reshape(())
    np.testing.assert_array_equal(mlir_fp8.compile(made.module)(a, b)[0], want)


def test_gradients() -> None:
    every = mlir_fp8.quantize(MLP, "int8").decisions
    assert all(isinstance(each, Decision) and each.formats == ("i8", "i8") for each in every)
    forward = mlir_fp8.quantize(MLP, Int8Scaling(gradients=False)).decisions
    kinds = {
        (each.gradient == "none", bool(each.left)) for each in forward if isinstance(each, Decision)
    }
    assert kinds == {(True, False), (False, True)}


@pytest.mark.parametrize("scales", ["channel", "tensor"])
@pytest.mark.parametrize("kind", ["argument", "constant", "transposed"])
def test_weights_are_quantized_once(kind: str, scales: str) -> None:
    random = np.random.default_rng(5)
    x = random.standard_normal((6, 40)).astype(np.float32)
    w = (random.standard_normal((40, 5)) * np.arange(5)).astype(np.float32)  # a column of zeros
    held = w.T.copy() if kind == "transposed" else w
    shape = f"tensor<{'x'.join(map(str, held.shape))}xf32>"
    text = np.array2string(held, separator=",", threshold=10**6, floatmode="unique")
    made = f"%w = stablehlo.constant dense<{text}> : {shape}"
    turn = f"%t = stablehlo.transpose %w, dims = [1, 0] : ({shape}) -> tensor<40x5xf32>"
    argument = "" if kind == "constant" else f", %w: {shape}"
    module = f"""func.func @main(%x: tensor<6x40xf32>{argument}) -> tensor<6x5xf32> {{
      {made if kind == "constant" else ""}
      {turn if kind == "transposed" else ""}
      %0 = stablehlo.dot_general %x, {"%t" if kind == "transposed" else "%w"},
        contracting_dims = [1] x [0]
        : (tensor<6x40xf32>, tensor<40x5xf32>) -> tensor<6x5xf32>
      return %0 : tensor<6x5xf32> }}"""
    names = "constants" if kind == "constant" else ["arg1"]
    quantized_module = mlir_fp8.quantize(
        module, Int8Scaling(per="row"), weights=names, scales=scales, wide=()
    )
    (weight,) = quantized_module.weights
    assert weight.format == "i8" and weight.bytes_before > 3 * weight.bytes_after
    (p, s), (q, t) = quantized(x, (1,)), quantized(w, (0,) if scales == "channel" else None)
    want = (p @ q).astype(np.float32) * s * t
    arguments = [x]
    if kind != "constant":
        prepared = quantized_module.prepare({"arg1": held})
        assert prepared["arg1"].dtype == np.int8
        arguments += [prepared[name] for name in ("arg1", weight_scale(prepared))]
    (got,) = mlir_fp8.compile(quantized_module.module)(*arguments)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("observer", ["max", "percentile=99"])
def test_static_scales_of_calibration(observer: str) -> None:
    module = mlir_fp8.load(dot(((6, 40), (40, 5))))
    random = np.random.default_rng(6)
    batches = [
        [random.standard_normal(s).astype(np.float32) for s in ((6, 40), (40, 5))] for _ in "abc"
    ]
    scales = mlir_fp8.Calibration(module, observer=observer).run(batches)
    made = mlir_fp8.quantize(module, Int8Scaling(scales=scales))
    assert "stablehlo.reduce" not in str(made.module)
    a, b = (np.concatenate([batch[side].reshape(-1) for batch in batches]) for side in (0, 1))
    steps = [np.abs(x).max() / np.float32(127) for x in (a, b)]
    if observer != "max":
        found = [scales.scale_of([f"dot0.{side}"], "i8") for side in ("lhs", "rhs")]
        steps = [each.reshape(()) for each in found if each is not None]
        assert steps[0] < np.abs(a).max() / 127
    x, y = batches[1]
    p, q = (
        np.round(np.clip(each / step, -127, 127)).astype(np.int64)
        for each, step in zip((x, y), steps, strict=True)
    )
    want = (p @ q).astype(np.float32) * steps[0] * steps[1]
    np.testing.assert_array_equal(mlir_fp8.compile(made.module)(x, y)[0], want)
    with pytest.raises(Fp8Error, match="scales of calibration are per tensor"):
        Int8Scaling(per="row", scales=scales)


def weight_scale(prepared: Mapping[str, Any]) -> str:
    (name,) = (each for each in prepared if each != "arg1")
    return name


def test_the_interpreter_agrees() -> None:
    made = mlir_fp8.quantize(dot(((5, 40), (40, 7))), Int8Scaling(per="row"))
    random = np.random.default_rng(4)
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((5, 40), (40, 7)))
    (got,) = mlir_fp8.compile(made.module)(a, b)
    (want,) = mlir_fp8.interpret(made.module, a, b)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "*", "packed": True}, "drop packed, cache and target"),
        ({"weights": "*", "scales": "block"}, "has no scales of block"),
        ({"target": "xla-gpu"}, "the recipe is int8"),
        ({"ops": "all"}, "of dots and convolutions alone"),
    ],
)
def test_refusals(options: dict[str, str], message: str) -> None:
    with pytest.raises(Fp8Error, match=message):
        mlir_fp8.quantize(dot(((2, 3), (3, 2))), Int8Scaling(), **options)  # pyright: ignore[reportArgumentType]


def test_options_are_checked() -> None:
    with pytest.raises(Fp8Error, match="'block' is no per: it is one of tensor, row"):
        Int8Scaling(per="block")
    with pytest.raises(Fp8Error, match="recipe is int8, which has no margin"):
        recipe_named("int8", margin=1)
