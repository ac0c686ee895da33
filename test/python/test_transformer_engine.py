"""TransformerEngine's MXFP8 and NVFP4 products and MXFP8 quantizers, as its JAX calls them.

The calls are written here as cpp_extensions/gemm.py and quantization.py of version 2.20 do, scales
padded and swizzled as `apply_padding_to_scale_inv` and `swizzled_scale` have them.
"""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jax import numpy as jnp  # noqa: E402

import mlir_fp8  # noqa: E402
from mlir_fp8 import Fp8Error  # noqa: E402
from mlir_fp8.passes.pass_pipeline import run_pipeline  # noqa: E402

E4M3, E5M2, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu
F4 = ml_dtypes.float4_e2m1fn
MX, NVFP4 = 2, 4


def lowered(function: Any, *arguments: np.ndarray) -> str:
    shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arguments]
    return (
        jax.jit(function, keep_unused=True)
        .trace(*shapes)
        .lower(lowering_platforms=("cuda",))
        .as_text()
    )


def padded(scales: Any, tile: tuple[int, int]) -> Any:
    missing = [(0, -size % whole) for size, whole in zip(scales.shape, tile, strict=True)]
    return jnp.pad(scales, missing, constant_values=jnp.asarray(2.0**-127, scales.dtype))


def swizzled(scales: Any, *, is_colwise: bool) -> Any:
    """`swizzled_scale` of gemm.py, of scales in two dimensions."""
    shape = scales.shape
    scales = scales.T if is_colwise else scales
    rows, columns = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4)
    return tiles.reshape(shape)


def gemm(
    lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, bias: Any = None, *, mode: int = MX,
    lhs_transposed: bool = False, rhs_transposed: bool = True, alpha: Any = None, beta: float = 0,
    is_old: bool = False, **more: Any,
) -> Any:  # fmt: skip
    """What `GemmPrimitive` binds."""
    m = lhs.shape[1 if lhs_transposed else 0]
    n = rhs.shape[0 if rhs_transposed else 1]
    if mode == MX:
        lhs_scale = padded(lhs_scale, (4, 128) if lhs_transposed else (128, 4))
        rhs_scale = padded(rhs_scale, (128, 4) if rhs_transposed else (4, 128))
        lhs_scale = swizzled(lhs_scale, is_colwise=lhs_transposed)
        rhs_scale = swizzled(rhs_scale, is_colwise=not rhs_transposed)
    else:
        lhs_scale, rhs_scale = padded(lhs_scale, (128, 4)), padded(rhs_scale, (128, 4))
    bias = jnp.zeros(0, jnp.bfloat16) if bias is None else bias
    alpha = jnp.ones(1, jnp.float32) if alpha is None else alpha
    config = {
        "scaling_mode": mode, "collective_op": 0, "lhs_axis_boundary": 1, "rhs_axis_boundary": 1,
        "lhs_transposed": lhs_transposed, "rhs_transposed": rhs_transposed,
        "use_split_accumulator": False, **more,
    }  # fmt: skip
    output = jax.ShapeDtypeStruct((m, n), jnp.bfloat16)
    workspace, none = jax.ShapeDtypeStruct((512,), jnp.uint8), jax.ShapeDtypeStruct((0,), "f4")
    operands = (lhs, lhs_scale, rhs, rhs_scale, bias)
    last = (alpha, jnp.full(1, beta, jnp.float32))
    if is_old:
        call = jax.ffi.ffi_call("te_gemm_ffi", (output, none, none, workspace))
        flags = {"fuse_bias": bias.size > 0, "fuse_gelu": False, "grad": False}
        return call(*operands, jnp.zeros(0, jnp.bfloat16), *last, **config, **flags)[0]
    return jax.ffi.ffi_call("te_gemm_v2_ffi", (output, workspace))(*operands, *last, config=config)[
        0
    ]


