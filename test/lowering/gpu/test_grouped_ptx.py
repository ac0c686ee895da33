"""What PTX of grouped products holds, what NVIDIA's assembler makes of it, which are refused."""

import dataclasses
from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.grouped.kernel import grouped_kernel
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue, Product

TOKENS, N = 16384, 4096
SCALED = Epilogue("row", "column", result="bf16")
PLAIN = Product(TOKENS, N, N, cluster=2, epilogue=SCALED)
EXACT = dataclasses.replace(PLAIN, exact_sums=True, tile_n=128, stages=6)
SUMS = dataclasses.replace(PLAIN, m=N, k=TOKENS)
SHAPES = {
    "rows": Grouped(PLAIN, 8),
    "rows_exact": Grouped(EXACT, 8),
    "rows_small": Grouped(dataclasses.replace(PLAIN, tile_m=64, tile_n=128, cluster=1), 64),
    "rows_odd": Grouped(dataclasses.replace(PLAIN, n=N - 1), 8),
    "scales_of_groups": Grouped(
        dataclasses.replace(PLAIN, epilogue=Epilogue(result="bf16")), 8, of_groups=("a", "b")
    ),
    "sums": Grouped(SUMS, 8, "sums"),
    "sums_exact": Grouped(dataclasses.replace(EXACT, m=N, k=TOKENS), 8, "sums"),
    "sums_odd": Grouped(dataclasses.replace(SUMS, m=N - 1, n=N - 1), 8, "sums"),
}


@pytest.mark.parametrize("name", list(SHAPES))
def test_grouped_products_assemble_without_spills(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    ptx = gpu.ptx_of(grouped_kernel(shape))
    assert_runs_at_full_rate(ptx, shape.product.threads, tmp_path)


def test_a_stage_is_as_that_of_a_plain_product() -> None:
    ptx = gpu.ptx_of(grouped_kernel(SHAPES["rows"]))
    start = ptx.index("wgmma.fence")
    loop = ptx[start : ptx.index("wgmma.wait_group.sync.aligned 0", start)]
    assert loop.count("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 ") == 4
    assert loop.count("wgmma.commit_group") == loop.count("wgmma.wait_group.sync.aligned 1") == 1


def test_maps_are_made_anew_where_sums_are_ragged() -> None:
    rows, sums = (gpu.ptx_of(grouped_kernel(SHAPES[name])) for name in ("rows", "sums"))
    assert rows.count("tensormap.cp_fenceproxy") == sums.count("tensormap.cp_fenceproxy") == 2
    assert sums.count("tensormap.replace.tile.global_dim") == 2 + rows.count(
        "tensormap.replace.tile.global_dim"
    )
    assert SHAPES["sums"].workspace == 8 * SHAPES["rows"].workspace


SMALL = Product(64, 64, 64, tile_m=64, tile_n=64)
REFUSED = {
    "K is no multiple of 16": Grouped(dataclasses.replace(SMALL, k=40), 2, "sums"),
    "no product of 2 groups of columns: one of rows, sums": Grouped(SMALL, 2, "columns"),
    "no product of 0 groups of 64 columns": Grouped(SMALL, 0),
    "no product of 33554432 groups of 64": Grouped(SMALL, 1 << 25),
    "with scales of d: of a or b": Grouped(SMALL, 2, of_groups=("d",)),
    "with two scales of a": Grouped(
        dataclasses.replace(SMALL, epilogue=Epilogue("tensor")), 2, of_groups=("a",)
    ),
    "with an epilogue: there are scales": Grouped(
        dataclasses.replace(SMALL, epilogue=Epilogue(bias="f32")), 2
    ),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        grouped_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
