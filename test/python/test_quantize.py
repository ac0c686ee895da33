"""Scaled FP8 by recipes: against the recipes' own formulas in numpy, step by step."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

E4M3 = ml_dtypes.float8_e4m3fn
E5M2 = ml_dtypes.float8_e5m2
LARGEST = {E4M3: 448.0, E5M2: 57344.0}
HISTORY = 3
State = dict[str, np.ndarray]

LAYER = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>)
    -> (tensor<4x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>) {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %g = stablehlo.add %y, %y : tensor<4x2xf32>
  %dx = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1]
    : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
  %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0]
    : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %y, %dx, %dw : tensor<4x2xf32>, tensor<4x8xf32>, tensor<8x2xf32>
}
"""
QUANTIZERS = {"dot0.lhs": E4M3, "dot0.rhs": E4M3, "dot1.lhs": E5M2}


def flax_scale(amax: np.float32, scale: np.float32, largest: float, margin: float) -> np.float32:
    """`fp8_ops.compute_scale` of flax, line for line."""
    with np.errstate(all="ignore"):
        reciprocal = np.float32(1) / scale
        factor = np.float32(largest) / amax / np.float32(2.0**margin)
        factor = factor if amax > 0 else reciprocal
        factor = factor if np.isfinite(amax) else reciprocal
        return np.float32(1) / factor


