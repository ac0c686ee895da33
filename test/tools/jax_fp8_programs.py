"""Scaled FP8 as people write it in JAX: `python test/tools/jax_fp8_programs.py` lowers it.

Each program goes to `Inputs/jax` as StableHLO text, beside the targets that fuse its first dot
wholly; the tests read those, and need no JAX. Many come in pairs: one that a target refuses, and
`NAME_edited`, which is what `fp8-explain` says to make of it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
from jax import lax  # pyright: ignore[reportMissingImports]

FOLDER = Path(__file__).parent / "Inputs" / "jax"
ALL = "fp8 xla-gpu cublaslt torch-scaled-mm"
PROGRAMS: dict[str, tuple[Callable[..., Any], str, tuple[Any, ...]]] = {}

E4M3, E5M2, E8M0 = jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e8m0fnu
F32, BF16 = jnp.float32, jnp.bfloat16


def tensor(shape: tuple[int, ...] = (), dtype: Any = F32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


SCALE, SCALE16 = tensor(), tensor((), BF16)
X, W, WT = tensor((64, 128), E4M3), tensor((128, 256), E4M3), tensor((256, 128), E4M3)
BIAS16 = tensor((256,), BF16)


def program(fused: str, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = function, fused, arguments
        return function

    return register


def times_transposed(x: Any, w: Any, **options: Any) -> Any:
    numbers = (((x.ndim - 1,), (w.ndim - 1,)), ((), ()))
    return lax.dot_general(x, w, numbers, **options)


def quantized(x: Any, scale: Any, fmt: Any = E4M3) -> Any:
    largest = float(jnp.finfo(fmt).max)
    return jnp.clip(x / scale.astype(x.dtype), -largest, largest).astype(fmt)


def fake_quantized(x: Any, scale: Any) -> Any:
    return quantized(x, scale).astype(x.dtype) * scale.astype(x.dtype)


@program("fp8", tensor((64, 128), BF16), tensor((128, 256), BF16), SCALE, SCALE)
def flax(x, w, sx, sw):
    return fake_quantized(x, sx) @ fake_quantized(w, sw)


@program(ALL, tensor((64, 128)), tensor((256, 128)), SCALE, SCALE)
def flax_edited(x, w, sx, sw):
    return times_transposed(fake_quantized(x, sx), fake_quantized(w, sw))


@program(ALL, X, WT, SCALE, SCALE)
def transposed_weight(x, w, sx, sw):
    return (x.astype(F32) * sx) @ (w.astype(F32) * sw).T


@program(ALL, X, WT, SCALE, SCALE)
def transposed_fp8_weight(x, w, sx, sw):
    return (x.astype(F32) * sx) @ (w.T.astype(F32) * sw)


@program("fp8 xla-gpu", X, W, SCALE, SCALE)
def row_major_weight(x, w, sx, sw):
    return (x.astype(F32) * sx) @ (w.astype(F32) * sw)


@program("", X, WT, SCALE, SCALE)
def rounded_twice(x, w, sx, sw):
    return times_transposed((x.astype(F32) * sx).astype(BF16), (w.astype(F32) * sw).astype(BF16))


@program(ALL, X, WT, SCALE16, SCALE16)
def rounded_twice_edited(x, w, sx, sw):
    return times_transposed(x.astype(BF16) * sx, w.astype(BF16) * sw)


@program("fp8 cublaslt torch-scaled-mm", X, WT, tensor((64, 1)), tensor((1, 256)))
def scales_of_rows(x, w, sx, sw):
    return (times_transposed(x, w, preferred_element_type=F32) * sx * sw).astype(BF16)


@program("", X, WT, tensor((64, 1)), tensor((1, 256)))
def product_of_scales_of_rows(x, w, sx, sw):
    return (times_transposed(x, w, preferred_element_type=F32) * (sx * sw)).astype(BF16)


@program("fp8 torch-scaled-mm", tensor((1, 128), E4M3), WT, tensor((1, 1)), tensor((1, 256)))
def one_row_with_a_scale(x, w, sx, sw):
    return (times_transposed(x, w, preferred_element_type=F32) * sx * sw).astype(BF16)


@program("fp8 cublaslt torch-scaled-mm", X, WT, tensor((64, 1)), tensor((2, 1)))
def blocks_of_128(x, w, sx, sw):
    rows = w.astype(F32).reshape(2, 128, 128) * sw[:, :, None]
    return times_transposed(x.astype(F32) * sx, rows.reshape(256, 128))


@program("fp8", X, WT, tensor((64, 4), E8M0), tensor((256, 4), E8M0))
def mx(x, w, sx, sw):
    def dequantized(q, s):
        return q.astype(F32) * jnp.repeat(s.astype(F32), 32, axis=1)

    return times_transposed(dequantized(x, sx), dequantized(w, sw))


@program("fp8", tensor((4, 16, 128), E4M3), tensor((4, 128, 256), E4M3), *[tensor((4, 1, 1))] * 2)
def experts(x, w, sx, sw):
    return jnp.einsum("emk,ekn->emn", x.astype(F32) * sx, w.astype(F32) * sw)


@program("fp8 xla-gpu cublaslt", *[tensor((2, 32, 8, 64), E4M3)] * 2, SCALE, SCALE)
def attention(q, k, sq, sk):
    return jnp.einsum("bqhd,bkhd->bhqk", q.astype(F32) * sq, k.astype(F32) * sk) * 0.125


@program("fp8 cublaslt", X, WT, SCALE, SCALE, BIAS16, SCALE)
def bias_relu_amax(x, w, sx, sw, bias, so):
    total = times_transposed(x.astype(BF16) * sx.astype(BF16), w.astype(BF16) * sw.astype(BF16))
    y = jax.nn.relu(total + bias)
    return quantized(y, so), jnp.max(jnp.abs(y))


@program("fp8 xla-gpu cublaslt", X, WT, SCALE16, SCALE16, BIAS16, SCALE16)
def bias_relu_amax_edited(x, w, sx, sw, bias, so):
    y = jax.nn.relu(times_transposed(x.astype(BF16) * sx, w.astype(BF16) * sw) + bias)
    return quantized(y, so), jnp.max(jnp.abs(y))


@program("fp8 xla-gpu cublaslt", X, WT, SCALE16, SCALE16, BIAS16, SCALE16)
def bias_gelu(x, w, sx, sw, bias, so):
    y = jax.nn.gelu(times_transposed(x.astype(BF16) * sx, w.astype(BF16) * sw) + bias)
    return quantized(y, so)


@program("fp8 cublaslt torch-scaled-mm", X, WT, SCALE, SCALE, BIAS16)
def bias_in_another_type(x, w, sx, sw, bias):
    return times_transposed(x.astype(F32) * sx, w.astype(F32) * sw).astype(BF16) + bias


@program(ALL, X, WT, SCALE, SCALE, BIAS16)
def bias_in_another_type_edited(x, w, sx, sw, bias):
    total = times_transposed(x.astype(F32) * sx, w.astype(F32) * sw) + bias.astype(F32)
    return total.astype(BF16)


@program("", X, WT, SCALE, SCALE, SCALE)
def amax_of_the_scaled(x, w, sx, sw, so):
    y = times_transposed(x.astype(F32) * sx, w.astype(F32) * sw) / so
    return jnp.clip(y, -448.0, 448.0).astype(E4M3), jnp.max(jnp.abs(y))


@program("fp8 xla-gpu cublaslt", X, WT, SCALE, SCALE, SCALE)
def amax_of_the_scaled_edited(x, w, sx, sw, so):
    y = times_transposed(x.astype(F32) * sx, w.astype(F32) * sw)
    return jnp.clip(y / so, -448.0, 448.0).astype(E4M3), jnp.max(jnp.abs(y))


@program("", X, WT, SCALE, SCALE)
def masked(x, w, sx, sw):
    rows = jnp.where(jnp.arange(64)[:, None] < 40, x.astype(F32) * sx, 0)
    return times_transposed(rows, w.astype(F32) * sw)


@program(ALL, X, WT, SCALE, SCALE)
def masked_edited(x, w, sx, sw):
    rows = jnp.where(jnp.arange(64)[:, None] < 40, x, jnp.zeros((), E4M3))
    return times_transposed(rows.astype(F32) * sx, w.astype(F32) * sw)


@program("fp8", tensor((2, 16, 4, 128), E4M3), tensor((64, 4, 128), E4M3), SCALE, SCALE)
def two_sums(x, w, sx, sw):
    return jnp.einsum("bqhd,nhd->bqn", x.astype(F32) * sx, w.astype(F32) * sw)


@program(ALL, tensor((2, 16, 4, 128), E4M3), tensor((64, 4, 128), E4M3), SCALE, SCALE)
def two_sums_edited(x, w, sx, sw):
    rows, columns = x.reshape(32, 512), w.reshape(64, 512)
    return times_transposed(rows.astype(F32) * sx, columns.astype(F32) * sw)


@program("", X, WT, SCALE, SCALE)
def gelu_and_its_derivative(x, w, sx, sw):
    y = times_transposed(x.astype(F32) * sx, w.astype(F32) * sw)
    return jax.value_and_grad(lambda each: jax.nn.gelu(each).sum())(y)


@program("fp8 xla-gpu", tensor((8, 16, 16, 32), E4M3), tensor((3, 3, 32, 64), E4M3), SCALE, SCALE)
def convolution(x, w, sx, sw):
    names = ("NHWC", "HWIO", "NHWC")
    operands = x.astype(F32) * sx, w.astype(F32) * sw
    return lax.conv_general_dilated(*operands, (1, 1), "SAME", dimension_numbers=names)


@program(ALL, tensor((64, 128), BF16), tensor((256, 128), BF16))
def current_scaling(x, w):
    def quantize(v):
        scale = jnp.maximum(jnp.max(jnp.abs(v)).astype(F32), 1e-12) / 448
        return jnp.clip(v.astype(F32) / scale, -448, 448).astype(E4M3), scale

    (xq, sx), (wq, sw) = quantize(x), quantize(w)
    return (times_transposed(xq, wq, preferred_element_type=F32) * (sx * sw)).astype(BF16)


def main() -> None:
    for name, (function, fused, arguments) in PROGRAMS.items():
        text = jax.jit(function).lower(*arguments).as_text()
        (FOLDER / f"{name}.mlir").write_text(f"// fused: {fused}".rstrip() + f"\n{text}")


if __name__ == "__main__":
    main()
