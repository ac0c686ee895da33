"""Products whose blocks share sums along K, run from their PTX; to the bit where sums are exact."""

from pathlib import Path
from typing import Any

import gpu_kernels as gpu
import numpy as np
import pytest
from gpu_products import by_numpy, on_gpu, operands
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

TILE: dict[str, Any] = {"tile_m": 64, "tile_n": 128, "stages": 2}
FULL = Epilogue("row", "column", bias="bf16", activation="relu", amax=True, result="bf16")
F8 = Epilogue(amax=True, d_scale="divide", result="f8E4M3FN", transposed=True)
SHAPES = {
    "two": Product(64, 128, 512, split=2, blocks=2, **TILE),
    "four": Product(64, 128, 512, split=4, blocks=4, **TILE),
    "many_tiles": Product(130, 300, 272, split=2, blocks=2, epilogue=FULL, **TILE),
    "unlike_parts": Product(67, 71, 656, split=4, blocks=8, epilogue=FULL, **TILE),
    "f8": Product(70, 200, 400, split=2, blocks=4, epilogue=F8, **TILE),
    "two_warpgroups": Product(
        140, 136, 400, tile_n=128, stages=3, split=2, blocks=4, epilogue=FULL, exact_sums=True
    ),
    "eight": Product(64, 256, 1024, tile_m=64, tile_n=256, stages=2, split=8, blocks=8),
    "blocks": Product(
        67, 136, 640, split=2, blocks=2, exact_sums=True, a_blocks=Blocks(1),
        b_blocks=Blocks(1, by_k=True), **TILE,
    ),
    "a_share_is_outside": Product(67, 64, 512, split=2, blocks=2, epilogue=FULL, **TILE),
    "shares_are_outside": Product(140, 32, 512, split=4, blocks=4, **TILE),
    "a_share_of_f8": Product(80, 192, 400, split=2, blocks=2, epilogue=F8, **TILE),
    "a_share_of_c": Product(
        66, 96, 512, split=4, blocks=4, epilogue=Epilogue("row", c="f32", bias="f32"), **TILE
    ),
    "batches": Product(67, 72, 272, split=2, blocks=2, batches=3, epilogue=FULL, **TILE),
}  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SHAPES))
def test_shared_sums(name: str, early: bool) -> None:
    shape = SHAPES[name]
    given = operands(shape)
    (found, amax), (wanted, most) = on_gpu(shape, given, early=early), by_numpy(shape, given)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
    if shape.epilogue.amax:
        assert amax[0] == most


N = 1024
REAL = {
    "wide": Product(N, N, 8 * N, tile_n=128, stages=5, split=2, epilogue=FULL),
    "odd": Product(N - 1, N // 2 - 1, 8 * N, tile_n=128, stages=5, split=4, epilogue=FULL),
    "blocks": Product(
        N, N, 8 * N, tile_n=128, stages=5, split=2, exact_sums=True, a_blocks=Blocks(1),
        b_blocks=Blocks(128), epilogue=Epilogue(result="bf16"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REAL))
def test_kernels_assemble_without_spills(name: str, tmp_path: Path) -> None:
    shape = REAL[name]
    assert_runs_at_full_rate(gpu.ptx_of(product_kernel(shape)), shape.threads, tmp_path)


REFUSED = {
    "no 3 blocks with 32 columns": Product(64, 64, 512, split=3, **TILE),
    "no 4 blocks with 64 columns": Product(64, 64, 512, split=4, epilogue=F8, **TILE),
    "over 4 tiles of K or more": Product(64, 64, 256, split=4, **TILE),
    "no tiles of B": Product(64, 64, 256, split=2, cluster=2, **TILE),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        product_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
