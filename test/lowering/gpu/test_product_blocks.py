"""Products with scales of blocks, run from their PTX: to the bit where exact, else in the bound."""

import dataclasses
from pathlib import Path
from typing import Any

import gpu_kernels as gpu
import numpy as np
import pytest
from gpu_products import by_numpy, dequantized, on_gpu, operands
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

SMALL: dict[str, Any] = {"tile_m": 64, "tile_n": 64, "stages": 2, "blocks": 2, "exact_sums": True}
LARGE: dict[str, Any] = {"tile_n": 128, "stages": 2, "cluster": 2, "blocks": 2, "exact_sums": True}
ROWS, BY_K, SQUARE = Blocks(1), Blocks(1, by_k=True), Blocks(128)
MX, MX_BY_K = Blocks(1, 32), Blocks(1, 32, by_k=True)
SHAPES = {
    "rows_and_squares": Product(70, 256, 384, a_blocks=ROWS, b_blocks=SQUARE, **SMALL),
    "rows_and_columns": Product(70, 136, 272, a_blocks=BY_K, b_blocks=BY_K, **SMALL),
    "whole_columns": Product(64, 128, 256, a_blocks=ROWS, b_blocks=BY_K, **SMALL),
    "odd": Product(67, 71, 400, a_blocks=ROWS, b_blocks=BY_K, **SMALL),
    "squares_of_a": Product(130, 72, 256, a_blocks=SQUARE, b_blocks=BY_K, **SMALL),
    "longer": Product(66, 72, 640, a_blocks=Blocks(1, 256), b_blocks=Blocks(72, 384), **SMALL),
    "squares_by_k": Product(9, 200, 256, a_blocks=ROWS, b_blocks=Blocks(64, by_k=True), **SMALL),
    "of_a": Product(66, 72, 256, a_blocks=ROWS, epilogue=Epilogue(b_scale="column"), **SMALL),
    "of_b": Product(66, 72, 256, b_blocks=BY_K, epilogue=Epilogue("row"), **SMALL),
    "mx": Product(66, 72, 320, a_blocks=MX, b_blocks=MX_BY_K, **SMALL),
    "mx_odd": Product(67, 71, 400, "f8E5M2", "f8E5M2", a_blocks=MX, b_blocks=MX_BY_K, **SMALL),
    "mx_by_k": Product(70, 64, 256, a_blocks=MX_BY_K, b_blocks=MX_BY_K, **SMALL),
    "mx_and_64": Product(66, 72, 192, a_blocks=MX, b_blocks=Blocks(1, 64, by_k=True), **SMALL),
    "64_and_squares": Product(66, 128, 256, a_blocks=Blocks(1, 64), b_blocks=SQUARE, **SMALL),
    "mx_of_a": Product(66, 72, 96, a_blocks=MX, epilogue=Epilogue(b_scale="column"), **SMALL),
    "mx_cluster": Product(300, 136, 288, a_blocks=MX, b_blocks=MX_BY_K, **LARGE),
    "cluster": Product(300, 136, 272, a_blocks=ROWS, b_blocks=SQUARE, **LARGE),
    "cluster_columns": Product(300, 137, 272, a_blocks=BY_K, b_blocks=BY_K, **LARGE),
}  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SHAPES))
def test_sums_of_blocks(name: str, early: bool) -> None:
    given = operands(SHAPES[name])
    found, wanted = on_gpu(SHAPES[name], given, early=early)[0], by_numpy(SHAPES[name], given)[0]
    np.testing.assert_array_equal(found, wanted)


