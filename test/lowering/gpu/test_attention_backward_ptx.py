"""What NVIDIA's assembler makes of gradients of attention, and which are refused."""

import dataclasses
from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assert_runs_at_full_rate

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.attention_backward.kernel import attention_backward_kernel
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward

SHAPES = {
    "plain": AttentionBackward(4, 32, 32, 2048, 2048, 128, 128, 0.09),
    "causal": AttentionBackward(4, 32, 32, 2048, 2048, 128, 128, 0.09, causal=True),
    "f16": AttentionBackward(4, 32, 8, 2000, 2001, 128, 120, 0.09, "f16", causal=True),
    "shared": AttentionBackward(4, 32, 8, 2000, 2001, 128, 120, 0.09, causal=True),
    "short_heads": AttentionBackward(4, 32, 32, 2048, 2048, 64, 64, 0.125, causal=True),
    "one_warpgroup": AttentionBackward(4, 32, 32, 512, 512, 128, 128, 0.09, consumers=1),
}


@pytest.mark.parametrize("of", ["keys", "queries"])
@pytest.mark.parametrize("name", list(SHAPES))
def test_gradients_assemble_without_spills(name: str, of: str, tmp_path: Path) -> None:
    shape = dataclasses.replace(SHAPES[name], of=of)
    ptx = gpu.ptx_of(attention_backward_kernel(shape))
    said = assert_runs_at_full_rate(ptx, shape.threads, tmp_path)
    assert "C75" not in said  # nor is a fence added


REFUSED = {
    "more than 128 numbers": AttentionBackward(1, 1, 1, 64, 64, 256, 64),
    "no multiple of 8": AttentionBackward(1, 1, 1, 64, 64, 64, 60),
    "heads a multiple of those of K": AttentionBackward(1, 3, 2, 64, 64, 64, 64),
    "sizes are from 1": AttentionBackward(1, 1, 1, 0, 64, 64, 64),
    "f32 is none of": AttentionBackward(1, 1, 1, 64, 64, 64, 64, element="f32"),
    "not of values": AttentionBackward(1, 1, 1, 64, 64, 64, 64, of="values"),
    "1 or 2 warpgroups": AttentionBackward(1, 1, 1, 64, 64, 64, 64, consumers=3),
    "9 stages take": AttentionBackward(1, 1, 1, 64, 64, 128, 128, stages=9),
    "2 stages or more": AttentionBackward(1, 1, 1, 64, 64, 64, 64, stages=1),
    "too many rows": AttentionBackward(1 << 14, 1 << 14, 1, 1 << 10, 64, 64, 64),
}


@pytest.mark.parametrize("reason", list(REFUSED))
def test_what_cannot_run_is_refused_before(reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason) as caught:
        attention_backward_kernel(REFUSED[reason])
    assert "\n" not in str(caught.value)
