"""Ops of the `fp8` dialect by element type and scale: what scaled.json says is so."""

import json

import pytest
from scaled import ELEMENTS, RESULTS, cases, outcome
from table import PAGE

RECORDED = json.loads(RESULTS.read_text())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(("op", "kind"), list(cases()), ids=str)
def test_the_judges_agree_where_they_did(op: str, kind: str, element: str) -> None:
    assert outcome(op, element, kind) == RECORDED[f"{op} {kind}"][element]


def test_no_cell_is_empty_or_without_a_judge() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `fp8.")]
    assert len(rows) == len(list(cases()))
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 1 + len(ELEMENTS) and all(cells)
        assert all(cell in ("I", "X", "I X") or cell.startswith("refused[^") for cell in cells[1:])
