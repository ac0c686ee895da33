"""Attention from wide programs to its kernel, and to plain StableHLO where there is none."""

from typing import Any

import numpy as np
import pytest
from gpu_products import TYPES
from test_attention_in_modules import MODULES, attention
from test_products_in_modules import parsed

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.xla_gpu_pipeline import quantize_for_xla_gpu

jax = pytest.importorskip("jax")
jnp = jax.numpy
SHAPES = [(2, 40, 64), (64, 128), (64, 64), (64, 64), (128, 64)]


def _causal(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def layer(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, attend: Any = _causal) -> Any:
    """Two heads of queries share one of keys."""
    b, t, _ = x.shape
    q, k, v = ((x @ w).reshape(b, t, -1, 64) for w in (wq, wk, wv))
    return attend(q, k, v).reshape(b, t, 128) @ wo


def loss(*arguments: Any) -> Any:
    return layer(*arguments).astype(jnp.float32).sum()


def loss_that_computes_it_twice(*arguments: Any) -> Any:
    return layer(*arguments, attend=jax.checkpoint(_causal)).astype(jnp.float32).sum()


def _text(function: Any) -> str:
    types = [jax.ShapeDtypeStruct(each, jnp.bfloat16) for each in SHAPES]
    return jax.jit(function).lower(*types).as_text()


def _kernels(text: str, options: dict[str, str | None]) -> list[str]:
    module = mlir_fp8.load(text)
    run_pipeline(module, quantize_for_xla_gpu(options))
    found = operations(module.operation, "stablehlo.custom_call")
    return [str(op.attributes["backend_config"]) for op in found if "backend_config" in str(op)]


@pytest.mark.parametrize("attention", [True, False])
def test_a_wide_layer_has_the_kernel_where_it_is_asked_for(attention: bool) -> None:
    options: dict[str, str | None] = {"recipe": "current", "kernels": "h200"}
    if attention:
        options["attention"] = None
    kernels = _kernels(_text(layer), options)
    assert sum('name = "attention"' in each for each in kernels) == attention
    made = mlir_fp8.quantize(
        _text(layer), "current", target="xla-gpu", kernels="h200", attention=attention
    )
    assert str(made.module).count('name = "attention"') == attention


def test_training_has_kernels_of_gradients_too() -> None:
    """Which keep no probabilities: products of weights are left, forward and back."""
    text = _text(jax.value_and_grad(loss, argnums=(1, 2, 3, 4)))
    made = [
        mlir_fp8.quantize(text, "current", target="xla-gpu", kernels="h200", attention=attention)
        for attention in (False, True)
    ]
    without, with_kernels = (str(each.module) for each in made)
    for name in ("attention", "attention_backward_keys", "attention_backward_queries"):
        assert f'name = "{name}"' not in without
        assert with_kernels.count(f'name = "{name}"') == 1
    count = [len(operations(each.module.operation, "stablehlo.dot_general")) for each in made]
    assert count[0] - count[1] == 6
    assert "stablehlo.exponential" not in with_kernels


def test_training_that_computes_the_softmax_twice_has_the_kernel_twice() -> None:
    """The gradients want the result again, and the sums of its rows."""
    text = _text(jax.value_and_grad(loss_that_computes_it_twice, argnums=(1, 2, 3, 4)))
    made = mlir_fp8.quantize(text, "current", target="xla-gpu", kernels="h200", attention=True)
    assert str(made.module).count('name = "attention"') == 2
    assert str(made.module).count('name = "attention_backward_keys"') == 1
    assert not operations(made.module.operation, "stablehlo.exponential")


def test_quantized_attention_is_near_the_wide_one() -> None:
    text = _text(layer)
    random = np.random.default_rng(0)
    arguments = [(random.standard_normal(each) / 8).astype(TYPES["bf16"]) for each in SHAPES]
    wanted = mlir_fp8.compile(text)(*arguments)[0].astype(np.float64)
    module = mlir_fp8.load(text)
    run_pipeline(module, ["fp8-fuse-attention", "fp8-quantize-attention"])
    (op,) = operations(module.operation, "fp8.attention")
    assert str(op.operands[1].type) == "tensor<1x2x40x64xf8E4M3FN>"  # batches are heads
    found = mlir_fp8.compile(module)(*arguments)[0].astype(np.float64)
    far = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert 0 < far < 0.05


def test_a_step_on_a_cache_in_f8_is_near_the_one_with_wide_queries() -> None:
    text = attention(
        "2 4 2 1 90 64 64",
        "causal, qk_type = bf16, pv_type = bf16",
        ["1x2x1x1xf32", "1x2x1x1xf32", "2xi32"],
        "1, 1, 1, 0, 1, 1, 0, 0, 1",
        formats="bf16 f8E4M3FN f8E4M3FN",
    )
    random = np.random.default_rng(0)
    sizes = [(2, 4, 1, 64), (2, 2, 90, 64), (2, 2, 90, 64)]
    q, k, v = (random.standard_normal(each).astype(np.float32) for each in sizes)
    scales = np.array([0.25, 0.3], np.float32).reshape(1, 2, 1, 1)
    arguments = [q.astype(TYPES["bf16"]), k.astype(TYPES["f8E4M3FN"]), v.astype(TYPES["f8E4M3FN"])]
    arguments += [scales, scales, np.array([40, 80], np.int32)]
    module = parsed(text)
    run_pipeline(module, ["fp8-quantize-attention"])
    (op,) = operations(module.operation, "fp8.attention")
    assert "qk_type" not in str(op)
    (found,), (wanted,) = (mlir_fp8.compile(each)(*arguments) for each in (module, parsed(text)))
    far = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert 0 < far < 0.05


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", list(MODULES))
def test_without_a_kernel_it_is_plain_stablehlo_of_the_same_bits(name: str) -> None:
    module = parsed(MODULES[name])
    (op,) = operations(module.operation, "fp8.attention")
    types = [(list(each.type.shape), str(each.type.element_type)) for each in op.operands]
    random = np.random.default_rng(0)
    arguments = [
        np.asarray(random.standard_normal(shape) * (3 if kind[0] == "i" else 1)).astype(
            kind.replace("i", "int") if kind[0] == "i" else TYPES[kind]
        )
        for shape, kind in types
    ]
    before = mlir_fp8.compile(parsed(MODULES[name]))(*arguments)
    run_pipeline(module, ["fp8-canonicalize-for-xla-gpu"])
    assert "fp8." not in str(module)
    assert len(operations(module.operation, "stablehlo.dot_general")) == 2
    for old, new in zip(before, mlir_fp8.compile(module)(*arguments), strict=True):
        np.testing.assert_array_equal(new.astype(np.float32), old.astype(np.float32))


def test_options_that_are_refused() -> None:
    with pytest.raises(Fp8Error, match=r"'attention' of .* wants a card for its kernel"):
        quantize_for_xla_gpu({"attention": None})
    with pytest.raises(Fp8Error, match="is true or false, not 'h200'"):
        quantize_for_xla_gpu({"attention": "h200", "kernels": "h200"})
    with pytest.raises(Fp8Error, match="give kernels='h200'"):
        mlir_fp8.quantize(_text(layer), "current", target="xla-gpu", attention=True)
