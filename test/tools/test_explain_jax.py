"""Which targets fuse the dots of JAX programs; suggested edits, applied, fuse."""

from pathlib import Path

import pytest

import mlir_fp8

FILES = sorted((Path(__file__).parent / "Inputs" / "jax").glob("*.mlir"))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_first_dot(file: Path) -> None:
    """The file's first line names the targets, as test/tools/jax_fp8_programs.py has them."""
    text = file.read_text()
    wanted = text.splitlines()[0].removeprefix("// fused:").split()
    row = mlir_fp8.explain(mlir_fp8.load(text), "all").rows[0]
    fused = [answer.target for answer in row.answers if answer.verdict == "fused"]
    assert [target for target in fused if target != "cublaslt-blackwell"] == wanted
    obstacles = [each for answer in row.answers for each in answer.obstacles]
    assert all(each.message and each.edit and "\n" not in each.message for each in obstacles)
