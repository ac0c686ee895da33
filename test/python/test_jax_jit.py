"""`mlir_fp8.jax.jit`: what JAX's own jit does, through our passes."""

import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8

jax = pytest.importorskip("jax")
jnp = jax.numpy

import mlir_fp8.jax  # noqa: E402
from mlir_fp8.jax.jitting import MADE  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples/jax_train.py"


def product(x: Any, w: Any) -> Any:
    return jax.nn.relu(x @ w)


def random(seed: int, *shape: int) -> Any:
    return jax.random.normal(jax.random.key(seed), shape)


X, W = random(0, 16, 64), random(1, 64, 32)


@pytest.fixture(scope="module")
def quantized() -> Any:
    return mlir_fp8.jax.jit(product, quantize="current")


def native(function: Callable[..., Any], *arrays: Any, recipe: str = "current") -> np.ndarray:
    """What our own code gives for the quantized program."""
    artifact = jax.export.export(jax.jit(function))(*arrays).mlir_module_serialized
    compiled = mlir_fp8.compile(mlir_fp8.quantize(artifact, recipe).module)
    return compiled(*map(np.asarray, arrays))[0]


def test_the_program_is_quantized(quantized: Any) -> None:
    got = np.asarray(quantized(X, W))
    np.testing.assert_allclose(got, native(product, X, W), atol=2e-6)
    assert np.abs(got - np.asarray(product(X, W))).max() > 1e-2  # FP8 it is


def test_it_is_what_jax_jit_gives(quantized: Any) -> None:
    """JAX calls it by its own C++ dispatch: no Python of ours runs in a call."""
    assert type(quantized) is type(jax.jit(product))
    assert quantized.__name__ == "product"
    assert inspect.signature(quantized) == inspect.signature(product)
    calls = []

    def traced(x: Any) -> Any:
        calls.append(1)
        return x + 1

    step = mlir_fp8.jax.jit(traced)
    for value in (1.0, 2.0, 3.0):
        assert float(step(jnp.full(3, value))[0]) == value + 1
    assert len(calls) == 1
    assert float(step(jnp.ones(4))[0]) == 2 and len(calls) == 2


def test_pytrees_and_python_numbers() -> None:
    def step(params: dict[str, Any], pair: tuple[Any, None], *, rate: float) -> dict[str, Any]:
        return {"new": {key: value - rate * pair[0] for key, value in params.items()}, "none": None}

    got = mlir_fp8.jax.jit(step)({"a": jnp.ones(2), "b": jnp.zeros(2)}, (jnp.ones(2), None), rate=3)
    assert jax.tree.structure(got) == jax.tree.structure({"new": {"a": 0, "b": 0}, "none": None})
    assert got["new"]["a"].tolist() == [-2.0, -2.0] and got["new"]["b"].tolist() == [-3.0, -3.0]


def test_static_arguments() -> None:
    def step(x: Any, times: int, mode: str = "up") -> Any:
        return x * times if mode == "up" else x / times

    jitted = mlir_fp8.jax.jit(step, static_argnums=1, static_argnames="mode")
    assert jitted(jnp.ones(2), 4).tolist() == [4.0, 4.0]
    assert jitted(jnp.ones(2), times=4, mode="down").tolist() == [0.25, 0.25]


def test_results_have_the_types_that_jax_gives() -> None:
    def step(x: Any, key: Any) -> Any:
        return 1.0, x.astype(jnp.bfloat16), jnp.arange(3), jax.random.split(key), x > 0

    arguments = (jnp.ones(2), jax.random.key(3))
    got, want = mlir_fp8.jax.jit(step)(*arguments), jax.jit(step)(*arguments)
    for one, other in zip(got, want, strict=True):
        assert jax.typeof(one) == jax.typeof(other)
        assert jax.typeof(one).weak_type == jax.typeof(other).weak_type
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert np.array_equal(one, other)


def test_donated_arguments_are_gone() -> None:
    step = mlir_fp8.jax.jit(lambda x, y: (x + y, y), donate_argnums=0)
    given = jnp.ones((128, 128))
    address = given.unsafe_buffer_pointer()
    total, _ = step(given, jnp.ones((128, 128)))
    assert given.is_deleted() and total.unsafe_buffer_pointer() == address


def test_arrays_that_the_function_closes_over() -> None:
    large, small = random(2, 64, 64), jnp.full((64,), 2.0)

    def step(x: Any) -> Any:
        return x @ large + small

    jitted = mlir_fp8.jax.jit(step, quantize="current")
    program = getattr(jitted, MADE).program((X,), {})
    assert len(program.artifact) < large.nbytes  # it is an argument of the module
    np.testing.assert_allclose(jitted(X), native(lambda x, w: x @ w + 2.0, X, large), atol=4e-6)


def test_jitted_functions_are_taken_too() -> None:
    assert float(mlir_fp8.jax.jit(jax.jit(lambda x: x * 2))(2.0)) == 4.0
    with jax.disable_jit():
        assert float(mlir_fp8.jax.jit(lambda x, y: x * y)(jnp.ones(()) * 3, 2)) == 6.0