def numbers(
    rows: int, k: int, element: Any, scale: Any, block: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    codes = random.integers(-4, 5, (rows, k)).astype(element)
    scales = np.exp2(random.integers(-2, 3, (rows, k // block))).astype(scale)
    return codes, scales, codes.astype(float) * scales.astype(float).repeat(block, 1)


def fused(text: str) -> str:
    module = mlir_fp8.load(text)
    run_pipeline(module, ["inline", "fp8-fuse-scaled-dot"])
    return str(module)


LAYOUTS = [(False, True), (True, True), (False, False), (True, False)]
"""Whether the left and the right operand are transposed, as cuBLAS names it: the first is TN."""
CASES = [
    *(((128, 128, 128), LAYOUTS[0], is_old) for is_old in (False, True)),
    ((1, 32, 300), LAYOUTS[0], False),
    *(((40, 320, 72), each, False) for each in LAYOUTS),
]


@pytest.mark.parametrize(("shape", "layout", "is_old"), CASES, ids=str)
def test_mx(shape: tuple[int, int, int], layout: tuple[bool, bool], is_old: bool) -> None:
    m, k, n = shape
    a, a_scale, a_wide = numbers(m, k, E4M3, E8M0, 32, 0)
    b, b_scale, b_wide = numbers(n, k, E5M2, E8M0, 32, 1)
    is_left, is_right = layout  # transposed
    given = [each.T.copy() if is_left else each for each in (a, a_scale)]
    given += [each if is_right else each.T.copy() for each in (b, b_scale)]
    bias = np.arange(n).astype(ml_dtypes.bfloat16)

    def product(*operands: Any) -> Any:
        return gemm(*operands, lhs_transposed=is_left, rhs_transposed=is_right, is_old=is_old)

    text = lowered(product, *given, bias)
    exact = (a_wide @ b_wide.T + bias.astype(float)).astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(mlir_fp8.compile(text)(*given, bias)[0], exact)
    assert '"fp8.scaled_dot"' in fused(text)
    (row,) = mlir_fp8.explain(
        mlir_fp8.load(text), "cublaslt-blackwell", compute_capability="10.0"
    ).rows
    kinds = {each.kind for each in row.answers[0].obstacles}
    # Where nothing is padded, what swizzles scales and what reads them cancel out.
    assert kinds <= {"dims-multiple-of-16", "bias-type"} | ({"scale-layout"} if m != 40 else set())


def test_nvfp4_scales_by_alpha() -> None:
    m, k, n = 48, 128, 80
    a, a_scale, a_wide = numbers(m, k, F4, E4M3, 16, 0)
    b, b_scale, b_wide = numbers(n, k, F4, E4M3, 16, 1)
    alpha = np.full(1, 0.25, np.float32)

    def product(a: Any, s: Any, b: Any, t: Any, alpha: Any) -> Any:
        return gemm(a, s, b, t, mode=NVFP4, alpha=alpha)

    text = lowered(product, a, a_scale, b, b_scale, alpha)
    exact = (a_wide @ b_wide.T / 4).astype(np.float32).astype(ml_dtypes.bfloat16)
    found = mlir_fp8.compile(text)(a, a_scale, b, b_scale, alpha)[0]
    np.testing.assert_array_equal(found, exact)
    assert '"fp8.scaled_dot"' in fused(text)


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_wide_and_tensor_scaled_products(mode: int) -> None:
    a, _, _ = numbers(16, 32, E4M3, E8M0, 32, 0)
    b, _, _ = numbers(16, 32, E4M3, E8M0, 32, 1)
    a, b = (each.astype(ml_dtypes.bfloat16) if mode == 0 else each for each in (a, b))
    scale = np.full(1, 0.5, np.float32)
    given = (a, b, scale)

    def product(a: Any, b: Any, scale: Any) -> Any:
        output = jax.ShapeDtypeStruct((16, 16), jnp.float32)
        none = jnp.zeros(0, jnp.float32)
        own = none if mode == 0 else scale
        ones = jnp.ones(1, jnp.float32)
        config = {
            "scaling_mode": mode, "collective_op": 0, "lhs_axis_boundary": 1,
            "rhs_axis_boundary": 1, "lhs_transposed": False, "rhs_transposed": True,
            "use_split_accumulator": True,
        }  # fmt: skip
        call = jax.ffi.ffi_call("te_gemm_v2_ffi", (output, jax.ShapeDtypeStruct((8,), jnp.uint8)))
        return call(a, own, b, own, jnp.zeros(0, jnp.float32), ones, jnp.zeros(1), config=config)[0]

    exact = a.astype(np.float32) @ b.astype(np.float32).T * (1 if mode == 0 else 0.25)
    np.testing.assert_array_equal(mlir_fp8.compile(lowered(product, *given))(*given)[0], exact)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"collective_op": 1}, "with a collective, GELU or gradient"),
        ({"scaling_mode": 7}, "in another form than TransformerEngine"),
        ({"mode": NVFP4, "beta": 1.0}, "a beta that is no constant 0"),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], reason: str) -> None:
    kind = (F4, E4M3, 16) if "mode" in options else (E4M3, E8M0, 32)
    a, s, _ = numbers(16, 64, *kind, 0)
    with pytest.raises(Fp8Error, match=reason):
        mlir_fp8.compile(lowered(lambda a, s: gemm(a, s, a, s, **options), a, s))


