"""The tables of docs/numerics.md are what the recorded results make, with no empty cell."""

import re

import pytest
from table_cells import Footnotes, agreement, outcome
from tables import MARKERS, PAGE, tables, written

ROWS = [line for line in tables().splitlines() if line.startswith("|")]


def test_the_page_is_current() -> None:
    page = PAGE.read_text()
    assert written(page) == page, "run python test/exhaustive/tables.py"


def test_no_cell_is_empty() -> None:
    assert len(ROWS) > 40
    for row in ROWS:
        assert not re.search(r"\|\s*\|", row), row


def test_each_op_has_one_row_in_each_table() -> None:
    from op_cases import CASES

    for case in CASES:
        assert sum(f"`{case.name}`" in row.split(" | ")[0] for row in ROWS) == 2, case.name


def test_only_what_is_between_the_markers_changes() -> None:
    page = f"before {MARKERS[0]} old {MARKERS[1]} after"
    assert written(page).startswith(f"before {MARKERS[0]}\n\n#")
    assert written(page).endswith(f"|\n\n{MARKERS[1]} after")


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        ({"cases": 9, "wrong": 0}, "exact"),
        ({"cases": 9, "wrong": 0, "no_code": 2}, "exact¹"),
        ({"cases": 9, "wrong": 2, "max_ulp": 1}, "≤ 1 ULP (2 of 9)"),
        ({"cases": 9, "wrong": 2, "nan": 2}, "NaN in 2 (2 of 9)"),
        ({"cases": 9, "wrong": 2}, "2 of 9"),
        ({"refused": "'chlo.x' is not possible on f8E5M2"}, "refused¹"),
    ],
)
def test_cells(row: dict[str, int | str], cell: str) -> None:
    assert outcome(row, Footnotes()) == cell


def test_agreement() -> None:
    right, wrong = {"cases": 9, "wrong": 0}, {"cases": 9, "wrong": 3, "max_ulp": 1}
    assert agreement({"f32": right, "f16": right}) == "agrees"
    assert agreement({"f32": wrong, "f16": wrong}) == "differs in all: ≤ 1 ULP (6 of 18)"
    rows = {"f32": right, "f16": wrong, "f6E2M3FN": {"refused": "x"}, "f6E3M2FN": {"refused": "x"}}
    assert agreement(rows) == "agrees in 1; differs in f16: ≤ 1 ULP (3 of 9); refuses f6"
