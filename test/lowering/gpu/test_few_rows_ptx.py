"""Products of few rows: what is refused, what their PTX holds, and their registers."""

import re
from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assemble

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.few_rows.kernel import few_rows_kernel
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.few_rows.shares import shared_out
from mlir_fp8.lowering.gpu.kernels.product.shape import Epilogue

N = 8192
SCALED = Epilogue("row", "column", bias="bf16", result="bf16")
KERNELS: dict[str, tuple[FewRows, int]] = {
    "1_f8": (FewRows(1, N, N, "f8E4M3FN", epilogue=SCALED), 64),
    "1_bf16": (FewRows(1, N, N, "bf16", epilogue=SCALED), 64),
    "1_f32": (FewRows(1, N, N, "f32", "f8E5M2", SCALED, stages=4), 80),
    "4_bf16": (FewRows(4, N, N, "bf16", tiles=2, across=2, along=4), 80),
    "16_bf16": (FewRows(16, N, N, "bf16", tiles=2, across=4, along=2), 128),
    "16_f8": (FewRows(16, N, N, "f8E4M3FN", tiles=2, across=4, along=2, split=2), 128),
    "64_f8": (FewRows(64, N, N, "f8E4M3FN", tiles=2, across=8, along=1, split=4, steps=1), 168),
    "64_bf16": (FewRows(64, N, N, "bf16", tiles=2, across=8, along=1, split=4, steps=1), 168),
    "1_kn": (FewRows(1, N, N, tiles=8, along=4, stages=2, steps=1, k_major=False), 168),
    "16_kn": (FewRows(16, N, N, tiles=4, across=2, along=4, stages=4, steps=1, k_major=False), 168),
    "64_kn": (
        FewRows(64, N, N, tiles=2, across=8, along=1, split=4, steps=1, k_major=False),
        168,
    ),
    "1_chosen": (shared_out(FewRows(1, N, N)), 80),
    "16_chosen": (shared_out(FewRows(16, N, N, "f8E4M3FN")), 80),
    "64_chosen": (shared_out(FewRows(64, N, N, "f32", "f8E5M2")), 255),
    "odd": (FewRows(5, N - 1, N - 1, "bf16"), 128),
}
"""With the registers that a thread may take; a block has 256 threads."""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": 0}, "there are from 1 to 64 rows"),
        ({"rows": 65}, "there are from 1 to 64 rows"),
        ({"k": 0}, "sizes are from 1 to"),
        ({"n": 0}, "sizes are from 1 to"),
        ({"b_format": "f8E4M3FNUZ"}, "weights of f8E4M3FNUZ, not f8E4M3FN or f8E5M2"),
        ({"a_type": "f64"}, "activations of f64, none of f8E4M3FN, f8E5M2, bf16, f16, f32"),
        ({"epilogue": Epilogue(amax=True)}, "its result is not of bf16, f16, f32 without a scale"),
        ({"epilogue": Epilogue(result="f8E5M2")}, "its result is not of bf16, f16, f32"),
        ({"split": 3}, r"divided among \(1, 2, 4, 8\) blocks, not 3"),
        ({"stages": 3}, "3 stages are no multiple of 2 steps"),
        ({"along": 64}, "no block of 1 x 64 warps"),
        ({"rows": 64, "tiles": 5}, "160 sums of a thread are more than 128"),
        ({"rows": 64, "along": 16}, "bytes of shared memory, a block has 232448"),
        ({"k_major": False}, r"of weights \[k, n\] a warp has \(2, 4, 8\) tiles"),
        ({"prefetch": 64}, "a load brings 128 or 256 bytes, not 64"),
    ],
)
def test_what_cannot_run_is_refused(changes: dict[str, object], reason: str) -> None:
    shape: dict[str, object] = {"rows": 1, "n": 64, "k": 64, **changes}
    with pytest.raises(Fp8Error, match=rf"no product of \d+ rows of \d+ by \d+x\d+: .*{reason}"):
        few_rows_kernel(FewRows(**shape))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("k_major", [True, False])
@pytest.mark.parametrize("a_type", ["f8E4M3FN", "f8E5M2", "bf16", "f16", "f32"])
def test_what_is_chosen_runs_at_every_size(a_type: str, k_major: bool) -> None:
    for rows in range(1, 65):
        for n, k in ((1, 1), (77, 333), (256, 8192), (8192, 128), (14336, 4096), (8192, 1 << 17)):
            shape = shared_out(FewRows(rows, n, k, a_type, k_major=k_major))
            shape.check()
            assert (shape.rows, shape.n, shape.k) == (rows, n, k)


def test_few_columns_divide_k_among_blocks() -> None:
    shape = shared_out(FewRows(1, 256, 8192))
    assert (shape.split, few_rows_kernel(shape).grid) == (8, (8, 16))
    assert shared_out(FewRows(1, 8192, 8192)).split == 1


@pytest.mark.parametrize("name", ["1_f8", "1_bf16", "64_f8"])
def test_weights_come_by_copies_that_nobody_waits_for(name: str) -> None:
    shape = KERNELS[name][0]
    ptx = gpu.ptx_of(few_rows_kernel(shape))
    first = ptx[: ptx.index("cp.async.wait_group")]
    assert first.count("cp.async.cg.shared.global.L2::128B") == shape.stages * shape.loads
    assert f"cp.async.wait_group {shape.stages - 1};" in ptx
    assert "local" not in ptx


def test_f8_becomes_f16_in_registers_and_sums_are_f32() -> None:
    ptx = gpu.ptx_of(few_rows_kernel(KERNELS["1_f8"][0]))
    kinds = set(re.findall(r"mma\.sync\.\S+", ptx))
    assert kinds == {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
    assert "cvt.rn.f16x2.e4m3x2" in ptx


def test_blocks_that_divide_k_are_a_cluster() -> None:
    kernel = few_rows_kernel(KERNELS["64_f8"][0])
    assert (kernel.grid, kernel.cluster) == ((4, 32), 4)
    ptx = gpu.ptx_of(kernel)
    assert ".explicitcluster" in ptx and ".reqnctapercluster 4, 1, 1" in ptx


@pytest.mark.parametrize("name", list(KERNELS))
def test_registers_and_spills(name: str, tmp_path: Path) -> None:
    shape, registers = KERNELS[name]
    said = assemble(gpu.ptx_of(few_rows_kernel(shape)), tmp_path)
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    used = re.search(r"Used (\d+) registers", said)
    assert used and int(used[1]) <= registers, said