def flax(history: np.ndarray, amax: np.float32, update: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """The scale used, the new scale and the new history, as flax's `qdq_and_return` has them."""
    scale = update(np.max(history))
    rolled = np.roll(history, -1)
    rolled[0] = amax
    return scale, scale, rolled


def transformer_engine(
    history: np.ndarray, amax: np.float32, update: Callable[..., Any], most_recent: bool
) -> tuple[Any, Any, Any]:
    """As TransformerEngine's `fused_amax_and_scale_update`; the scale used is the old one."""
    history = history.copy()
    history[0] = amax
    scale = update(history[0] if most_recent else np.max(history))
    rolled = np.roll(history, -1)
    rolled[0] = 0
    return None, scale, rolled


def quantized(x: np.ndarray, scale: Any, fmt: Any) -> np.ndarray:
    largest = np.float32(LARGEST[fmt])
    with np.errstate(invalid="ignore"):
        return np.clip(x / scale, -largest, largest).astype(fmt).astype(np.float32)


def steps() -> list[tuple[np.ndarray, np.ndarray]]:
    """Arguments of eight steps: of several sizes, zero, with an infinity, with a NaN."""
    rng = np.random.default_rng(6)
    pairs = [
        (
            rng.normal(0, size, (4, 8)).astype(np.float32),
            rng.normal(0, 1, (8, 2)).astype(np.float32),
        )
        for size in (1, 30, 0.001, 0, 1e4, 2, 2, 2)
    ]
    pairs[5][0][1, 2] = np.inf
    pairs[6][1][3, 1] = np.nan
    return pairs


@pytest.mark.parametrize(
    ("order", "algorithm", "margin"),
    [
        ("flax", "max", 0),
        ("flax", "max", 1),
        ("transformer_engine", "max", 0),
        ("transformer_engine", "most_recent", 2),
    ],
)
def test_delayed_scaling_step_by_step(order: str, algorithm: str, margin: int) -> None:
    recipe = mlir_fp8.DelayedScaling(
        history=HISTORY, order=order, algorithm=algorithm, margin=margin
    )
    made = mlir_fp8.quantize(LAYER, recipe)
    assert list(made.state) == [
        f"{name}.{part}" for name in QUANTIZERS for part in ("scale", "amax_history")
    ]
    step = mlir_fp8.compile(made.module)
    state = made.state
    for x, w in steps():
        before = state
        (y, dx, dw), state = made.split(step(x, w, *state.values()))
        tensors = {"dot0.lhs": x, "dot0.rhs": w, "dot1.lhs": y + y}
        used: State = {}
        for name, fmt in QUANTIZERS.items():
            scale, history = before[f"{name}.scale"], before[f"{name}.amax_history"]

            def update(amax: Any, scale: Any = scale, fmt: Any = fmt) -> Any:
                return flax_scale(amax, scale, LARGEST[fmt], margin)

            amax = np.max(np.abs(tensors[name]))
            now, new, rolled = (
                flax(history, amax, update)
                if order == "flax"
                else transformer_engine(history, amax, update, algorithm == "most_recent")
            )
            # Ours divides once where theirs take reciprocals: a few units in the last place.
            np.testing.assert_array_max_ulp(state[f"{name}.scale"], new, 3)
            np.testing.assert_array_equal(state[f"{name}.amax_history"], rolled)
            used[name] = scale if now is None else state[f"{name}.scale"]
        a, b, g = (quantized(tensors[n], used[n], f) for n, f in QUANTIZERS.items())
        sa, sb, sg = used.values()
        for ours, left, right, scales in (
            (y, a, b, (sa, sb)),
            (dx, g, b.T, (sg, sb)),
            (dw, a.T, g, (sa, sg)),
        ):
            with np.errstate(invalid="ignore"):
                reference = (left @ right) * scales[0] * scales[1]
                size = (np.abs(left) @ np.abs(right)) * scales[0] * scales[1]
            np.testing.assert_array_equal(np.isnan(ours), np.isnan(reference))
            assert np.all((np.abs(ours - reference) <= 1e-6 * size) | np.isnan(reference))


def test_current_scaling() -> None:
    made = mlir_fp8.quantize(LAYER, mlir_fp8.CurrentScaling())
    assert made.state == {}
    step = mlir_fp8.compile(made.module)
    for x, w in steps()[:5]:
        (y, _, _), state = made.split(step(x, w))
        assert state == {}
        sa, sb = (
            np.float32(amax / np.float32(448)) if (amax := np.max(np.abs(t))) else np.float32(1)
            for t in (x, w)
        )
        a, b = quantized(x, sa, E4M3), quantized(w, sb, E4M3)
        size = (np.abs(a) @ np.abs(b)) * sa * sb
        assert np.all(np.abs(y - a @ b * sa * sb) <= 1e-6 * size)


def test_scales_that_are_powers_of_two_lose_nothing() -> None:
    made = mlir_fp8.quantize(LAYER, "current")
    rng = np.random.default_rng(1)
    x = rng.integers(-8, 9, (4, 8)).astype(np.float32)
    w = rng.integers(-8, 9, (8, 2)).astype(np.float32)
    x[0, 0], w[0, 0] = 14, -14  # 448 / 32: both scales are 1 / 32
    results = mlir_fp8.compile(made.module)(x, w)
    np.testing.assert_array_equal(results[0], x @ w)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("recipe", ["delayed", "transformer_engine", "current"])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_16_bit_operands_are_scaled_in_f32(recipe: str, element: str) -> None:
    text = LAYER.replace("f32", element)
    made = mlir_fp8.quantize(text, recipe)
    dtype = ml_dtypes.bfloat16 if element == "bf16" else np.float16
    x, w = (each.astype(dtype) for each in steps()[0])
    (y, _, _), state = made.split(mlir_fp8.compile(made.module)(x, w, *made.state.values()))
    assert y.dtype == dtype
    wide, narrow = x.astype(np.float32), w.astype(np.float32)
    scales = [np.float32(1)] * 2
    if recipe == "current":
        scales = [np.float32(np.max(np.abs(each)) / np.float32(448)) for each in (wide, narrow)]
    a, b = (quantized(t, s, E4M3) for t, s in zip((wide, narrow), scales, strict=True))
    reference = ((a @ b) * scales[0] * scales[1]).astype(dtype)
    np.testing.assert_allclose(y.astype(np.float32), reference.astype(np.float32), rtol=2**-7)
    if state:
        assert state["dot0.lhs.amax_history"].max() == np.max(np.abs(wide))


def test_a_loop_counts_each_turn_as_a_step() -> None:
    text = """
    func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %i0 = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%i = %i0, %h = %x) : tensor<i32>, tensor<2x2xf32>
        cond {
          %n = stablehlo.constant dense<3> : tensor<i32>
          %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
            : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %2 = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %2, %1 : tensor<i32>, tensor<2x2xf32>
        }
      return %0#1 : tensor<2x2xf32>
    }"""
    recipe = mlir_fp8.DelayedScaling(history=8, order="transformer_engine")
    made = mlir_fp8.quantize(text, recipe)
    x = np.array([[1, 2], [0, 1]], np.float32)
    (y,), state = made.split(
        mlir_fp8.compile(made.module)(x, 2 * np.eye(2, dtype=np.float32), *made.state.values())
    )
    # Iterations see 2 at scale 1, 4 at scale 2 / 448, which saturates at 2, and 4 at scale 4 / 448.
    np.testing.assert_allclose(y[0, 1], 8, rtol=1e-6)
    assert sorted(state["dot0.lhs.amax_history"])[-3:] == [2, 4, 4]
    np.testing.assert_array_equal(state["dot0.rhs.amax_history"].max(), 2)
    assert state["dot0.lhs.scale"] == np.float32(4) / np.float32(448)


def test_the_module_given_is_left_as_it_is() -> None:
    module = mlir_fp8.load(LAYER)
    text = str(module)
    mlir_fp8.quantize(module)
    assert str(module) == text


def test_split_wants_all_that_a_step_gives() -> None:
    made = mlir_fp8.quantize(LAYER)
    with pytest.raises(mlir_fp8.Fp8Error, match="1 results do not hold a state of 6 arrays"):
        made.split([np.zeros(1)])
