"""`fp8-opt` takes every form of every model down to LLVM, where no small float is left."""

import re
from pathlib import Path

import pytest

from mlir_fp8.tools.opt import main

MODELS = Path(__file__).parents[1] / "models"
FILES = [
    pytest.param(file, marks=[pytest.mark.exhaustive] if "train_step" in file.name else [])
    for file in sorted([*MODELS.glob("*.mlir"), *MODELS.glob("*.mlirbc")])
]


def test_the_models_are_there() -> None:
    assert len(FILES) == 8


@pytest.mark.sampled(4)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_small_float_is_left(file: Path, tmp_path: Path) -> None:
    lowered = tmp_path / "lowered.mlir"
    assert main([str(file), "--lower-to-llvm-pipeline", "-o", str(lowered)]) == 0
    text = lowered.read_text()
    assert "llvm.func @main(" in text
    assert not re.findall(r"f\d+E\d+M\d+", text)
    # Nor is any op of another dialect.
    assert set(re.findall(r"^ *(?:%\S+ = )?\"?(\w+)\.", text, re.MULTILINE)) == {"llvm"}