def quantized(x: Any, layout: int, *, is_padded: bool = True) -> Any:
    """What `DBiasQuantizePrimitive` binds."""
    m, n = x.shape
    rows, columns = (m, n // 32), (m // 32, n)
    if is_padded:
        rows, columns = (
            tuple(size + -size % whole for size, whole in zip(shape, tile, strict=True))
            for shape, tile in ((rows, (128, 4)), (columns, (4, 128)))
        )
    has_rows, has_columns = layout != 1, layout != 0
    results = [
        jax.ShapeDtypeStruct((m, n) if has_rows else (1,), E4M3),
        jax.ShapeDtypeStruct((m, n) if has_columns else (1,), E4M3),
        jax.ShapeDtypeStruct(rows if has_rows else (1,), E8M0),
        jax.ShapeDtypeStruct(columns if has_columns else (1,), E8M0),
        jax.ShapeDtypeStruct((1,), jnp.float32),
        jax.ShapeDtypeStruct((1,), x.dtype),
        jax.ShapeDtypeStruct((1,), jnp.float32),
    ]
    one, none = jnp.ones(1, jnp.float32), jnp.zeros(0, jnp.float32)
    return jax.ffi.ffi_call("te_dbias_quantize_ffi", results)(
        x, one, one, jnp.zeros(2, jnp.int32), none, none, scaling_mode=MX, q_layout=layout,
        flatten_axis=1, is_dbias=False, stochastic_rounding=False, use_rht=False,
    )[:4]  # fmt: skip


def by_the_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and scales along rows, by `float_to_e8m0` and `exp2f_rcp` of ptx.cuh in numpy."""
    parts = x.astype(np.float32).reshape(x.shape[0], -1, 32)
    with np.errstate(all="ignore"):
        amax = np.fmax.reduce(np.abs(parts), -1, initial=0)
        exact = (amax * np.float32(1 / 448)).astype(np.float32)
        bits = exact.view(np.uint32)
        code, mantissa = (bits >> 23).astype(np.int64), bits & 0x7FFFFF
        goes_up = (mantissa > 0) & (code != 0xFE) & ~((code == 0) & (mantissa <= 0x400000))
        code = np.where(np.isinf(exact), 0xFE, code + goes_up)
        inverse = ((254 - code) << 23).astype(np.uint32).view(np.float32)
        factor = np.where(code == 0, np.float32(1), inverse)
        over = np.clip(parts * factor[..., None], np.float32(-448), np.float32(448))
    return over.reshape(x.shape).astype(E4M3), code.astype(np.uint8)


def test_mx_quantizers() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((96, 160)) * np.exp2(random.integers(-140, 120, (96, 1)))
    x = x.astype(np.float32)
    x[:32] = np.exp2(random.integers(-5, 5, (32, 160))) * np.float32(448)
    x[3, 5], x[4, 40], x[5] = np.nan, np.inf, 0
    for layout in (0, 1, 2):
        text = lowered(lambda x, layout=layout: quantized(x, layout), x)
        rows, columns, row_scales, column_scales = mlir_fp8.compile(text)(x)
        for is_there, found, scales, wide in (
            (layout != 1, rows, row_scales, x),
            (layout != 0, columns.T, column_scales.T, x.T),
        ):
            if not is_there:
                continue
            codes, bytes_ = by_the_kernel(wide)
            np.testing.assert_array_equal(found.astype(float), codes.astype(float))
            assert math.prod(scales.shape) == math.prod(
                each + -each % t for each, t in zip(bytes_.shape, (128, 4), strict=True)
            )
            kept = scales[: bytes_.shape[0], : bytes_.shape[1]]
            np.testing.assert_array_equal(kept.view(np.uint8), bytes_)


def test_a_layer_from_wide_floats() -> None:
    random = np.random.default_rng(2)
    x, w = (random.standard_normal((rows, 128)).astype(np.float32) for rows in (64, 32))

    def layer(x: Any, w: Any) -> Any:
        (a, _, s, _), (b, _, t, _) = quantized(x, 0), quantized(w, 0)
        return gemm(a, s[:64, :4], b, t[:32, :4])

    text = lowered(layer, x, w)
    assert fused(text).count('"fp8.scaled_dot"') == 1
    (found,) = mlir_fp8.compile(text)(x, w)
    error = np.linalg.norm(found.astype(float) - x @ w.T) / np.linalg.norm(x @ w.T)
    assert error < 0.05


def test_other_quantizers_are_refused() -> None:
    def quantizer(x: Any) -> Any:
        result = jax.ShapeDtypeStruct(x.shape, E4M3)
        return jax.ffi.ffi_call("te_dbias_quantize_ffi", [result])(
            x, scaling_mode=1, q_layout=0, flatten_axis=1, is_dbias=False
        )

    with pytest.raises(Fp8Error, match="for other than MXFP8 without a bias gradient"):
        mlir_fp8.compile(lowered(quantizer, np.ones((32, 32), np.float32)))
