"""Every case file: what was once wrong is right."""

from pathlib import Path

import numpy as np
import pytest
from case_files import FOLDER, read, write
from compared import first_difference

import mlir_fp8

CASES = sorted(FOLDER.glob("*.mlir"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path) -> None:
    case = read(path)
    assert case.expected
    results = mlir_fp8.compile(case.text)(*case.arrays)
    for spec, check, got, want in zip(case.specs, case.checks, results, case.expected, strict=True):
        place = first_difference(got, want, spec, check)
        assert place is None, f"{spec} at {place}: {got[place]}, expected {want[place]}"


def test_a_case_is_read_as_written(tmp_path: Path) -> None:
    text = "func.func @main(%a: tensor<2xi8>, %b: tensor<0xf32>) -> tensor<2xi8> {\n"
    text += "  return %a : tensor<2xi8>\n}\n"
    arrays = np.array([1, -2], np.int8), np.zeros(0, np.float32)
    write(tmp_path / "case.mlir", "nothing", text, arrays, [("bits", arrays[0])])
    case = read(tmp_path / "case.mlir")
    assert [array.tolist() for array in case.arrays] == [[1, -2], []]
    assert case.expected[0].tolist() == [1, -2]
    assert case.checks == ("bits",)
