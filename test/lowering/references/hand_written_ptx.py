"""Kernels written by hand in PTX, and what NVIDIA's assembler, where it is, says of any PTX."""

import re
import subprocess
from pathlib import Path

import pytest

from mlir_fp8.lowering.gpu.ptx.assembler import assembler


def kernel(body: str, buffers: int = 1, shared: str = "", directives: str = "") -> str:
    """A kernel whose buffers' addresses are in %rd1, %rd2 and so on, for `sm_90a`."""
    names = [f"p{i}" for i in range(1, buffers + 1)]
    parameters = ", ".join(f".param .b64 {each}" for each in names)
    loads = "\n".join(f"ld.param.b64 %rd{each[1:]}, [{each}];" for each in names)
    return f""".version 8.4
.target sm_90a
.address_size 64
{shared}
.visible .entry test({parameters}) {directives}
{{
.reg .pred %p<20>;
.reg .b16 %rs<20>;
.reg .b32 %r<200>;
.reg .f32 %f<300>;
.reg .b64 %rd<60>;
{loads}
{body}
}}
"""


def assemble(ptx: str, folder: Path, chip: str = "sm_90a") -> str:
    """What the assembler says; the test is skipped where there is none."""
    command = assembler()
    if command is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc")
    (folder / "test.ptx").write_text(ptx)
    asked = [command, f"-arch={chip}", "-v", "test.ptx", "-o", "test.cubin"]
    found = subprocess.run(asked, capture_output=True, text=True, cwd=folder, timeout=120)
    assert found.returncode == 0, found.stderr
    return found.stderr


def assert_runs_at_full_rate(ptx: str, threads: int, folder: Path) -> str:
    """That a kernel of `wgmma` assembles without spills, fits, and nothing makes it slower."""
    said = assemble(ptx, folder)
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    # Neither `setmaxnreg` ignored, nor `wgmma` one after the other.
    assert "warning" not in said.lower() and "Performance Loss" not in said
    used = re.search(r"Used (\d+) registers", said)
    assert used and int(used[1]) * threads <= 65536, said
    return said
