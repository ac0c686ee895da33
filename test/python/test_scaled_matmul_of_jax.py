"""JAX's block-scaled products: `scaled_matmul`, `lax.scaled_dot`, `scaled_dot_general`.

As they are lowered for GPUs, compiled here; of numbers whose sums f32 holds the result is exact.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from block_format_reference import wide

jax = pytest.importorskip("jax")
if not hasattr(jax.nn, "scaled_matmul"):
    pytest.skip("this JAX has no scaled_matmul", allow_module_level=True)

from jax import numpy as jnp  # noqa: E402

import mlir_fp8  # noqa: E402
from mlir_fp8.passes.pass_pipeline import run_pipeline  # noqa: E402

MX = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu, 32)
MX_E5M2 = (ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu, 32)
NVFP4 = (ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, 16)
FORMATS = {"mxfp8": MX, "mxfp8_e5m2": MX_E5M2, "nvfp4": NVFP4}
SHAPES = [(1, 16, 32, 8), (1, 128, 256, 64), (3, 17, 96, 33), (2, 1, 512, 128), (1, 7, 1024, 1)]
ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f32": np.float32}
PROGRAMS = [
    *((name, shape, "bf16", "cuda") for name in FORMATS for shape in SHAPES),
    *(("mxfp8", shape, "f32", "cuda") for shape in SHAPES[1:4]),
    *(("nvfp4", shape, "f32", "rocm") for shape in SHAPES[1:4]),
]


def lowered(function: Callable[..., Any], arguments: list[np.ndarray], platform: str) -> str:
    shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arguments]
    return jax.jit(function).trace(*shapes).lower(lowering_platforms=(platform,)).as_text()


def exact_arguments(name: str, shape: tuple[int, int, int, int]) -> list[np.ndarray]:
    """Codes that are small integers, and scales of which sums have few bits."""
    element, scale, block = FORMATS[name]
    random = np.random.default_rng(sum(shape))
    batch, m, k, n = shape
    codes = [random.integers(-4, 5, (batch, rows, k)).astype(element) for rows in (m, n)]
    scales = [
        np.exp2(random.integers(-2, 3, (batch, rows, k // block))).astype(scale) for rows in (m, n)
    ]
    return [*codes, *scales]


@pytest.mark.parametrize(("name", "shape", "element", "platform"), PROGRAMS, ids=str)
def test_scaled_matmul(
    name: str, shape: tuple[int, int, int, int], element: str, platform: str
) -> None:
    arguments = exact_arguments(name, shape)
    dtype = ELEMENTS[element]

    def product(*operands: Any) -> Any:
        return jax.nn.scaled_matmul(*operands, preferred_element_type=dtype)

    text = lowered(product, arguments, platform)
    assert ("__op$block_scaled_dot" if platform == "cuda" else "xla.scaled_dot") in text
    block = FORMATS[name][-1]
    a, b, a_scale, b_scale = (each.astype(np.float64) for each in arguments)
    exact = (a * a_scale.repeat(block, 2)) @ (b * b_scale.repeat(block, 2)).transpose(0, 2, 1)
    assert (exact == exact.astype(np.float32)).all()
    (result,) = mlir_fp8.compile(text)(*arguments)
    np.testing.assert_array_equal(result, exact.astype(np.float32).astype(dtype))
    # Written back, in either form, it is the same program.
    for form in ("custom-call", "composite"):
        module = mlir_fp8.load(text)
        run_pipeline(module, ["inline", "block-scaled-dot-to-fp8", "symbol-dce"])
        run_pipeline(module, [f"fp8-to-block-scaled-dot{{form={form}}}"])
        is_left = form == "composite" and platform == "cuda" and element == "f32"
        assert ("fp8.scaled_dot" in str(module)) == is_left  # which dequantizes in f32
        (again,) = mlir_fp8.compile(module)(*arguments)
        np.testing.assert_array_equal(again, result)


LAYOUTS = [
    (((2,), (2,)), ((0,), (0,))),
    (((1,), (1,)), ((0,), (0,))),
    (((1,), (0,)), ((), ())),
]


@pytest.mark.parametrize("numbers", LAYOUTS, ids=str)
def test_scaled_dot_of_any_dimensions(numbers: Any) -> None:
    (summed, _), (batching, _) = numbers
    random = np.random.default_rng(0)
    batched = (2, 8, 64) if summed == (2,) else (2, 64, 8)
    shapes = (batched, batched) if batching else ((8, 64), (64, 5))
    lhs, rhs = (random.integers(-4, 5, each).astype(ml_dtypes.float8_e4m3fn) for each in shapes)
    scales: list[np.ndarray] = []
    for array, (dim,) in zip((lhs, rhs), numbers[0], strict=True):
        sizes = [2 if i == dim else size for i, size in enumerate(array.shape)]
        scales.append(np.exp2(random.integers(-2, 3, sizes)).astype(ml_dtypes.float8_e8m0fnu))

    def product(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        return jax.lax.scaled_dot(
            a, b, lhs_scale=a_scale, rhs_scale=b_scale, dimension_numbers=numbers,
            preferred_element_type=jnp.float32,
        )  # fmt: skip

    text = lowered(product, [lhs, rhs, *scales], "cuda")
    (result,) = mlir_fp8.compile(text)(lhs, rhs, *scales)
    wide_ones = [
        array.astype(np.float64) * scale.astype(np.float64).repeat(32, dim)
        for array, scale, (dim,) in zip((lhs, rhs), scales, numbers[0], strict=True)
    ]
    exact = jax.lax.dot_general(*(each.astype(np.float32) for each in wide_ones), numbers)
    np.testing.assert_array_equal(result, exact)
    module = mlir_fp8.load(text)
    run_pipeline(module, ["block-scaled-dot-to-fp8", "fp8-to-block-scaled-dot", "symbol-dce"])
    assert "block_scaled_dot" in str(module)
    np.testing.assert_array_equal(mlir_fp8.compile(module)(lhs, rhs, *scales)[0], exact)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_scaled_dot_general_and_its_gradient(mode: str) -> None:
    more = {"global_scale": np.ones((1,), np.float32)} if mode == "nvfp4" else {}
    config = jax.nn.get_scaled_dot_general_config(mode, **more)

    def loss(x: Any, y: Any) -> Any:
        numbers = (((2,), (2,)), ((0,), (0,)))
        return jax.nn.scaled_dot_general(x, y, numbers, configs=[config] * 3).sum()

    random = np.random.default_rng(0)
    x, y = (random.standard_normal(shape, np.float32) for shape in ((1, 32, 64), (1, 32, 64)))
    text = lowered(jax.value_and_grad(loss, (0, 1)), [x, y], "cuda")
    value, dx, _ = mlir_fp8.compile(text)(x, y)
    exact = np.float64((x @ y.transpose(0, 2, 1)).sum())
    assert abs(value - exact) < 0.1 * np.abs(x @ y.transpose(0, 2, 1)).sum()
    gradient = np.broadcast_to(y.sum(1, keepdims=True), x.shape)
    assert np.linalg.norm(dx - gradient) < 0.1 * np.linalg.norm(gradient)


def test_a_recipe_quantizes_as_scaled_dot_general_does() -> None:
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((1, 32, 64), np.float32) for _ in range(2))
    numbers = (((2,), (2,)), ((0,), (0,)))
    config = jax.nn.get_scaled_dot_general_config("mxfp8")

    def scaled(x: Any, y: Any) -> Any:
        return jax.nn.scaled_dot_general(x, y, numbers, configs=[config] * 3)

    (theirs,) = mlir_fp8.compile(lowered(scaled, [x, y], "cuda"))(x, y)
    recipe = mlir_fp8.MXScaling(scale_rounding="ceil")
    plain = lowered(lambda x, y: jax.lax.dot_general(x, y, numbers), [x, y], "cpu")
    (ours,) = mlir_fp8.compile(mlir_fp8.quantize(plain, recipe).module)(x, y)
    np.testing.assert_array_equal(ours, theirs)
    exact = wide(x[0], recipe) @ wide(y[0], recipe).T
    np.testing.assert_allclose(ours[0], exact, rtol=1e-5, atol=1e-5)
