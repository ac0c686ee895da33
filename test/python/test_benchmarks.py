"""`python -m benchmarks`: values are checked, files are whole; no time is judged."""

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import bars, command, markdown, measuring, plot, records, tables, tune
from benchmarks.cases import OURS, Case, Contender, Sample, WrongValueError, checks_itself
from benchmarks.engine import Engine, Program
from benchmarks.measuring import measure
from benchmarks.plan import Plan
from benchmarks.records import Record
from benchmarks.suites import SUITES, cases_of, modules
from benchmarks.values import Agreement, distance, identical, near
from mlir_fp8.lowering.kernels.products.choices_file import given_choices
from mlir_fp8.lowering.kernels.vector_code.target import host_target

ROOT = Path(__file__).parent.parent.parent
PEERLESS = Plan(threads=(1,), quick=True, rounds=1)
WANT = np.arange(4.0)
MACHINE: dict[str, Any] = {
    "cpu": "a cpu",
    "cores": 2,
    "features": ["avx2"],
    "memory GiB": 4.0,
    "load before": 0.0,
    "load after": 0.5,
    "versions": {"numpy": "2", "torch": None},
}


SLOW = ("first-result", "pytorch", "inference")


def contender(name: str, value: Any = WANT, threads: int = 1) -> Contender:
    return Contender(name, lambda: value, identical(WANT), threads)


def record(contender: str, seconds: float, **fields: Any) -> Record:
    """A measurement of the first bar's case."""
    bar = bars.BARS[0]
    common: dict[str, Any] = {"clock": "cpu", "notes": {}, "work": 1 << 24, "unit": "elem"}
    common |= {"suite": bar.suite, "case": bar.case, "size": bar.size, "bar": None, "refused": ""}
    common |= {"threads": 1, "seconds": [seconds] if seconds else []}
    return Record(contender=contender, **(common | fields))


@pytest.mark.parametrize(
    "suite",
    [
        pytest.param(suite, marks=[pytest.mark.exhaustive] if suite in SLOW else [])
        for suite in SUITES
    ],
)
def test_every_suite_measures_ours_alone(suite: str) -> None:
    if suite == "pytorch":
        pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
    if suite == "inference":
        pytest.importorskip("jax")
    first = next(cases_of(suite)(PEERLESS))
    measured = measure(suite, first, PEERLESS, lambda _: None)
    assert measured and all(each.seconds and not each.refused for each in measured), measured
    assert any(each.is_ours for each in measured)