def test_any_scales_are_within_the_bound() -> None:
    """A product of scales, one of each tile, one sum of these: 2^-24 of each, and the tiles'."""
    shape = SHAPES["rows_and_columns"]
    given, random = operands(shape), np.random.default_rng(1)
    for scale in (given.a_scale, given.b_scale):
        scale[:] = random.uniform(0.1, 3, scale.shape).astype(np.float32)
    a = dequantized(given.a, given.a_scale, shape.a_blocks)
    b = dequantized(given.b, given.b_scale, shape.b_blocks)
    tiles = -(-shape.k // 128)
    far = np.abs(on_gpu(shape, given)[0] - a @ b.T)
    assert far.max() > 0 and (far <= (tiles + 2) * 2.0**-24 * (np.abs(a) @ np.abs(b).T)).all()


def test_the_whole_epilogue_follows() -> None:
    steps = Epilogue(
        bias="bf16", activation="relu", amax=True, d_scale="divide", result="f8E4M3FN",
        transposed=True,
    )  # fmt: skip
    shape = dataclasses.replace(SHAPES["rows_and_columns"], epilogue=steps)
    given = operands(shape)
    (found, amax), (wanted, most) = on_gpu(shape, given), by_numpy(shape, given)
    np.testing.assert_array_equal(found.view(np.uint8), wanted.view(np.uint8))
    assert amax[0] == most


def test_nan_stays_in_its_row_and_block() -> None:
    shape = SHAPES["rows_and_squares"]
    given = operands(shape)
    given.a_scale[3, 1] = np.nan
    wanted = np.zeros((70, 256), bool)
    wanted[3] = True
    np.testing.assert_array_equal(np.isnan(on_gpu(shape, given)[0]), wanted)


N = 4096
REAL: dict[str, Any] = {"tile_n": 128, "stages": 6, "cluster": 2, "exact_sums": True}
NARROW: dict[str, Any] = {**REAL, "tile_n": 64, "stages": 8}
FULL = Epilogue(
    bias="bf16", activation="gelu_tanh", amax=True, d_scale="divide", result="f8E4M3FN",
    transposed=True,
)  # fmt: skip
ASSEMBLED = {
    "rows_and_squares": Product(N, N, N, a_blocks=ROWS, b_blocks=SQUARE, **REAL),
    "rows_and_columns": Product(N, N, N, a_blocks=BY_K, b_blocks=BY_K, epilogue=FULL, **REAL),
    "mx": Product(N, N, N, a_blocks=MX, b_blocks=MX_BY_K, **NARROW),
    "mx_full": Product(
        N,
        N,
        N,
        a_blocks=MX,
        b_blocks=MX_BY_K,
        epilogue=FULL,
        **{**NARROW, "tile_m": 64, "cluster": 1},
    ),
    "odd": Product(N - 1, N - 1, N, a_blocks=ROWS, b_blocks=BY_K, epilogue=FULL, **REAL),
}


@pytest.mark.parametrize("name", list(ASSEMBLED))
def test_kernels_assemble_without_spills(name: str, tmp_path: Path) -> None:
    shape = ASSEMBLED[name]
    assert_runs_at_full_rate(gpu.ptx_of(product_kernel(shape)), shape.threads, tmp_path)


def test_scales_are_loaded_while_the_tensor_core_works() -> None:
    ptx = gpu.ptx_of(product_kernel(ASSEMBLED["rows_and_columns"]))
    start = ptx.index("wgmma.commit_group")
    loads = ptx[start : ptx.index("wgmma.wait_group", start)]
    assert loads.count("ld.global.nc.v2.b32") == 16 and loads.count("ld.global.nc.b32") == 2


REFUSED = {
    "scales of 1x48 are of no whole tiles": Product(64, 64, 64, a_blocks=Blocks(1, 48), **SMALL),
    "96 columns have a scale": Product(64, 192, 64, b_blocks=Blocks(96), **SMALL),
    "1 columns have a scale": Product(64, 192, 64, b_blocks=Blocks(1), **SMALL),
    "blocks scale exact sums": Product(64, 64, 64, b_blocks=SQUARE),
    "all of a's scales": Product(64, 64, 64, a_blocks=ROWS, epilogue=Epilogue("row"), **SMALL),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        product_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
