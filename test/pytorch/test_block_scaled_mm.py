"""`torch.nn.functional.scaled_mm` and `torch._scaled_mm` with scales of blocks, in tiles."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("torch.nn")

import torch
from torch.nn import functional
from torch_programs import Of, check

import mlir_fp8.torch
from mlir_fp8 import Fp8Error
from mlir_fp8.passes.pass_pipeline import run_pipeline

if not hasattr(functional, "scaled_mm"):
    pytest.skip("this PyTorch has no scaled_mm", allow_module_level=True)

TYPE, SWIZZLE = functional.ScalingType, functional.SwizzleType
E4M3, E8M0, F4 = torch.float8_e4m3fn, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2
SHAPES = [(200, 320, 136), (128, 128, 128), (7, 64, 1), (1, 32, 300)]


def swizzled(scales: "torch.Tensor") -> "torch.Tensor":
    """Scales [rows, blocks] in tiles of 128 by 4, place by place as cuBLAS documents them."""
    rows, blocks = scales.shape
    across = -(-blocks // 4)
    flat = torch.zeros(-(-rows // 128) * across * 512, dtype=torch.uint8)
    for row in range(rows):
        for block in range(blocks):
            tile = (row // 128) * across + block // 4
            place = (row % 32) * 16 + (row % 128) // 32 * 4 + block % 4
            flat[tile * 512 + place] = scales.view(torch.uint8)[row, block]
    return flat.view(scales.dtype)


def powers(*shape: int) -> "torch.Tensor":
    return torch.randint(-3, 4, shape).float().exp2()


def mx(rows: int, k: int) -> tuple["torch.Tensor", "torch.Tensor", np.ndarray]:
    """Codes that are small integers, scales of blocks of 32, and what they stand for."""
    codes, scales = torch.randint(-4, 5, (rows, k)).to(E4M3), powers(rows, k // 32).to(E8M0)
    return codes, scales, (codes.double() * scales.double().repeat_interleave(32, 1)).numpy()


def nvfp4(rows: int, k: int) -> tuple["torch.Tensor", "torch.Tensor", np.ndarray]:
    """Codes of which a byte holds two, the even one in its lower half."""
    packed, scales = torch.randint(0, 256, (rows, k // 2), dtype=torch.uint8), powers(rows, k // 16)
    codes = np.stack([packed.numpy() & 15, packed.numpy() >> 4], -1).reshape(rows, k)
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    return packed.view(F4), scales.to(E4M3), numbers * scales.numpy().repeat(16, 1)


def fused(exported: Any) -> str:
    module = mlir_fp8.load(str(exported.mlir))
    run_pipeline(module, ["fp8-fuse-scaled-dot"])
    return str(module)


def same(found: "torch.Tensor", exact: np.ndarray) -> None:
    assert (exact == exact.astype(np.float32)).all()
    wanted = torch.from_numpy(exact.astype(np.float32)).to(found.dtype)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_mx(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    torch.manual_seed(m)
    (a, a_scale, a_wide), (b, b_scale, b_wide) = mx(m, k), mx(n, k)
    order = SWIZZLE.SWIZZLE_32_4_4
    scales = [swizzled(each) for each in (a_scale, b_scale)]
    bias = torch.arange(n).float()

    def product(a: Any, b: Any, s: Any, t: Any) -> Any:
        kind = TYPE.BlockWise1x32
        return functional.scaled_mm(
            a, b.t(), s, kind, t, kind, order, order, bias=bias, output_dtype=torch.float32
        )

    exported = mlir_fp8.torch.export(Of(product), (a, b, *scales))
    same(exported(a, b, *scales), a_wide @ b_wide.T + np.arange(n))
    assert '"fp8.scaled_dot"' in fused(exported)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_nvfp4_of_pairs_in_bytes(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    torch.manual_seed(m)
    (a, a_scale, a_wide), (b, b_scale, b_wide) = nvfp4(m, k), nvfp4(n, k)
    order = SWIZZLE.SWIZZLE_32_4_4
    scales = [swizzled(each) for each in (a_scale, b_scale)]
    numbers = [torch.full((1,), 0.5), torch.full((1,), 4.0)]

    def product(a: Any, b: Any, s: Any, t: Any, u: Any, v: Any) -> Any:
        kinds, orders = [TYPE.BlockWise1x16, TYPE.TensorWise], [order, SWIZZLE.NO_SWIZZLE]
        return functional.scaled_mm(a, b.t(), [s, u], kinds, [t, v], kinds, orders, orders)

    given = (a, b, *scales, *numbers)
    exported = mlir_fp8.torch.export(Of(product), given)
    same(exported(*given), a_wide @ b_wide.T * 2)
    text = fused(exported)
    assert '"fp8.scaled_dot"' in text and f"tensor<{m}x{k}xf4E2M1FN>" in text


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_older_calls_tell_by_the_type_of_scales(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    torch.manual_seed(m)
    (a, a_scale, a_wide), (b, b_scale, b_wide) = mx(m, k), mx(n, k)

    def product(a: Any, b: Any, s: Any, t: Any) -> Any:
        return torch._scaled_mm(a, b.t(), s, t, out_dtype=torch.bfloat16)

    given = (a, b, swizzled(a_scale), swizzled(b_scale))
    same(mlir_fp8.torch.export(Of(product), given)(*given), a_wide @ b_wide.T)


@pytest.mark.parametrize("by_row", [True, False])
def test_scales_of_rows_and_tensors_are_those_of_eager_mode(by_row: bool) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(32, 64).to(E4M3), torch.randn(48, 64).to(E4M3)
    scales = (powers(32, 1), powers(1, 48)) if by_row else (powers(1), powers(1))
    kind = TYPE.RowWise if by_row else TYPE.TensorWise
    check(lambda a, b, s, t: functional.scaled_mm(a, b.t(), s, kind, t, kind), a, b, *scales)


@pytest.mark.parametrize("is_square", [True, False])
def test_blocks_of_128(is_square: bool) -> None:
    """Scales of squares are [blocks of K, to a multiple of 4, blocks of rows], in columns."""
    torch.manual_seed(0)
    a, b = torch.randint(-4, 5, (256, 384)).to(E4M3), torch.randint(-4, 5, (256, 384)).to(E4M3)
    s, t = powers(256, 3), powers(2 if is_square else 256, 3)
    given = torch.cat([t, torch.full((len(t), 1), torch.nan)], 1).contiguous() if is_square else t

    def product(a: Any, b: Any, s: Any, t: Any) -> Any:
        kind = TYPE.BlockWise128x128 if is_square else TYPE.BlockWise1x128
        return functional.scaled_mm(
            a,
            b.t(),
            s.t().contiguous().t(),
            TYPE.BlockWise1x128,
            t.t() if is_square else t.t().contiguous().t(),
            kind,
            output_dtype=torch.float32,
        )

    exported = mlir_fp8.torch.export(Of(product), (a, b, s, given))
    rows = t.repeat_interleave(128, 0) if is_square else t
    wide = [
        each.double() * scale.double().repeat_interleave(128, 1)
        for each, scale in ((a, s), (b, rows))
    ]
    same(exported(a, b, s, given), (wide[0] @ wide[1].T).numpy())
    assert '"fp8.scaled_dot"' in fused(exported)


def test_a_last_block_that_is_not_whole_is_refused() -> None:
    a, b = torch.ones(8, 48).to(E4M3), torch.ones(16, 48).to(E4M3)
    scales = torch.ones(512).to(E8M0)

    def product(a: Any, b: Any, s: Any) -> Any:
        return torch._scaled_mm(a, b.t(), s, s, out_dtype=torch.bfloat16)

    with pytest.raises(Fp8Error, match="scale_a of blocks of 1x32 that do not divide 8x48"):
        mlir_fp8.torch.export(Of(product), (a, b, scales))


def test_pairs_that_are_given_back_are_pairs() -> None:
    packed = torch.randint(0, 256, (4, 8), dtype=torch.uint8).view(F4)
    exported = mlir_fp8.torch.export(Of(lambda a: (a.t(), a)), (packed,))
    for got, want in zip(exported(packed), (packed.view(torch.uint8).t(), packed), strict=True):
        assert got.dtype == F4 and torch.equal(got.view(torch.uint8), want.view(torch.uint8))
