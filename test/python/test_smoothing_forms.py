"""Factors follow a weight through what moves it to the activations that it meets, or are refused.

Factors are random powers of two, so that one in a wrong place would show.
"""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

RNG = np.random.default_rng(37)

MAIN = 'func.func @main(%w: tensor<{w}> {{mlir_fp8.name = "w"}}, %x: tensor<{x}>) -> tensor<{y}> {{'
DOT = "stablehlo.dot_general"


def text(types: str, *lines: str) -> str:
    """A function of `types` of w, x and y, which ends with %y."""
    w, x, y = types.split()
    return "\n".join([MAIN.format(w=w, x=x, y=y), *lines, f"return %y : tensor<{y}>", "}"])


def loop() -> str:
    return text(
        "3x8x8xf32 4x8xf32 4x8xf32",
        "%zero = stablehlo.constant dense<0> : tensor<i32>",
        "%one = stablehlo.constant dense<1> : tensor<i32>",
        "%three = stablehlo.constant dense<3> : tensor<i32>",
        "%i, %y = stablehlo.while(%n = %zero, %h = %x) : tensor<i32>, tensor<4x8xf32>",
        "cond {",
        "%more = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "stablehlo.return %more : tensor<i1> } do {",
        "%a = stablehlo.dynamic_slice %w, %n, %zero, %zero, sizes = [1, 8, 8]",
        ": (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>",
        "%b = stablehlo.reshape %a : (tensor<1x8x8xf32>) -> tensor<8x8xf32>",
        f"%next = {DOT} %h, %b, contracting_dims = [1] x [0]",
        ": (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>",
        "%after = stablehlo.add %n, %one : tensor<i32>",
        "stablehlo.return %after, %next : tensor<i32>, tensor<4x8xf32> }",
    )


CONVOLUTION = """%y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
  window = {{}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
  : (tensor<{x}>, tensor<{w}>) -> tensor<{y}>"""


def convolution(groups: int, types: str) -> str:
    w, x, y = types.split()
    return text(types, CONVOLUTION.format(groups=groups, w=w, x=x, y=y))


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return sum((x[:, i : i + x.shape[1] - 2] @ w[i] for i in range(3)), np.zeros(1))


FORMS: dict[str, tuple[str, tuple[int, ...], Any]] = {
    "as it is": (
        text("8x6xf32 4x8xf32 4x6xf32", f"%y = {DOT} %x, %w, contracting_dims = [1] x [0]",
             ": (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>"),
        (8, 1), lambda x, w: x @ w,
    ),
    "on the left": (
        text("8x6xf32 4x8xf32 6x4xf32", f"%y = {DOT} %w, %x, contracting_dims = [0] x [1]",
             ": (tensor<8x6xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>"),
        (8, 1), lambda x, w: (x @ w).T,
    ),
    "transposed, bf16": (
        text("6x8xbf16 4x8xbf16 4x6xbf16",
             "%b = stablehlo.optimization_barrier %w : tensor<6x8xbf16>",
             "%t = stablehlo.transpose %b, dims = [1, 0] : (tensor<6x8xbf16>) -> tensor<8x6xbf16>",
             f"%y = {DOT} %x, %t, contracting_dims = [1] x [0]",
             ": (tensor<4x8xbf16>, tensor<8x6xbf16>) -> tensor<4x6xbf16>"),
        (1, 8), lambda x, w: x @ w.T,
    ),
    "two sums": (
        text("2x4x6xf32 3x4x2xf32 3x6xf32",
             f"%y = {DOT} %x, %w, contracting_dims = [2, 1] x [0, 1]",
             ": (tensor<3x4x2xf32>, tensor<2x4x6xf32>) -> tensor<3x6xf32>"),
        (2, 4, 1), lambda x, w: np.einsum("bdh,hdm->bm", x, w),
    ),
    "reshaped": (
        text("8x6xf32 3x2x4xf32 3x6xf32",
             "%r = stablehlo.reshape %w : (tensor<8x6xf32>) -> tensor<2x4x6xf32>",
             f"%y = {DOT} %x, %r, contracting_dims = [1, 2] x [0, 1]",
             ": (tensor<3x2x4xf32>, tensor<2x4x6xf32>) -> tensor<3x6xf32>"),
        (8, 1), lambda x, w: x.reshape(3, 8) @ w,
    ),
    "batched": (
        text("3x8x6xf32 4x3x8xf32 3x4x6xf32",
             f"%y = {DOT} %x, %w, batching_dims = [1] x [0], contracting_dims = [2] x [1]",
             ": (tensor<4x3x8xf32>, tensor<3x8x6xf32>) -> tensor<3x4x6xf32>"),
        (3, 8, 1), lambda x, w: x.transpose(1, 0, 2) @ w,
    ),
    "repeated": (
        text("8x6xf32 3x4x8xf32 3x4x6xf32",
             "%r = stablehlo.broadcast_in_dim %w, dims = [1, 2]"
             " : (tensor<8x6xf32>) -> tensor<3x8x6xf32>",
             f"%y = {DOT} %x, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1]",
             ": (tensor<3x4x8xf32>, tensor<3x8x6xf32>) -> tensor<3x4x6xf32>"),
        (8, 1), lambda x, w: x @ w,
    ),
    "halves": (
        text("16x6xf32 4x8xf32 4x6xf32",
             "%a = stablehlo.slice %w [0:8, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>",
             "%b = stablehlo.slice %w [8:16, 0:6] : (tensor<16x6xf32>) -> tensor<8x6xf32>",
             "%c = stablehlo.reverse %b, dims = [0] : tensor<8x6xf32>",
             *(f"%{d} = {DOT} %x, %{m}, contracting_dims = [1] x [0]"
               " : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>" for d, m in ("da", "ec")),
             "%y = stablehlo.add %d, %e : tensor<4x6xf32>"),
        (16, 1), lambda x, w: x @ w[:8] + x @ w[:7:-1],
    ),
    "loop": (loop(), (1, 8, 1), lambda x, w: x @ w[0] @ w[1] @ w[2]),
    "convolution": (
        convolution(1, "3x4x5xf32 2x7x4xf32 2x5x5xf32"), (1, 4, 1), convolved,
    ),
}  # fmt: skip


