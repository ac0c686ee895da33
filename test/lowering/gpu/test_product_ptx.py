"""What PTX of products holds, what NVIDIA's assembler makes of it, and which are refused."""

import dataclasses
from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

N = 4096
FULL = Epilogue(
    "tensor", "tensor", bias="bf16", activation="gelu_tanh", amax=True, d_scale="divide",
    result="f8E4M3FN",
)  # fmt: skip
SHAPES = {
    "plain": Product(N, N, N),
    "small": Product(N, N, N, tile_m=64, tile_n=64),
    "mixed": Product(N, N, N, "f8E5M2", "f8E4M3FN", tile_n=192),
    "e5m2": Product(N, N, N, "f8E5M2", "f8E5M2", tile_n=128, stages=6),
    "cluster": Product(N, N, N, cluster=2, epilogue=Epilogue("row", "column", result="bf16")),
    "exact": Product(
        N, N, N, tile_n=128, stages=6, exact_sums=True, epilogue=Epilogue("row", "column")
    ),
    "full": Product(N, 4 * N, N, epilogue=FULL),
    "transposed": Product(
        N, 4 * N, N, cluster=2, epilogue=dataclasses.replace(FULL, transposed=True)
    ),
    "full_odd": Product(N - 1, N - 1, N, epilogue=FULL),
    "bf16_steps": Product(
        N, N, N,
        epilogue=Epilogue("tensor", "column", "bf16", "bf16", 0.5, "f32", "silu", result="f16"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SHAPES))
def test_products_assemble_without_spills(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    assert_runs_at_full_rate(gpu.ptx_of(product_kernel(shape)), shape.threads, tmp_path)


def test_the_main_loop_has_one_wait_and_four_products_of_a_stage() -> None:
    ptx = gpu.ptx_of(product_kernel(SHAPES["plain"]))
    start = ptx.index("wgmma.fence")
    loop = ptx[start : ptx.index("wgmma.wait_group.sync.aligned 0", start)]
    assert loop.count("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 ") == 4
    assert loop.count("wgmma.commit_group") == loop.count("wgmma.wait_group.sync.aligned 1") == 1
    assert ptx.count("st.global.v4.b32") == 256 // 2 // 4 and "ld.global" not in ptx
    assert "setmaxnreg.dec.sync.aligned.u32 \t40" in ptx
    assert "setmaxnreg.inc.sync.aligned.u32 \t232" in ptx


def test_what_a_warp_does_together_is_nowhere_twice() -> None:
    ptx = gpu.ptx_of(product_kernel(SHAPES["plain"]))
    assert ptx.count("tensormap.cp_fenceproxy") == 2
    assert ptx.count("bar.warp.sync") == 4


def test_formats_are_those_of_both_sides() -> None:
    assert ".f32.e5m2.e4m3 " in gpu.ptx_of(product_kernel(SHAPES["mixed"]))
    assert ".f32.e5m2.e5m2 " in gpu.ptx_of(product_kernel(SHAPES["e5m2"]))


def test_clusters_load_half_of_b_for_both() -> None:
    ptx = gpu.ptx_of(product_kernel(SHAPES["cluster"]))
    assert ".reqnctapercluster 2, 1, 1" in ptx
    assert ".multicast::cluster" in ptx and "mapa.shared::cluster.u32" in ptx
    assert "mbarrier.init.shared::cta.b64 [%" in ptx and "], 16;" in ptx


REFUSED = {
    "K is no multiple of 16": Product(64, 64, 40),
    "f8E4M3B11FNUZ is none of": Product(64, 64, 64, "f8E4M3B11FNUZ"),
    "sizes are from 1": Product(0, 64, 64),
    "64, 128, 192 or 256 columns": Product(64, 64, 64, tile_n=96),
    "64 or 128 rows": Product(64, 64, 64, tile_m=32),
    "too many registers": Product(64, 64, 64, exact_sums=True),
    "no 131 blocks in clusters of 2": Product(64, 64, 64, cluster=2, blocks=131),
    "5 stages take 247": Product(64, 64, 64, stages=5),
    "1 stages and groups": Product(64, 64, 64, stages=1),
    "no product with activation 'elu'": Product(64, 64, 64, epilogue=Epilogue(activation="elu")),
    "transposed result of bf16": Product(
        64, 64, 64, epilogue=Epilogue(result="bf16", transposed=True)
    ),
    "no product with b_scale 'row'": Product(64, 64, 64, epilogue=Epilogue(b_scale="row")),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        product_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
