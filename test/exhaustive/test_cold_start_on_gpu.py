"""cold_start_on_gpu.py as far as it goes without a card."""

import gzip
import json
from pathlib import Path

import cold_start_on_gpu
import pytest

from mlir_fp8.lowering.gpu.ptx.assembler import assembler


@pytest.mark.exhaustive
def test_each_kernel_is_written_twice(tmp_path: Path) -> None:
    if assembler() is None:
        with pytest.raises(SystemExit, match="ptxas is not installed"):
            cold_start_on_gpu.make(tmp_path)
        return
    cold_start_on_gpu.make(tmp_path)
    entries = json.loads((tmp_path / "index.json").read_text())
    assert len(entries) == len(list(cold_start_on_gpu.kernels()))
    for number in range(len(entries)):
        ptx, cubin = (
            gzip.decompress((tmp_path / f"{kind}{number}.mlirbc.gz").read_bytes())
            for kind in ("ptx", "cubin")
        )
        assert b".entry" in ptx and b"\x7fELF" in cubin and b".entry" not in cubin