def sizes(module: str, name: str) -> list[int]:
    found = re.search(rf"%{name}: tensor<([\dx]+)x(bf16|f32)>", module)
    assert found
    return [*map(int, found[1].split("x"))]


@pytest.mark.parametrize("form", FORMS)
def test_factors_follow(form: str) -> None:
    module, shape, reference = FORMS[form]
    dtype = ml_dtypes.bfloat16 if "bf16" in module else np.float32
    w, x = (RNG.standard_normal(sizes(module, name)).astype(dtype) for name in "wx")
    factors = np.exp2(RNG.integers(-9, 9, shape)).astype(np.float32)
    # Then what is multiplied is even, and a factor in a wrong place is not.
    w = (w.astype(np.float32) / factors).astype(dtype)
    made = mlir_fp8.quantize(module, "current", weights=["w"], wide=[], smoothing={"w": factors})
    prepared = made.prepare({"w": w})
    own = mlir_fp8.quantize(module, "current", weights=["w"], wide=[])
    by_hand = own.prepare({"w": (w.astype(np.float32) * factors).astype(dtype)})
    np.testing.assert_array_equal(prepared["w"].view(np.uint8), by_hand["w"].view(np.uint8))
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    exact = reference(x.astype(np.float64), w.astype(np.float64))
    error = np.linalg.norm(got.astype(np.float64) - exact) / np.linalg.norm(exact)
    assert error < 0.12
    shifted = mlir_fp8.Smoothing(module, weights=["w"]).run([x], {"w": w})
    assert shifted.factors["w"].shape == shape
    assert not shifted.left


def test_factors_of_a_loop_are_of_all_turns() -> None:
    module = loop()
    x, w = RNG.standard_normal((4, 8)), RNG.standard_normal((3, 8, 8))
    x, w = x.astype(np.float32), w.astype(np.float32)
    found = mlir_fp8.Smoothing(module, weights=["w"]).run([x], {"w": w}).factors["w"]
    seen = np.abs([x, x @ w[0], x @ w[0] @ w[1]]).max((0, 1))
    np.testing.assert_allclose(
        found, np.sqrt(seen / np.abs(w).max((0, 2)))[None, :, None], rtol=1e-5
    )


def test_constants() -> None:
    w, x = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 6), (4, 8)))
    dense = f"dense<{w.tolist()}> : tensor<8x6xf32>"
    module = FORMS["as it is"][0].replace('%w: tensor<8x6xf32> {mlir_fp8.name = "w"}, ', "")
    module = module.replace("%y = ", f"%w = stablehlo.constant {dense}\n%y = ", 1)
    shifted = mlir_fp8.Smoothing(module, weights=["constants"]).run([x])
    want = np.sqrt(np.abs(x).max(0) / np.abs(w).max(1))
    np.testing.assert_allclose(shifted.factors["constant0"], want[:, None], rtol=1e-6)
    made = mlir_fp8.quantize(module, "current", weights="constants", wide=[], smoothing=shifted)
    (got,) = mlir_fp8.compile(made.module)(x)
    scaled = w * shifted.factors["constant0"]
    by_hand = module.replace(dense, f"dense<{scaled.tolist()}> : tensor<8x6xf32>")
    own = mlir_fp8.quantize(by_hand, "current", weights="constants", wide=[])
    codes = [re.findall(r"dense<.*> : tensor<8x6xf8", str(each.module)) for each in (made, own)]
    assert codes[0] == codes[1] != []
    assert np.linalg.norm(got - x @ w) / np.linalg.norm(x @ w) < 0.06


