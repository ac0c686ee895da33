"""Scales and codes of block formats are what results/blocks.json says of them."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from blocks import JUDGES, counted, decoded
from results import load

RECORDED = load(Path(__file__).parent / "results" / "blocks.json")
QUICK = ("f4E2M1FN floor", "NVFP4")


def parts(name: str) -> tuple[str, str, str]:
    """The format, the rule of its scales, and their type."""
    if name == "NVFP4":
        return "f4E2M1FN", "nvfp4", "f8E4M3FN"
    format_, rounding = name.split()
    return format_, f"mx_{rounding}", "f8E8M0FNU"


@pytest.mark.parametrize(
    "name",
    [
        each if each in QUICK else pytest.param(each, marks=pytest.mark.exhaustive)
        for each in RECORDED
    ],
)
def test_what_is_recorded_is_so(name: str) -> None:
    format_, rule, scale = parts(name)
    row = RECORDED[name]
    assert decoded(format_, scale) == row["decoded"] and not row["decoded"]["wrong"]
    for judge in JUDGES:
        if judge in row and (judge != "torchao" or find_spec("torchao")):
            assert counted(format_, rule, judge) == row[judge], judge
    for kind in ("scales", "codes"):
        assert not row["microxcaling"][kind]["wrong"]


def test_every_format_and_rounding_has_a_row() -> None:
    assert len(RECORDED) == 5 * 3 + 1