def test_errors_of_the_function_are_its_own() -> None:
    def broken(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mlir_fp8.jax.jit(broken)(jnp.ones(2))


def test_options_of_quantize(quantized: Any) -> None:
    kept = mlir_fp8.jax.jit(product, quantize={"recipe": "current", "min_size": 1000})
    assert np.array_equal(kept(X, W), jax.jit(product)(X, W))
    rows = mlir_fp8.jax.jit(product, quantize=mlir_fp8.CurrentScaling(per="row"))(X, W)
    assert not np.array_equal(rows, quantized(X, W))


def test_explain_names_places_of_the_function(quantized: Any) -> None:
    line = inspect.getsourcelines(product)[1] + 1
    (row,) = mlir_fp8.jax.explain(quantized, X, W).rows
    assert row.location.startswith(f"{__file__}:{line}:")
    assert row.answers[0].verdict in ("fused", "partly fused")
    shapes = (jax.ShapeDtypeStruct(X.shape, X.dtype), jax.ShapeDtypeStruct(W.shape, W.dtype))
    (row,) = mlir_fp8.jax.explain(product, *shapes, target="fp8").rows
    assert row.answers[0].verdict == "not FP8"
    assert not any("mlir_fp8/jax/" in place for place in (row.location, *row.callers))


def test_explain_of_what_jax_jitted() -> None:
    def scaled(x: Any, y: Any, kind: str, *, times: int) -> Any:
        return getattr(jnp, kind)(x, y) * times

    jitted = jax.jit(scaled, static_argnums=2, static_argnames="times")
    (row,) = mlir_fp8.jax.explain(jitted, X, W, "matmul", times=3, target="fp8").rows
    line = inspect.getsourcelines(scaled)[1] + 1
    assert row.location.startswith(f"{__file__}:{line}:")
    assert not any("mlir_fp8/jax/" in place for place in (row.location, *row.callers))
    with pytest.raises(TypeError, match="times"):
        mlir_fp8.jax.explain(jitted, X, W, "matmul")


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 40
    spec = importlib.util.spec_from_file_location("jax_train", EXAMPLE)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    last = capsys.readouterr().out.splitlines()[-1].split()
    wide, in_fp8 = float(last[3]), float(last[6])
    assert wide < 0.05 and abs(in_fp8 - wide) < 0.005


def test_a_program_for_gpus() -> None:
    """What is FP8 already is written in XLA:GPU's form, which computes the same on the CPU."""

    def scaled(a: Any, b: Any, scale: Any) -> Any:
        wide = a.astype(jnp.bfloat16) * scale.astype(jnp.bfloat16)
        return wide @ b.astype(jnp.bfloat16)

    a, b = (random(seed, 16, 16).astype(jnp.float8_e4m3fn) for seed in (4, 5))
    step = mlir_fp8.jax.jit(scaled, target="xla-gpu")
    text = step.lower(a, b, jnp.float32(0.5)).as_text()
    assert "dot_general" in text and "f8E4M3FN>, tensor<16x16xf8E4M3FN>" in text
    np.testing.assert_allclose(
        step(a, b, jnp.float32(0.5)).astype(np.float32),
        scaled(a, b, jnp.float32(0.5)).astype(np.float32),
        rtol=0.01,
        atol=0.02,
    )


def test_a_program_quantized_for_gpus() -> None:
    step = mlir_fp8.jax.jit(product, quantize="current", target="xla-gpu")
    assert "f8E4M3FN" in step.lower(X, W).as_text()
    (row,) = mlir_fp8.jax.explain(step, X, W).rows
    assert row.answers[0].verdict in ("fused", "partly fused")


@pytest.mark.parametrize(
    ("function", "size", "call"),
    [
        # Our kernels, which a program for a card has, and a library of CUDA's.
        (jax.grad(lambda x, w: jnp.sum(jnp.tanh(x @ w), dtype=jnp.float32)), 4096, "__gpu$xla"),
        (lambda x, w: jnp.linalg.cholesky(x.astype(jnp.float32) + w), 64, "cusolver"),
    ],
)
def test_calls_of_gpus_are_refused_by_name_elsewhere(function: Any, size: int, call: str) -> None:
    x = jnp.ones((size, size), jnp.bfloat16)
    quantize = {"recipe": "current", "kernels": "h200"}
    step = mlir_fp8.jax.jit(function, quantize=quantize, target="xla-gpu")
    with pytest.raises(ValueError, match=f"it has stablehlo.custom_call @{re.escape(call)}.* at "):
        step(x, x)
    names = ("LayoutConstraint", "__gpu$xla.gpu.ptx")
    allowed = [jax.export.DisabledSafetyCheck.custom_call(each) for each in names]
    exported = jax.export.export(step, platforms=["cuda"], disabled_checks=allowed)
    assert call in exported(x, x).mlir_module()


def test_attention_of_a_training_step_by_kernels() -> None:
    def loss(q: Any, k: Any, v: Any) -> Any:
        out = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return jnp.sum(jnp.square(out.astype(jnp.float32)))

    step = mlir_fp8.jax.jit(
        jax.grad(loss, argnums=(0, 1, 2)),
        quantize={"recipe": "current", "kernels": "h200", "attention": True},
        target="xla-gpu",
    )
    q = jnp.ones((1, 256, 2, 64), jnp.bfloat16)
    names = ("LayoutConstraint", "__gpu$xla.gpu.ptx")
    allowed = [jax.export.DisabledSafetyCheck.custom_call(each) for each in names]
    exported = jax.export.export(step, platforms=["cuda"], disabled_checks=allowed)
    kernels = re.findall(r'[ {,]name = "(\w+)"', exported(q, q, q).mlir_module())
    wanted = ["attention", "attention_backward_keys", "attention_backward_queries"]
    assert sorted(kernels) == wanted