REFUSED = {
    "is read by stablehlo.gather, which no factors follow": text(
        "8x8xf32 4x8xf32 4x8xf32",
        "%at = stablehlo.constant dense<1> : tensor<4x1xi32>",
        '%rows = "stablehlo.gather"(%w, %at) <{dimension_numbers = #stablehlo.gather<',
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],",
        "index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}>",
        ": (tensor<8x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>",
        f"%z = {DOT} %x, %w, contracting_dims = [1] x [1]",
        ": (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>",
        "%y = stablehlo.add %z, %rows : tensor<4x8xf32>",
    ),
    "is contracted along other dimensions by another product": text(
        "8x8xf32 4x8xf32 4x8xf32",
        *(f"%{n} = {DOT} %{m}, %w, contracting_dims = [1] x [{d}]"
          " : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>" for n, m, d in ("hx0", "yh1")),
    ),
    "is multiplied by itself": text(
        "8x8xf32 8x8xf32 8x8xf32",
        f"%h = {DOT} %w, %w, contracting_dims = [1] x [0]",
        ": (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
        "%y = stablehlo.add %h, %x : tensor<8x8xf32>",
    ),
    "is of a convolution in groups": convolution(2, "3x2x6xf32 2x7x4xf32 2x5x6xf32"),
    "is read by stablehlo.tanh": text(
        "8x8xf32 4x8xf32 4x8xf32",
        f"%h = {DOT} %x, %w, contracting_dims = [1] x [0]",
        ": (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>",
        "%t = stablehlo.tanh %w : tensor<8x8xf32>",
        "%s = stablehlo.slice %t [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>",
        "%y = stablehlo.add %h, %s : tensor<4x8xf32>",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_what_can_carry_no_factors(reason: str) -> None:
    module = REFUSED[reason]
    with pytest.raises(mlir_fp8.Fp8Error, match=f"weight 'w' {reason}.*leave it out of smoothing"):
        mlir_fp8.quantize(
            module, "current", weights=["w"], wide=[], smoothing={"w": np.ones((8, 1))}
        )
    with pytest.raises(mlir_fp8.Fp8Error, match=f"no weight can be smoothed: 'w' {reason}"):
        mlir_fp8.Smoothing(module, weights=["w"])


def test_two_weights_that_multiply_each_other() -> None:
    named = '%x: tensor<4x8xf32> {mlir_fp8.name = "x"}'
    module = FORMS["as it is"][0].replace("%x: tensor<4x8xf32>", named)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'w' is multiplied by another weight.*'x' is"):
        mlir_fp8.Smoothing(module, weights=["w", "x"])
    with pytest.raises(mlir_fp8.Fp8Error, match="'w' is multiplied by another weight"):
        mlir_fp8.quantize(module, "current", weights=["w", "x"], smoothing={"w": np.ones((8, 1))})


def test_a_weight_without_elements() -> None:
    """It has no factors; others have theirs."""
    module = text(
        "4x4xf32 4x4xf32 4x4xf32",
        "%e = stablehlo.slice %x [0:4, 0:0] : (tensor<4x4xf32>) -> tensor<4x0xf32>",
        f"%a = {DOT} %e, %v, contracting_dims = [1] x [0]",
        ": (tensor<4x0xf32>, tensor<0x4xf32>) -> tensor<4x4xf32>",
        f"%b = {DOT} %x, %w, contracting_dims = [1] x [0]",
        ": (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
        "%y = stablehlo.add %a, %b : tensor<4x4xf32>",
    ).replace("@main(", '@main(%v: tensor<0x4xf32> {mlir_fp8.name = "v"}, ')
    x, w = RNG.standard_normal((2, 4, 4), np.float32)
    wide = {"v": np.zeros((0, 4), np.float32), "w": w}
    shifted = mlir_fp8.Smoothing(module, weights=["v", "w"]).run([x], wide)
    assert shifted.left == {"v": "has no elements"}
    made = mlir_fp8.quantize(module, "current", weights=["v", "w"], wide=[], smoothing=shifted)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare(wide), x))
    assert np.linalg.norm(got - x @ w) / np.linalg.norm(x @ w) < 0.06


def test_rows_of_a_table_are_calibrated_where_they_are_divided() -> None:
    module = text(
        "8x8xf32 8x8xf32 4x8xf32",
        "%at = stablehlo.constant dense<[[1], [5], [2], [0]]> : tensor<4x1xi32>",
        '%rows = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<',
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],",
        "index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}>",
        ": (tensor<8x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>",
        f"%y = {DOT} %rows, %w, contracting_dims = [1] x [0]",
        ": (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>",
    ).replace("%x: tensor<8x8xf32>", '%x: tensor<8x8xf32> {mlir_fp8.name = "x"}')
    x, w = RNG.standard_normal((2, 8, 8), np.float32)
    wide, names = {"w": w, "x": x}, ["w", "x"]
    shifted = mlir_fp8.Smoothing(module, weights=names).run([[]], wide)
    calibration = mlir_fp8.Calibration(module, weights=names, smoothing=shifted).run([[]], wide)
    made = mlir_fp8.quantize(module, mlir_fp8.StaticScaling(calibration), weights=names)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(made.prepare(wide)))
    exact = x[[1, 5, 2, 0]] @ w
    assert np.linalg.norm(got - exact) / np.linalg.norm(exact) < 0.08
