"""Every op by element class: compiled and judged, or refused as docs/ops.md says."""

import json
from itertools import product

import pytest
from jaxlib.mlir.dialects import _chlo_ops_gen, _stablehlo_ops_gen
from record import REFUSED, RESULTS, is_bad, main
from sample_bounds import first_difference
from sample_catalog import CLASSES, SAMPLES, class_of, key
from sample_groups import Case
from sample_judges import INTERPRETER, NUMPY, judged, message, native
from samples import Sample
from table import PAGE, general, page

import mlir_fp8

_CASES_PER_MODULE = 60
_FORMS = 3
_VERDICTS: dict[str, dict[str, str]] = json.loads(RESULTS.read_text())


def _ops_of_jaxlib() -> set[str]:
    classes = [*vars(_chlo_ops_gen).values(), *vars(_stablehlo_ops_gen).values()]
    return {each.OPERATION_NAME for each in classes if hasattr(each, "OPERATION_NAME")}


def _of_each_class(letter: str) -> list[Case]:
    """For each op and class cases that `letter` judged: of three forms at most, each of one type.

    Forms and types take turns, so that all of them have theirs with some op.
    """
    found: list[Case] = []
    for turn, (op, name) in enumerate(product(dict.fromkeys(s.op for s in SAMPLES), CLASSES)):
        judged_cases = [
            [Case(sample, element) for element in elements]
            for sample in SAMPLES
            if sample.op == op and (elements := _judged(sample, name, letter))
        ]
        turned = judged_cases[turn % (len(judged_cases) or 1) :] + judged_cases
        for cases in turned[: min(_FORMS, len(judged_cases))]:
            found.append(cases[turn % len(cases)])
    return found


def _judged(sample: Sample, name: str, letter: str) -> list[str]:
    """The element types of class `name` over which `letter` judged a sample."""
    verdicts = _VERDICTS[key(sample)].items()
    return [
        element
        for element, verdict in verdicts
        if class_of(element) == name
        and not verdict.startswith(REFUSED)
        and letter in verdict.split()
    ]


def _modules(cases: list[Case]) -> list[list[Case]]:
    return [cases[i : i + _CASES_PER_MODULE] for i in range(0, len(cases), _CASES_PER_MODULE)]


def _refusals() -> list[Case]:
    """For each sample one case of every message."""
    found: dict[tuple[str, str], Case] = {}
    for sample in SAMPLES:
        for element, verdict in _VERDICTS[key(sample)].items():
            if verdict.startswith(REFUSED):
                said = general(sample.op, element, verdict)
                found.setdefault((key(sample), said), Case(sample, element))
    return list(found.values())


def test_every_op_has_samples() -> None:
    assert {sample.op for sample in SAMPLES} == _ops_of_jaxlib()


def test_an_op_without_samples_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    before = RESULTS.read_bytes()
    assert main(["stablehlo.ad"]) == 1
    assert capsys.readouterr().out.startswith("no sample is of stablehlo.ad: add one")
    assert RESULTS.read_bytes() == before


def test_results_are_of_these_samples() -> None:
    assert {name: set(found) for name, found in _VERDICTS.items()} == {
        key(sample): set(sample.elements) for sample in SAMPLES
    }, "run python test/ops/record.py"


def test_nothing_is_wrong_or_unjudged() -> None:
    bad = {
        f"{name} over {element}": verdict
        for name, found in _VERDICTS.items()
        for element, verdict in found.items()
        if is_bad(verdict)
    }
    assert bad == {}


def test_page_is_current() -> None:
    assert PAGE.read_text() == page(_VERDICTS), "run python test/ops/table.py"


def test_page_has_no_empty_cell() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    rows = [each for each in rows if not each.startswith("| `fp8.")]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert {len(row) for row in cells} == {1 + len(CLASSES)}
    assert [row for row in cells if not all(row)] == []
    assert len(rows) == len(_ops_of_jaxlib())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("cases", _modules(_of_each_class("I")), ids=lambda cases: str(cases[0]))
def test_native_code_agrees_with_the_interpreter(cases: list[Case]) -> None:
    _compare(cases, INTERPRETER)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cases", _modules(_of_each_class("N")), ids=lambda cases: str(cases[0]))
def test_native_code_agrees_with_numpy(cases: list[Case]) -> None:
    _compare(cases, NUMPY)


def _compare(cases: list[Case], judge: str) -> None:
    mlir_fp8.compile(SAMPLES[0].program("f32"))  # the child finds everything loaded
    ours, theirs = native(cases), judged(judge, cases)
    silent = [
        f"{case}: {opinion}"
        for opinions in (ours, theirs)
        for case, opinion in opinions.items()
        if isinstance(opinion, str)
    ]
    assert silent == []
    differences = [
        f"{case}: {difference}"
        for case in cases
        for index, (left, right) in enumerate(zip(ours[case], theirs[case], strict=True))
        if not isinstance(left, str)
        and not isinstance(right, str)
        and (difference := first_difference(case, left, right, index))
    ]
    assert differences == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", _refusals(), ids=str)
def test_refusals_are_those_of_the_table(case: Case) -> None:
    verdict = _VERDICTS[key(case.sample)][case.element]
    with pytest.raises(mlir_fp8.Fp8Error) as refusal:
        mlir_fp8.compile(case.text)
    assert REFUSED + message(refusal.value) == verdict