@pytest.mark.exhaustive
def test_inference_of_all_sides_has_the_same_values(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours, XLA:CPU and PyTorch, whose logits are checked; a tiny model has no bars."""
    pytest.importorskip("jax")
    pytest.importorskip("torch")
    assert command.main(["inference", "--quick", "--peers=xla,torch"]) == 0
    printed = capsys.readouterr().out
    for case in ("prefill", "decode"):
        lines = printed.partition(f"inference: tiny GPT-2 small, {case}")[2].splitlines()[1:7]
        names = {line[2:24].strip() for line in lines}
        assert names == {OURS, *(f"{OURS}, {each}" for each in ("weight-only", "static",
                         "f8 cache")), "XLA:CPU", "torch eager"}  # fmt: skip
        assert "refused" not in "".join(lines)
    assert "tiny Llama-3.2-1B shape, decode" in printed and "MISSED" not in printed


def test_json_holds_every_field_of_every_record(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    asked = ["casts", "functions", "--quick", "--peers=ml_dtypes,numpy", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *asked], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(file.read_text())
    fields = {field.name for field in dataclasses.fields(Record)}
    assert all(set(each) == fields for each in content["records"])
    assert {each["suite"] for each in content["records"]} == {"casts", "functions"}
    assert {OURS, "ml_dtypes", "copy"} <= {each["contender"] for each in content["records"]}
    machine = content["machine"]
    assert {"cpu", "cores", "features", "load before", "load after", "versions"} <= set(machine)
    assert machine["versions"]["numpy"] == np.__version__


def test_a_wrong_value_stops_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = Case("sum", (contender(OURS), contender("a peer", WANT + 1)), "4")
    monkeypatch.setattr(command, "cases_of", lambda _: lambda _: iter([wrong]))
    file = tmp_path / "numbers.json"
    assert command.main(["casts", "--quick", "--json", str(file)]) == 1
    error = capsys.readouterr().err
    assert error == "error: casts: sum 4: a peer gives other values: not to the bit\n"
    assert not file.exists()


def raising() -> None:
    raise RuntimeError("no such type\nand more")


def test_peers_may_refuse() -> None:
    peer = Contender("a peer", raising, checks_itself)
    ours, refused = measure("s", Case("c", (contender(OURS), peer)), PEERLESS, lambda _: None)
    assert (refused.refused, refused.seconds) == ("no such type", [])
    assert len(ours.seconds) == 1


def test_a_refusal_of_ours_is_an_error_after_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine = Contender(f"{OURS}, cold", raising, checks_itself)
    cases = [Case("a", (mine, contender("b"))), Case("c", (contender(OURS),))]
    monkeypatch.setattr(command, "cases_of", lambda _: lambda _: iter(cases))
    file = tmp_path / "numbers.json"
    assert command.main(["casts", "--quick", "--json", str(file)]) == 1
    assert capsys.readouterr().err == "error: casts: a: mlir-fp8, cold refuses: no such type\n"
    assert [bool(each.seconds) for each in records.read(file)[1]] == [False, True, True]


def test_contenders_take_turns() -> None:
    turns: list[str] = []

    def taking(name: str) -> Contender:
        return Contender(name, lambda: turns.append(name), checks_itself)

    plan = dataclasses.replace(PEERLESS, rounds=3)
    found = measure("s", Case("c", (taking(OURS), taking("b"))), plan, lambda _: None)
    assert turns == [OURS, "b"] * 4
    assert [len(each.seconds) for each in found] == [3, 3]
    assert {each.clock for each in found} == {"cpu"}


def test_threads_are_measured_by_the_wall() -> None:
    both = Case("c", (contender(OURS), contender(OURS, threads=2)))
    found = measure("s", both, PEERLESS, lambda _: None)
    assert [(each.threads, each.clock) for each in found] == [(1, "wall"), (2, "wall")]
    (ours,) = measure("s", Case("c", (contender(OURS),), starts_processes=True), PEERLESS, print)
    assert ours.clock == "wall"


def test_samples_count_as_they_are() -> None:
    itself = Contender(OURS, lambda: Sample(2.5, {"processor s": 1.5}), checks_itself)
    (found,) = measure("s", Case("c", (itself,)), PEERLESS, lambda _: None)
    assert (found.seconds, found.notes, found.clock) == ([2.5], {"processor s": [1.5]}, "wall")


def test_who_is_slow_is_not_asked_again() -> None:
    plan = dataclasses.replace(PEERLESS, growth=True, slow={("s", "c", "a peer", 1)})
    _, peer = measure("s", Case("c", (contender(OURS), contender("a peer"))), plan, lambda _: None)
    assert peer.refused.startswith("took over ")


def test_slow_peers_have_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "PATIENCE", -1.0)
    plan = dataclasses.replace(PEERLESS, growth=True, rounds=3)
    both = Case("c", (contender(OURS), contender("a peer", threads=2)))
    found = measure("s", both, plan, lambda _: None)
    assert [len(each.seconds) for each in found] == [3, 1]
    assert plan.slow == {("s", "c", "a peer", 2)}


def test_an_engine_that_cannot_compile_refuses() -> None:
    def compile_(text: str) -> Any:
        raise ValueError(f"no {text}\nat all")

    engine = Engine("XLA:CPU", 2, compile_, lambda _, arrays: Program(list, list))
    refused = engine.contender("sort", [], checks_itself)
    assert (refused.name, refused.threads, refused.refused) == ("XLA:CPU", 2, "no sort")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cats"], "cats is no suite: casts, blocks, products, "),
        (["models", "--growth"], "models is no suite that grows: casts, products"),
        (["--peers=pytorch"], "pytorch is no peer: numpy, ml_dtypes, torch, inductor, xla, iree"),
        (["--threads=0"], "--threads 0: give numbers from 1 to "),
        (["--rounds=0"], "--rounds 0: give 1 or more"),
        (["--seconds=nan"], "--seconds nan: give a number above 0"),
        (["--seconds=-5"], "--seconds -5: give a number above 0"),
        (["--json=test"], "test: cannot be written"),
        (["--plot=a.txt"], "--plot a.txt: give a name that ends in .svg, .png, .pdf"),
        (["--json=nowhere/a.json"], "nowhere/a.json: there is no such folder"),
        (["--tables=pyproject.toml"], "pyproject.toml is not what --json wrote"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    assert command.main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}") and error.count("\n") == 1


def test_what_ours_cannot_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(modules, "PROGRAMS", Path("nowhere"))
    monkeypatch.setattr(modules, "QUICK", ("no_such_program",))
    assert command.main(["modules", "--quick", "--peers=numpy"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and "no_such_program" in error and error.count("\n") == 1


def test_a_plot_needs_matplotlib(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda _: None)
    assert command.main(["casts", "--quick", "--plot=a.svg"]) == 1
    error = capsys.readouterr().err
    assert error == "error: --plot needs matplotlib: pip install '.[benchmarks]'\n"


def test_absent_peers_are_skipped_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "missing", lambda _: ["torch", "iree"])
    monkeypatch.setattr(command, "cases_of", lambda _: lambda _: iter([]))
    assert command.main(["casts"]) == 0
    assert capsys.readouterr().out.startswith(
        "torch is skipped: torch not installed\n"
        "iree is skipped: iree.compiler and iree.runtime not installed\n"
    )


def test_tune_writes_rows_that_are_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(tune, "_ELEMENTS", ("i8",))
    monkeypatch.setattr(tune, "_QUICK_ROWS", (1,))
    monkeypatch.setattr(tune, "_LAYOUTS", ("nk",))
    monkeypatch.setattr(tune, "_WORTH", 1e9)  # whatever is tried is as good as any
    file = tmp_path / "choices.json"
    asked = ["tune", "--quick", "--threads=1", "--peers=numpy", "--choices", str(file)]
    assert command.main(asked) == 0
    printed = capsys.readouterr().out
    assert re.search(r"nk 1x96x64: ours/candidate \d+\.\d\d: in-place", printed)
    assert printed.endswith(f"MLIR_FP8_KERNEL_CHOICES={file} uses them\n")
    monkeypatch.setenv("MLIR_FP8_KERNEL_CHOICES", str(file))
    *_, packed = given_choices()
    assert (packed.targets, packed.kernel) == (host_target().name, "packed")
    assert packed.operands in ("i8-same", "i16")


def test_tune_names_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["tune", "--quick", "--peers=numpy"]) == 1
    assert capsys.readouterr().err == "error: tune: name a file to write to, by --choices FILE\n"


def test_help_names_every_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {suite} " in shown for suite in SUITES)


@pytest.mark.parametrize("text", ['{"machine": {}, "records": []}', "[" * 100_000, "{", "\xff"])
def test_json_of_others_is_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    file.write_bytes(text.encode("latin-1"))
    assert command.main(["--tables", str(file)]) == 1
    assert capsys.readouterr().err == f"error: {file} is not what --json wrote\n"


def test_tables_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "numbers.json"
    measured = [
        record(OURS, 1e-3),
        record(OURS, 5e-4, threads=2),
        record("ml_dtypes", 2.5e-2, bar=20.0),
        record("torch", 0, refused="no such type"),
    ]
    records.write(file, MACHINE, measured)
    assert records.read(file) == (MACHINE, measured)
    assert command.main(["--tables", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "a cpu (avx2), 2 cores, 4.0 GiB; load 0.0 before, 0.5 after; numpy 2." in shown
    assert "| 1 ms 16.8 Gelem/s | 500 us 33.6 Gelem/s | 25.00 x | refused |" in shown
    assert "| casts: f32 to f8E4M3FN, 2**24 | 2 | 1 ms | 2.00 x |" in shown
    assert "1 thread, beside ml_dtypes | 20 x | 25.00 x | reached |" in shown


def test_bars_say_what_is_missed() -> None:
    measured = [record(OURS, 1e-3), record("ml_dtypes", 1.9e-2, bar=20.0)]
    (verdict,) = bars.verdicts(measured)
    assert (verdict.measured, verdict.is_reached) == ("19.00 x", False)
    assert any("19.00 x  MISSED: 20" in line for line in tables.case_lines(measured))
    assert bars.bar_of(measured[1]) == 20.0
    assert bars.bar_of(dataclasses.replace(measured[1], threads=2)) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(1234.0, "1234 s"), (2.5, "2.5 s"), (0.9996, "1000 ms"), (2.5e-5, "25 us"), (4e-7, "400 ns")],
)
def test_durations_are_in_units_that_suit(seconds: float, shown: str) -> None:
    assert tables.duration(seconds) == shown


def test_suites_have_geometric_means() -> None:
    measured: list[Record] = []
    for index, times in enumerate((1, 2, 4, 8, 16)):
        case = {"case": str(index), "suite": "modules"}
        measured += [record(OURS, 1e-3, **case), record("XLA:CPU", times * 1e-3, **case)]
    (line,) = tables.mean_lines(measured)
    assert line.startswith("modules: XLA:CPU ") and "4.00 x, geometric mean of 5" in line
    assert "| geometric mean |  | 4.00 x |" in list(markdown.markdown(MACHINE, measured))
    assert list(tables.mean_lines(measured[:8])) == []


def test_values_are_told_apart() -> None:
    integers = np.arange(3)
    assert distance(integers, integers) == 0
    assert distance(integers + 1, integers) == float("inf")
    first = Agreement(1e-3).check()
    checks: list[tuple[Any, Any]] = [
        (near([WANT], 1e-3), [WANT * 1.1]),
        (near([WANT], 1e-3), [WANT, WANT]),
        (near([WANT], 1e-3), [WANT * np.nan]),
        (near([WANT], 1e-3, is_strict=False), [WANT * 2]),
        (identical(WANT), -WANT),
        (first, [WANT + 1]),
    ]
    assert first([WANT]) == {}
    loose = near([WANT], 1e-3, is_strict=False)([WANT * 1.1])
    assert loose["off by"] == pytest.approx(0.1)
    for check, wrong in checks:
        with pytest.raises(WrongValueError):
            check(wrong)


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    sizes = [record(who, n * 1e-3, work=n, size=str(n)) for n in range(1, 8) for who in (OURS, "b")]
    others: Mapping[str, Any] = {"suite": "models", "case": "mlp", "work": 0}
    ratios = [record(OURS, 1e-3, **others), record("torch", 2e-3, bar=3.0, **others)]
    file = tmp_path / "picture.svg"
    if plot.refusal(file):
        assert find_spec("matplotlib") is None
        return
    plot.draw(file, [*sizes, *ratios])
    assert "<svg" in file.read_text()


def test_a_suite_of_phases_has_a_column_for_each() -> None:
    case: dict[str, Any] = {"suite": "pytorch", "case": "a model", "size": "", "work": 0.0}
    notes = {"export s": [2.0], "import s": [1.0], "compile s": [0.5], "relative L2": [3e-7]}
    measured = [
        record(OURS, 0.01, notes=notes, **case),
        record("eager", 0.02, **case),
        record("inductor", 0.005, notes={"compile s": [20.0]}, **case),
    ]
    lines = list(markdown.markdown(MACHINE, measured))
    assert "|  | relative L2 | export | import | compile | a call | eager | inductor |" in lines
    row = "| a model | 3.0e-07 | 2 s | 1 s | 500 ms | 10 ms | 20 ms, 2.00 x |"
    assert f"{row} 5 ms, 0.50 x (compiled in 20 s) |" in lines
