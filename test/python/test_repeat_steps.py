"""`repeat_steps`: one call of a loop is as many calls of a step."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

STEP = """
func.func @main(%w: tensor<4x4xf32> {mlir_fp8.name = "w"},
                %cache: tensor<8x4xf8E4M3FN> {mlir_fp8.name = "cache"},
                %x: tensor<1x4xf32>, %at: tensor<i32> {mlir_fp8.name = "at"})
    -> (tensor<f32>, tensor<8x4xf8E4M3FN> {mlir_fp8.name = "next"}, tensor<1x4xf32>, tensor<i1>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = stablehlo.tanh %0 : tensor<1x4xf32>
  %row = stablehlo.convert %1 : (tensor<1x4xf32>) -> tensor<1x4xf8E4M3FN>
  %2 = stablehlo.dynamic_update_slice %cache, %row, %at, %zero
    : (tensor<8x4xf8E4M3FN>, tensor<1x4xf8E4M3FN>, tensor<i32>, tensor<i32>) -> tensor<8x4xf8E4M3FN>
  %wide = stablehlo.convert %2 : (tensor<8x4xf8E4M3FN>) -> tensor<8x4xf32>
  %sum = stablehlo.reduce(%wide init: %f) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %big = stablehlo.compare GT, %sum, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %sum, %2, %1, %big : tensor<f32>, tensor<8x4xf8E4M3FN>, tensor<1x4xf32>, tensor<i1>
}"""
CARRY: dict[int | str, int | str] = {"cache": "next", 2: 2}
W = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
X = np.ones((1, 4), np.float32)


def cache() -> np.ndarray:
    return np.zeros((8, 4), ml_dtypes.float8_e4m3fn)


def test_as_many_calls_of_a_step() -> None:
    looped = mlir_fp8.repeat_steps(STEP, 5, CARRY, counter="at", stack=[2])
    sums, last, x, flags, states = mlir_fp8.compile(looped)(W, cache(), X, 1)
    step = mlir_fp8.compile(STEP)
    kept, state = cache(), X
    for turn in range(5):
        total, kept, state, flag = step(W, kept, state, 1 + turn)
        assert (sums[turn], flags[turn]) == (total, flag)
        assert states[turn].tobytes() == state.tobytes()
    assert last.tobytes() == kept.tobytes() and x.tobytes() == state.tobytes()
    assert (sums.shape, flags.shape, states.shape) == ((5,), (5,), (5, 1, 4))


def test_without_a_counter_all_steps_are_at_one_place() -> None:
    looped = mlir_fp8.repeat_steps(STEP, 3, CARRY)
    _, last, x, _ = mlir_fp8.compile(looped)(W, cache(), X, 2)
    assert np.flatnonzero(last.astype(np.float32).any(1)).tolist() == [2]
    state = X
    for _ in range(3):
        state = np.tanh(state @ W)
    np.testing.assert_allclose(x, state, rtol=1e-5)


def test_what_is_carried_may_be_donated() -> None:
    looped = mlir_fp8.repeat_steps(STEP, 3, CARRY, counter="at")
    step = mlir_fp8.compile(looped, donate={"cache": "next"})
    given = cache()
    _, last, _, _ = step(W, given, X, 0)
    assert last is given and given.astype(np.float32).any(1).tolist() == [True] * 3 + [False] * 5


def test_nothing_is_carried() -> None:
    text = """func.func @main(%a: tensor<2xcomplex<f32>>, %b: tensor<f8E8M0FNU>)
      -> (tensor<2xcomplex<f32>>, tensor<f8E8M0FNU>) {
      return %a, %b : tensor<2xcomplex<f32>>, tensor<f8E8M0FNU>
    }"""
    a, b = mlir_fp8.compile(mlir_fp8.repeat_steps(text, 2, {}))(
        np.array([1j, 2], np.complex64), np.array(2, ml_dtypes.float8_e8m0fnu)
    )
    assert a.tolist() == [[1j, 2], [1j, 2]] and b.astype(float).tolist() == [2, 2]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_single_result(steps: int) -> None:
    text = """func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.add %a, %a : tensor<f32>
      return %0 : tensor<f32>
    }"""
    (last,) = mlir_fp8.compile(mlir_fp8.repeat_steps(text, steps, {0: 0}))(1.0)
    assert last == 2**steps
    (all_,) = mlir_fp8.compile(mlir_fp8.repeat_steps(text, steps, {}))(1.0)
    assert all_.tolist() == [2] * steps


def test_the_module_stays_and_is_named_as_jax_names_it() -> None:
    jax: Any = pytest.importorskip("jax")
    lowered = jax.jit(lambda p, x: x @ p["w"]).lower({"w": W}, X)
    text = lowered.as_text(debug_info=True)
    module = mlir_fp8.load(text)
    before = str(module)
    made = mlir_fp8.quantize(
        mlir_fp8.repeat_steps(module, 4, {1: 0}), "weight_only", weights=["p['w']"]
    )
    assert str(module) == before
    assert made.weights[0].name == "p['w']" and not made.weights[0].left
    (x,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare({"p['w']": W}), X))
    np.testing.assert_allclose(x, X @ np.linalg.matrix_power(W, 4), rtol=0.3, atol=0.3)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "types": ({"carry": {0: 1}}, "carry: argument 0 is tensor<4x4xf32>, result 1 is tensor<8x4xf8"),
    "twice": ({"carry": {"cache": 1, 1: 1}}, "carry: argument 1 or result 1 is given twice"),
    "name": ({"carry": {"kv": 1}}, r"there is no one argument 'kv' of 4 \(w, cache, at\)"),
    "number": ({"carry": {0: 9}}, r"there is no one result 9 of 4 \(next\)"),
    "counter": ({"counter": "w"}, "counter: argument 0, tensor<4x4xf32>, is carried or no integer"),
    "stack": ({"stack": [0]}, "stack: result 0 is not carried, and is stacked anyway"),
    "steps": ({"steps": 0}, "steps is 0: give a number from 1 up"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    options, message = REFUSED[what]
    given: dict[str, Any] = {"steps": 2, "carry": CARRY} | options
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.repeat_steps(STEP, **given)


def test_open_sizes_are_refused() -> None:
    text = "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }"
    with pytest.raises(mlir_fp8.Fp8Error, match="steps have tensors of static shape"):
        mlir_fp8.repeat_steps(text, 2, {0: 0})
