"""What `mlir_fp8.jax.jit` makes, in other transformations of JAX, and the state of its steps."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8

jax = pytest.importorskip("jax")
jnp = jax.numpy

import mlir_fp8.jax  # noqa: E402
from mlir_fp8.jax.options import passes_of  # noqa: E402

X = jax.random.normal(jax.random.key(0), (8, 32))
W = jax.random.normal(jax.random.key(1), (32, 16))


def product(x: Any, w: Any) -> Any:
    return x @ w


@pytest.fixture(scope="module")
def quantized() -> Any:
    return mlir_fp8.jax.jit(product, quantize="current")


def loss(w: Any, x: Any) -> Any:
    return jnp.mean(product(x, w) ** 2)


def test_nested_in_another_jit(quantized: Any) -> None:
    @jax.jit
    def outer(x: Any, w: Any) -> Any:
        return jnp.sin(quantized(x, w)) + 1

    np.testing.assert_allclose(outer(X, W), jnp.sin(quantized(X, W)) + 1, atol=1e-6)
    text = outer.lower(X, W).as_text()
    assert "f8E4M3FN" in text and "custom_call" not in text


def test_tracers_that_the_function_closes_over(quantized: Any) -> None:
    @jax.jit
    def outer(x: Any, w: Any) -> Any:
        return mlir_fp8.jax.jit(lambda x: x @ w, quantize="current")(x)

    assert np.array_equal(outer(X, W), quantized(X, W))


def test_vmap_quantizes_each_element(quantized: Any) -> None:
    many = jnp.stack([X, 1000 * X])  # one scale for both would be another result
    got = jax.vmap(quantized, in_axes=(0, None))(many, W)
    assert np.array_equal(got, jnp.stack([quantized(X, W), quantized(1000 * X, W)]))


def test_the_gradient_of_a_whole_step() -> None:
    step = mlir_fp8.jax.jit(jax.value_and_grad(loss), quantize="current")
    (value, gradient), (want, wide) = step(W, X), jax.value_and_grad(loss)(W, X)
    assert abs(float(value) / float(want) - 1) < 0.05
    distance = jnp.linalg.norm(gradient - wide) / jnp.linalg.norm(wide)
    assert 1e-3 < float(distance) < 0.1


@pytest.mark.parametrize("transformed", [jax.grad, jax.jacfwd])
def test_a_gradient_through_it_is_refused(transformed: Any) -> None:
    step = mlir_fp8.jax.jit(loss, quantize="current")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^'loss' of mlir_fp8\.jax\.jit has no derivative"):
        transformed(step)(W, X)


def test_it_is_exported_with_the_module_inside(quantized: Any) -> None:
    exported = jax.export.export(quantized)(X, W).serialize()
    assert np.array_equal(jax.export.deserialize(exported).call(X, W), quantized(X, W))


@pytest.mark.parametrize("target", [None, "xla-gpu"])
def test_a_program_with_layouts_is_in_another(target: str | None) -> None:
    inner = mlir_fp8.jax.jit(lambda x, w: x @ w @ w.T, quantize="current", target="xla-gpu")
    outer = mlir_fp8.jax.jit(lambda x, w: inner(x, w), target=target)
    assert "LayoutConstraint" in outer.lower(X, W).as_text()
    np.testing.assert_allclose(outer(X, W), inner(X, W), rtol=1e-5, atol=1e-5)


def test_custom_calls_without_guarantees_are_refused() -> None:
    def asks(x: Any) -> Any:
        return jax.ffi.ffi_call("somebodys", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    with pytest.raises(mlir_fp8.Fp8Error, match="'asks' has a custom call of 'somebodys'"):
        mlir_fp8.jax.jit(asks)(X)


def test_effects_and_callbacks_are_refused() -> None:
    def says(x: Any) -> Any:
        jax.debug.print("{}", x)
        return x

    def asks(x: Any) -> Any:
        return jax.pure_callback(lambda y: y, x, x)

    with pytest.raises(mlir_fp8.Fp8Error, match=r"^'says' has effects \(.*outside") as error:
        mlir_fp8.jax.jit(says)(X)
    assert "\n" not in str(error.value)
    with pytest.raises(mlir_fp8.Fp8Error, match="'asks' cannot be a module of its own"):
        mlir_fp8.jax.jit(asks)(X)


def test_open_sizes_are_refused(quantized: Any) -> None:
    open_rows = jax.ShapeDtypeStruct(jax.export.symbolic_shape("rows, 32"), jnp.float32)
    with pytest.raises(mlir_fp8.Fp8Error, match="'product' is traced with sizes"):
        jax.export.export(quantized)(open_rows, W)


def test_a_function_with_a_state_of_its_own() -> None:
    step = mlir_fp8.jax.jit(lambda state, x: state @ x, quantize=DELAYED)
    first = step.init_state(state=X, x=W)
    result, _ = step(first, X, x=W)
    assert result.shape == (8, 16)


@pytest.mark.parametrize(
    ("quantize", "message"),
    [
        ("currant", "currant"),
        ({"weights": "*"}, "quantize has 'weights', which jit cannot take"),
        ({"target": "xla-gpu"}, "give target= of jit"),
        ({"skip_batch": True}, "quantize has 'skip_batch', which is no option: give some of .*ops"),
    ],
)
def test_options_that_are_wrong(quantize: Any, message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.jax.jit(product, quantize=quantize)


def test_options_of_jax_are_refused_as_by_jax() -> None:
    with pytest.raises(ValueError, match="invalid argnames") as unknown:
        mlir_fp8.jax.jit(product, static_argnames="mode")
    assert type(unknown.value) is ValueError
    with pytest.raises(TypeError, match="unexpected keyword argument 'static'") as wrong:
        mlir_fp8.jax.jit(product, static=1)
    assert type(wrong.value) is TypeError
    with pytest.raises(mlir_fp8.Fp8Error, match="function is a int, which cannot be called"):
        mlir_fp8.jax.jit(3)  # pyright: ignore[reportArgumentType]


def test_a_target_that_is_wrong() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="target is 'gpu': give 'xla-gpu' or None"):
        mlir_fp8.jax.jit(product, target="gpu")
    assert passes_of({"recipe": "current", "ops": ["stablehlo.tanh"]}, None).options == (
        ("ops", ("stablehlo.tanh",)),
    )


DELAYED = mlir_fp8.DelayedScaling(history=2, order="flax")


@pytest.fixture(scope="module")
def delayed() -> Any:
    return mlir_fp8.jax.jit(
        lambda times, x, w: times * product(x, w),
        quantize=DELAYED,
        static_argnums=0,
    )


def test_the_caller_carries_the_state(delayed: Any) -> None:
    state = delayed.init_state(2, X, W)
    assert {key: value.shape for key, value in state.items()} == {
        "dot0.lhs.scale": (),
        "dot0.lhs.amax_history": (2,),
        "dot0.rhs.scale": (),
        "dot0.rhs.amax_history": (2,),
    }
    assert float(state["dot0.lhs.scale"]) == 1.0
    result, state = delayed(state, 2, X, W)
    assert result.shape == (8, 16)
    assert float(state["dot0.lhs.amax_history"][0]) == float(jnp.abs(X).max())
    assert float(state["dot0.lhs.scale"]) == 1.0  # of the steps before, of which there were none
    _, state = delayed(state, 2, X, W)
    assert float(state["dot0.lhs.scale"]) == pytest.approx(float(jnp.abs(X).max()) / 448)


def test_numbers_of_arguments_leave_the_state_out() -> None:
    step = mlir_fp8.jax.jit(
        lambda x, w, n: (x @ w, x + n),
        quantize=DELAYED,
        donate_argnums=0,
        static_argnums=np.int64(2),  # pyright: ignore[reportArgumentType]
    )
    given = jnp.copy(X)
    state = step.init_state(given, W, 1)
    (_, more), _ = step(state, given, W, 1)
    assert given.is_deleted() and np.array_equal(more, X + 1)
    assert not any(value.is_deleted() for value in state.values())


def test_the_state_is_carried_for_the_caller(delayed: Any) -> None:
    step, state = mlir_fp8.jax.Threaded(delayed), delayed.init_state(2, X, W)
    for _ in range(3):
        want, state = delayed(state, 2, X, W)
        assert np.array_equal(step(2, X, W), want)
    assert jax.tree.all(jax.tree.map(np.array_equal, step.state, state))
    with pytest.raises(mlir_fp8.Fp8Error, match="step has no state"):
        mlir_fp8.jax.Threaded(product)


def test_states_of_other_programs_are_refused(delayed: Any) -> None:
    state = delayed.init_state(2, X, W)
    with pytest.raises(mlir_fp8.Fp8Error, match="the state of '<lambda>' is a list: give"):
        delayed([1.0], 2, X, W)
    less = {key: value for key, value in state.items() if key != "dot0.rhs.scale"}
    with pytest.raises(mlir_fp8.Fp8Error, match=r"has 'dot0.rhs.scale' absent, not float32\[\]:"):
        delayed(less, 2, X, W)


def test_a_scan_carries_the_state(delayed: Any) -> None:
    def body(state: Any, x: Any) -> Any:
        result, state = delayed(state, 2, x, W)
        return state, result

    state = delayed.init_state(2, X, W)
    _, results = jax.lax.scan(body, state, jnp.stack([X, X]))
    first, state = delayed(state, 2, X, W)
    second, _ = delayed(state, 2, X, W)
    np.testing.assert_allclose(results, jnp.stack([first, second]), atol=1e-5)
