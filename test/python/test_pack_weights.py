"""Weights packed once by `prepare`: the same results, and nothing of the weight moved in a call."""

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.passes.pass_pipeline import run_pipeline

RNG = np.random.default_rng(6)
K, H, N = 64, 320, 150


def program(element: str = "f32", rows: int = 20) -> str:
    """x times v, k by n, times w, n by k: as JAX and as PyTorch have weights."""
    return f"""
func.func @main(%x: tensor<{rows}x{K}x{element}>,
    %v: tensor<{K}x{H}x{element}> {{mlir_fp8.name = "v"}},
    %w: tensor<{N}x{H}x{element}> {{mlir_fp8.name = "w"}}) -> tensor<{rows}x{N}x{element}> {{
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
    : (tensor<{rows}x{K}x{element}>, tensor<{K}x{H}x{element}>) -> tensor<{rows}x{H}x{element}>
  %t = stablehlo.transpose %w, dims = [1, 0]
    : (tensor<{N}x{H}x{element}>) -> tensor<{H}x{N}x{element}>
  %y = stablehlo.dot_general %h, %t, contracting_dims = [1] x [0]
    : (tensor<{rows}x{H}x{element}>, tensor<{H}x{N}x{element}>) -> tensor<{rows}x{N}x{element}>
  return %y : tensor<{rows}x{N}x{element}>
}}"""


def weights(dtype: Any = np.float32) -> dict[str, np.ndarray]:
    shapes = {"v": (K, H), "w": (N, H)}
    return {name: RNG.integers(-8, 9, shape).astype(dtype) for name, shape in shapes.items()}


def copies(made: mlir_fp8.Quantized) -> list[str]:
    """The buffers of the call that are as large as a weight."""
    held = mlir_fp8.load(str(made.module))
    kernels = pipelines.to_kernels(saturate=False, threads=1, kernels="host")
    run_pipeline(held, [*pipelines.to_linalg(), *kernels])
    text = str(held).partition("func.func @main")[2].partition("\n  }")[0]
    shapes = re.findall(r"memref\.alloc\(\).*? : memref<([\dx]+)x\w+>", text)
    sizes = [np.prod([int(each) for each in shape.split("x")]) for shape in shapes]
    return [shape for shape, size in zip(shapes, sizes, strict=True) if size >= K * H]


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_wide_weights(element: str, rows: int) -> None:
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}[element]
    wide, text = weights(dtype), program(element, rows)
    made = mlir_fp8.pack_weights(text, "[vw]")
    prepared = made.prepare(wide)
    assert {each.name: each.left for each in made.packing} == {"v": "", "w": ""}
    assert prepared["v"].size >= wide["v"].size and prepared["v"].ndim > 2
    assert not copies(made)
    x = RNG.integers(-2, 3, (rows, K)).astype(dtype)
    (want,) = mlir_fp8.compile(text)(x, wide["v"], wide["w"])
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("scales", ["tensor", "channel", "block", "group32"])
@pytest.mark.parametrize("recipe", ["weight_only", "current"])
def test_quantized_weights(recipe: str, scales: str, rows: int) -> None:
    wide, text = weights(), program(rows=rows)
    plain, packed = (
        mlir_fp8.quantize(text, recipe, weights=["v", "w"], scales=scales, packed=each)
        for each in (False, True)
    )
    x = RNG.standard_normal((rows, K), np.float32)
    results = [
        mlir_fp8.compile(made.module)(*made.arguments(made.prepare(wide), x))[0]
        for made in (plain, packed)
    ]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=2e-3)
    assert packed.bytes == plain.bytes
    if scales == "block":  # whose last blocks are smaller
        assert [each.layout for each in packed.packing] == [None, None]
        assert "read by stablehlo.multiply" in str(packed.packing[0])
        return
    assert not copies(packed)
    assert all(each.layout is not None for each in packed.packing)


