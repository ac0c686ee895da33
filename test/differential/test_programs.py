"""Random programs: the same for the same seed, well-typed, and a few of them by two judges."""

from collections.abc import Sequence

import numpy as np
import pytest
import ruling
from builder import Builder
from campaign import campaign
from choices import Seeded
from compared import first_difference
from grid import Grid
from hypothesis import HealthCheck, given, settings
from judged import Opinion, native
from program import BITS, NEAR, VALUES, Program
from programs import ROWS, Row, programs, seeded

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS

JUDGES = ("llvm", "interpreter")


def test_programs_by_two_judges(exhaustive: bool) -> None:
    count = 20 if exhaustive else 6
    tally = campaign(1, range(count), JUDGES, writes_cases=False)
    assert tally.programs == count
    assert not tally.ours
    assert tally.ran["llvm"] == count, tally.refusals
    assert tally.judged >= count - max(1, count // 10), tally.refusals


def test_the_same_seed_gives_the_same_program() -> None:
    first, again = seeded(3, 1), seeded(3, 1)
    assert first.text == again.text
    assert [a.tobytes() for a in first.arrays] == [a.tobytes() for a in again.arrays]
    assert len({seeded(*each).text for each in ((3, 1), (3, 2), (4, 1))}) == 3


@settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.large_base_example),
)
@given(programs())
def test_programs_are_well_typed(program: Program) -> None:
    mlir_fp8.load(program.text)
    assert len(program.arrays) <= 4


@pytest.mark.sampled(7)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_makes_its_op_well_typed(row: Row, exhaustive: bool) -> None:
    made: set[str] = set()
    for number in range(12):
        if not exhaustive and row.name.split()[0] in made:
            break
        builder = Builder(Seeded(f"{row.name}:{number}"))
        row.emit(builder)
        program = builder.program()
        made.update(op.name for op in program.ops)
        made.update(["stablehlo.constant"] if program.arrays else [])
        mlir_fp8.load(program.text)
    assert row.name.split()[0] in made


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
    builder = Builder(Seeded("subtraction"))
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
