"""The listed faults of the judges are there still, and native code does not have them."""

from importlib.util import find_spec

import numpy as np
import pytest
from fault_page import DOCUMENT, page, with_section
from judge_fault import JudgeFault
from judge_faults import JUDGE_FAULTS
from judged import normalized

import mlir_fp8
from mlir_fp8.judging import judges

INSTALLED = ("interpreter", *(["xla"] if find_spec("jax") else []))
STILL_THERE = [
    pytest.param(fault, judge, id=f"{judge}: {fault.name}")
    for fault in JUDGE_FAULTS
    for judge in fault.judges
    if judge in INSTALLED
]


def result(judge: str, fault: JudgeFault) -> np.ndarray:
    module = mlir_fp8.load(fault.example)
    if judge == "interpreter" and "chlo." in fault.example:
        module = normalized(module)
    return judges.ENGINES[judge](module, fault.arguments, "main")[0]


def is_right(got: np.ndarray, fault: JudgeFault) -> bool:
    if got.dtype != fault.truth.dtype:
        return False
    # What a NaN looks like is part of the truth only where data is moved.
    both_nan = fault.truth.shape == () and bool(got != got) and bool(fault.truth != fault.truth)
    return both_nan or got.tobytes() == fault.truth.tobytes()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", JUDGE_FAULTS, ids=lambda fault: fault.name)
def test_native_code_is_right(fault: JudgeFault) -> None:
    got = result("llvm", fault)
    assert is_right(got, fault), f"{got}, expected {fault.truth}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("fault", "judge"), STILL_THERE)
def test_the_judge_is_still_wrong(fault: JudgeFault, judge: str) -> None:
    got = result(judge, fault)
    assert not is_right(got, fault), f"{judge} gives {got} now: strike the row '{fault.name}'"


def test_the_document_lists_them() -> None:
    text = DOCUMENT.read_text()
    assert with_section(text, page()) == text, "run python test/differential/fault_page.py"