def test_weights_that_are_f8_before() -> None:
    """Their codes are packed, their scales handed on."""
    first = mlir_fp8.quantize(program(), "weight_only", weights="v")
    codes = first.prepare({"v": weights()["v"]})
    packed = mlir_fp8.pack_weights(first.module, "[vw]")
    second = mlir_fp8.quantize(first.module, "weight_only", weights="w")
    w, x = weights()["w"], RNG.standard_normal((20, K), np.float32)
    exact = x @ (codes["v"].astype(np.float32) * codes["v_scale"]) @ w.T
    for made in (packed, second):
        prepared = made.prepare({**codes, "w": w})
        assert prepared["v_scale"] is codes["v_scale"]
        (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
        assert np.linalg.norm(got - exact) / np.linalg.norm(exact) < 0.04
    with pytest.raises(mlir_fp8.Fp8Error, match="'v' is tensor<64x320xf32>, declared tensor<64x3"):
        packed.prepare({**weights()})


def test_another_processor_and_other_threads() -> None:
    """Arrays packed for other tiles are moved in each call: results are the same."""
    wide, text = weights(), program()
    x = RNG.integers(-2, 3, (20, K)).astype(np.float32)
    (want,) = mlir_fp8.compile(text)(x, wide["v"], wide["w"])
    for target in ("avx2", "avx512", "baseline", "neon"):
        made = mlir_fp8.pack_weights(text, ["v", "w"], target=target)
        prepared = made.prepare(wide)
        for threads in (1, 2):
            call = mlir_fp8.compile(made.module, threads=threads)
            (got,) = call(*made.arguments(prepared, x))
            np.testing.assert_array_equal(got, want)


def test_artifacts_keep_the_layout() -> None:
    made = mlir_fp8.quantize(program(), "weight_only", weights=["v", "w"], packed=True)
    prepared = made.prepare(weights())
    again = mlir_fp8.deserialize(mlir_fp8.serialize(made.module))
    x = RNG.standard_normal((20, K), np.float32)
    given = made.arguments(prepared, x)
    one, other = (mlir_fp8.compile(each)(*given)[0] for each in (made.module, again))
    np.testing.assert_array_equal(one, other)
    assert copies(mlir_fp8.Quantized(again, {}, ())) == []


def test_arrays_that_do_not_fit_are_refused() -> None:
    wide = weights()
    made = mlir_fp8.pack_weights(program(), ["v", "w"])
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 'v' is tensor<320x64xf32>, declared"):
        made.prepare({**wide, "v": wide["v"].T})
    with pytest.raises(mlir_fp8.Fp8Error, match=r"argument 1 .*is tensor<64x320xf32>"):
        mlir_fp8.compile(made.module)(np.zeros((20, K), np.float32), wide["v"], wide["w"])
    with pytest.raises(mlir_fp8.Fp8Error, match="no argument 'u'"):
        mlir_fp8.pack_weights(program(), "u")
    with pytest.raises(mlir_fp8.Fp8Error, match="no target 'z80'"):
        mlir_fp8.pack_weights(program(), "v", target="z80")
    with pytest.raises(mlir_fp8.Fp8Error, match="pack_weights"):
        mlir_fp8.quantize(program(), "current", packed=True)
    f8 = mlir_fp8.quantize(program(), "weight_only", weights="v", packed=True)
    with pytest.raises(mlir_fp8.Fp8Error, match="'v' is packed: quantize without packed"):
        mlir_fp8.checkpoint_of(f8, f8.prepare({"v": wide["v"]}))


TIED = f"""
func.func @main(%x: tensor<20x{K}xf32>, %w: tensor<128x{K}xf32> {{mlir_fp8.name = "w"}},
    %u: tensor<128x{K}xf32> {{mlir_fp8.name = "u"}},
    %z: tensor<128x{K}xf32> {{mlir_fp8.name = "z"}})
    -> (tensor<20x{K}xf32>, tensor<20x128xf32>, tensor<20x128xf32>) {{
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
    : (tensor<20x{K}xf32>, tensor<128x{K}xf32>) -> tensor<20x128xf32>
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
    : (tensor<20x128xf32>, tensor<128x{K}xf32>) -> tensor<20x{K}xf32>
  %a = stablehlo.dot_general %x, %u, contracting_dims = [1] x [1]
    : (tensor<20x{K}xf32>, tensor<128x{K}xf32>) -> tensor<20x128xf32>
  %b = stablehlo.dot_general %x, %z, contracting_dims = [1] x [1]
    : (tensor<20x{K}xf32>, tensor<128x{K}xf32>) -> tensor<20x128xf32>
  return %y, %a, %b : tensor<20x{K}xf32>, tensor<20x128xf32>, tensor<20x128xf32>
}}"""


def test_tied_weights() -> None:
    """One that is read in both orientations stays as it is; two that share memory stay one."""
    made = mlir_fp8.pack_weights(TIED, ["w", "u", "z"], target="avx2")
    assert str(made.packing[0]) == (
        "weight 'w' is not packed: it is read by products of several kinds"
    )
    w = RNG.integers(-2, 3, (128, K)).astype(np.float32)
    prepared = made.prepare({"w": w, "u": w, "z": w})
    assert prepared["u"] is prepared["z"] and prepared["w"] is w
    x = RNG.integers(-2, 3, (20, K)).astype(np.float32)
    y, a, b = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    np.testing.assert_array_equal(y, x @ w.T @ w)
    np.testing.assert_array_equal(a, x @ w.T)
    np.testing.assert_array_equal(b, a)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    wide = {name: torch.from_numpy(each) for name, each in weights().items()}
    made = mlir_fp8.quantize(program(), "weight_only", weights=["v", "w"], packed=True)
    prepared = made.prepare(wide)
    assert prepared["v"].dtype == torch.float8_e4m3fn and prepared["v"].ndim > 2
    x = torch.randn(20, K)
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(prepared, x))
    assert torch.linalg.norm(got - x @ wide["v"] @ wide["w"].T) < 0.1 * torch.linalg.norm(got)
