"""What PTX of kernels holds, and what NVIDIA's assembler makes of it where that is installed."""

import re
from pathlib import Path

import gpu_kernels as gpu
import pytest
from hand_written_ptx import assemble

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.quantize import Quantize, quantize_kernel
from mlir_fp8.lowering.gpu.kernels.quantize_rows import (
    QuantizeGroups,
    QuantizeRows,
    quantize_groups_kernel,
    quantize_rows_kernel,
)
from mlir_fp8.lowering.gpu.kernels.quantize_transpose import (
    QuantizeTranspose,
    quantize_transpose_kernel,
)
from mlir_fp8.lowering.gpu.kernels.text import Kernel
from mlir_fp8.lowering.gpu.kernels.update_scales import UpdateScales, update_scales_kernel
from mlir_fp8.lowering.gpu.ptx.chips import CHIPS

N = 8192
KERNELS: dict[str, tuple[Kernel, int]] = {
    "quantize": (quantize_kernel(Quantize(N * N)), 64),
    "quantize_f32": (quantize_kernel(Quantize(N * N, "f32")), 64),
    "quantize_odd": (quantize_kernel(Quantize(N * N - 1)), 96),
    "transpose": (quantize_transpose_kernel(QuantizeTranspose(N, N)), 64),
    "transpose_f32": (quantize_transpose_kernel(QuantizeTranspose(N, N, "f32")), 64),
    "transpose_odd": (quantize_transpose_kernel(QuantizeTranspose(N - 1, N - 1)), 128),
    "rows": (quantize_rows_kernel(QuantizeRows(N, N)), 64),
    "groups": (quantize_groups_kernel(QuantizeGroups(N * N)), 64),
    "update": (update_scales_kernel(UpdateScales(1024, ("f8E4M3FN",) * 24, (0.0,) * 24)), 64),
}
"""With the registers that a thread may take: 64 are those of 1024 threads on a multiprocessor."""


@pytest.mark.parametrize("chip", list(CHIPS))
def test_each_chip_has_its_target(chip: str) -> None:
    ptx = gpu.ptx_of(KERNELS["transpose"][0], chip)
    assert f".target {chip}\n" in ptx
    assert ".visible .entry quantize_transpose(" in ptx


def test_other_chips_are_refused() -> None:
    with pytest.raises(Fp8Error, match="'sm_80' is no chip of these kernels: it is one of sm_89"):
        gpu.ptx_of(KERNELS["quantize"][0], "sm_80")


@pytest.mark.parametrize("name", ["quantize", "transpose", "rows", "groups"])
def test_loads_are_of_16_bytes_and_before_their_use(name: str) -> None:
    ptx = gpu.ptx_of(KERNELS[name][0])
    loads = re.findall(r"ld\.global\.(\S+)", ptx)
    wide = loads.count("v4.b32")
    assert wide == (4 if name in ("rows", "groups") else 8)
    assert len(loads) - wide <= 1  # the scale
    first = ptx.index("ld.global.v4")
    between = ptx[first : ptx.rindex("ld.global.v4")]
    assert "bra" not in between and "cvt.rn" not in between and "st." not in between


def test_the_transpose_is_stored_by_16_bytes() -> None:
    ptx = gpu.ptx_of(KERNELS["transpose"][0])
    assert ptx.count("st.global.v4.b32") == 128 * 128 // 16 // 256
    assert ptx.count("st.global.v2.b32") == 8
    assert not re.search(r"st\.global\.(b8|b16|b32)", ptx)


@pytest.mark.parametrize("name", list(KERNELS))
def test_f8_is_never_widened(name: str) -> None:
    ptx = gpu.ptx_of(KERNELS[name][0])
    assert not re.search(r"cvt\S*\.(e4m3x2|e5m2x2)\s", ptx)
    assert "local" not in ptx  # memory of a thread, off the chip


@pytest.mark.parametrize("name", list(KERNELS))
def test_registers_and_spills(name: str, tmp_path: Path) -> None:
    kernel, registers = KERNELS[name]
    for chip in CHIPS:
        said = assemble(gpu.ptx_of(kernel, chip), tmp_path, chip)
        assert "0 bytes spill stores, 0 bytes spill loads" in said
        used = re.search(r"Used (\d+) registers", said)
        assert used and int(used[1]) <= registers, said
