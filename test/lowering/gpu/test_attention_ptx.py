"""What PTX of attention holds, what NVIDIA's assembler makes of it, and which are refused."""

from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.attention.kernel import attention_kernel
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention

LONG = (4, 32, 32, 8192, 8192)
SHAPES = {
    "plain": Attention(*LONG, 128, 128),
    "causal": Attention(*LONG, 128, 128, causal=True),
    "lse": Attention(*LONG, 128, 128, causal=True, lse=True),
    "causal_64": Attention(*LONG, 64, 64, causal=True),
    "f32": Attention(*LONG, 128, 128, causal=True, result="f32"),
    "odd": Attention(4, 32, 8, 8000, 8001, 128, 120),
    "window": Attention(4, 32, 8, 8000, 8001, 128, 128, causal=True, window=1000, offsets=4),
    "mean": Attention(
        4, 32, 8, 8000, 8001, 128, 128, causal=True, window=1000, offsets=4, blind="mean"
    ),
    "e5m2": Attention(4, 32, 8, 16, 8192, 128, 128, *["f8E5M2"] * 4, causal=True, offsets=1),
    "heads_as_rows": Attention(4, 8, 8, 8, 8192, 128, 128, offsets=4, row_step=0, causal=True),
    "one_warpgroup": Attention(4, 32, 8, 16, 8192, 128, 128, causal=True, consumers=1),
}


@pytest.mark.parametrize("name", list(SHAPES))
def test_attention_assembles_without_spills(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    said = assert_runs_at_full_rate(gpu.ptx_of(attention_kernel(shape)), shape.threads, tmp_path)
    assert "C75" not in said  # nor is a fence added


def test_exponentials_are_between_the_two_waits() -> None:
    ptx = gpu.ptx_of(attention_kernel(SHAPES["plain"]))
    start = ptx.index("wgmma.wait_group.sync.aligned 1;")
    loop = ptx[start : ptx.index("wgmma.wait_group.sync.aligned 0", start)]
    # Those of 64 scores, and of what two rows are multiplied by; then K's stage is given back.
    assert loop.count("ex2.approx.ftz.f32") == 66
    assert loop.rindex("mbarrier.arrive") > loop.rindex("ex2.approx")
    before = ptx[:start]
    assert before[before.rindex("bar.sync") :].count("wgmma.mma_async") == 8


REFUSED = {
    "more than 128 numbers": Attention(1, 1, 1, 64, 64, 256, 64),
    "no multiple of 16": Attention(1, 1, 1, 64, 64, 72, 64),
    "heads a multiple of those of K": Attention(1, 3, 2, 64, 64, 64, 64),
    "sizes are from 1": Attention(1, 1, 1, 0, 64, 64, 64),
    "f8E4M3B11FNUZ is none of": Attention(1, 1, 1, 64, 64, 64, 64, "f8E4M3B11FNUZ"),
    "result of f8E4M3FN": Attention(1, 1, 1, 64, 64, 64, 64, result="f8E4M3FN"),
    "a window of -1": Attention(1, 1, 1, 64, 64, 64, 64, window=-1),
    "2 offsets for a batch of 3": Attention(3, 1, 1, 64, 64, 64, 64, offsets=2),
    "one of nan, zero, mean": Attention(1, 1, 1, 64, 64, 64, 64, blind="all"),
    "no lse is known": Attention(1, 1, 1, 64, 64, 64, 64, blind="mean", lse=True),
    "0 or 1 apart, not 2": Attention(1, 1, 1, 64, 64, 64, 64, row_step=2),
    "1 or 2 warpgroups": Attention(1, 1, 1, 64, 64, 64, 64, consumers=3),
    "9 stages take": Attention(1, 1, 1, 64, 64, 64, 128, stages=9),
    "too many tiles": Attention(1 << 14, 1 << 14, 1, 1 << 10, 64, 64, 64),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        attention_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
