"""Random programs: the same for the same seed, well-typed, and a few of them by two judges."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import ruling
from builder import BITS, NEAR, VALUES, Builder, Program
from campaign import campaign, drawn
from compared import first_difference
from grid import Grid
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judged import Opinion, native
from programs import ROWS, Row

import mlir_fp8
from mlir_fp8.arrays import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS

JUDGES = ("llvm", "interpreter")
COUNT = 25


def test_programs_by_two_judges() -> None:
    tally = campaign(drawn(COUNT, 1), JUDGES, lambda _: None, writes_cases=False)
    assert tally.programs == COUNT
    assert not tally.ours
    assert tally.judged >= 0.9 * COUNT, tally.refusals


def test_the_same_seed_gives_the_same_programs() -> None:
    first, again, other = (list(drawn(5, seed)) for seed in (3, 3, 4))
    assert [program.text for program in first] == [program.text for program in again]
    assert [program.text for program in first] != [program.text for program in other]
    for one, two in zip(first, again, strict=True):
        assert [a.tobytes() for a in one.arrays] == [a.tobytes() for a in two.arrays]


def programs_of(row: Row, count: int) -> list[Program]:
    """Programs of the one op of `row`, and what it is on."""
    found: list[Program] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow,),
    )
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        builder = Builder(data.draw)
        row.emit(builder)
        found.append(builder.program())

    collect()
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_makes_its_op_well_typed(row: Row) -> None:
    for program in programs_of(row, 4):
        mlir_fp8.load(program.text)


def test_a_difference_of_ours_is_found_and_cut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(program: Program) -> Opinion:
        opinion = native(program)
        if not any(op.name == "stablehlo.subtract" for op in program.ops) or not opinion.results:
            return opinion
        spoiled = [
            np.where(value.spec.element == "i32", array + 1, array).astype(array.dtype)
            for value, array in zip(program.results, opinion.results, strict=True)
        ]
        return Opinion(tuple(spoiled))

    monkeypatch.setattr(ruling, "native", wrong)
    program = _subtraction()
    (finding,) = ruling.rule(program, JUDGES).ours
    assert finding.key == "stablehlo.subtract"
    assert [op.name for op in finding.program.ops] == ["stablehlo.subtract"]
    assert finding.expected is not None
    assert finding.expected[0].tolist() == [1, 2]


def _subtraction() -> Program:
    def draw(_: st.SearchStrategy[int]) -> int:
        return 0

    builder = Builder(draw)
    a = builder.given(np.array([3, 4], np.int32), "i32")
    b = builder.given(np.array([2, 2], np.int32), "i32")
    spec = TensorSpec((2,), "i32")
    difference = builder.op("stablehlo.subtract", [a, b], spec)
    negated = builder.op("stablehlo.negate", [b], spec)
    program = builder.program()
    assert program.results == (difference, negated)
    return program


@pytest.mark.parametrize(
    ("got", "want", "element", "check", "differs"),
    [
        ([0.0], [-0.0], "f32", VALUES, True),
        ([np.nan], [-np.nan], "f32", VALUES, False),
        ([np.nan], [-np.nan], "f32", BITS, True),
        ([1.0], [1.0000002], "f32", NEAR, False),
        ([1.0], [1.0000005], "f32", NEAR, True),
        ([448.0], [np.nan], "f8E4M3FN", NEAR, False),
        ([416.0], [np.nan], "f8E4M3FN", NEAR, True),
        ([np.nan], [np.inf], "f8E5M2", NEAR, True),
        ([57344.0], [np.inf], "f8E5M2", NEAR, False),
        ([1.0, 1.25], [1.0, 1.5], "f8E4M3FN", NEAR, True),
    ],
)
def test_what_differs(
    got: Sequence[float], want: Sequence[float], element: str, check: str, differs: bool
) -> None:
    dtype = FORMATS[element].dtype
    spec = TensorSpec((len(got),), element)
    place = first_difference(np.array(got, dtype), np.array(want, dtype), spec, check)
    assert place == ((len(got) - 1,) if differs else None)


def test_sums_on_a_grid_are_exact() -> None:
    grid = Grid(-2, 3)
    assert grid.summed(5) == Grid(-2, 6)
    assert grid.summed(1) == grid
    assert grid.summed(1 << 19).is_exact_in(FORMATS["f32"])
    assert not grid.summed(1 << 20).is_exact_in(FORMATS["f32"])
    assert grid.rounded_to("f8E8M0FNU") is None
    assert Grid(0, 9).rounded_to("f8E4M3FN") is None


def test_every_op_is_drawn() -> None:
    drawn_ops = Counter(op.name for program in drawn(200, 9) for op in program.ops)
    assert {row.name.split()[0] for row in ROWS} <= set(drawn_ops)
