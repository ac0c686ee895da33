"""`fp8-tune`: the folder for a card, its script on a CPU, and the table of what it wrote."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.xla.costs import costs_of
from mlir_fp8.tools import tune

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tune") / "folder"
    assert tune.main([f"--make={made}", "--quick", "--checks=2"]) == 0
    return made


def test_a_folder_has_all_that_its_index_names(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    assert len(index["checks"]) == 2
    entries = [*index["checks"], *index["rates"]]
    for each in index["times"]:
        assert each["variants"][0]["name"] == "xla" and len(each["variants"]) > 1
        entries += each["variants"]
    kinds = {(each["kernel"], each["kind"]) for each in index["times"]}
    assert {kernel for kernel, _ in kinds} == {"product", "few_rows", "grouped_product"}
    wanted = {"fast", "exact, blocks", "exact, blocks of 32", "fast, gate", "exact, epilogue, gate"}
    assert wanted <= {kind for kernel, kind in kinds if kernel == "product"}
    assert {"fast, rows", "exact, sums"} <= {kind for _, kind in kinds}
    for each in entries:
        assert (folder / each["file"]).read_bytes().startswith(b"\x1f\x8b")
    names = {each["rate"] for each in index["rates"]}
    assert names <= set(vars(costs_of("h200")))
    assert {"card.py", "run.py"} <= {each.name for each in folder.iterdir()}


def _run(folder: Path, *options: str) -> tuple[int, Any, str]:
    times = folder / "times.json"
    command = [sys.executable, str(folder / "run.py"), "--device", "cpu", "--seconds", "0.001"]
    command += ["--json", str(times), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(times.read_text()), done.stdout


def test_the_script_times_what_a_cpu_has(folder: Path) -> None:
    status, content, shown = _run(folder, "--only", "rate copy,rate rows_by_xla")
    assert status == 0 and not content["wrong"]
    assert {each["rate"] for each in content["rows"]} == {"copy", "rows_by_xla"}
    assert "GB/s" in shown


def test_the_script_finds_what_does_not_run(folder: Path) -> None:
    """A kernel on a CPU, say: each is said, and the rest goes on."""
    status, content, _ = _run(folder, "--check")
    assert status == 1 and len(content["wrong"]) == 2 and not content["rows"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "jax has no gpu here: "),
        (["--device=cpu", "--json=none/times.json"], "cannot write 'none/times.json'"),
        (["--device=cpu", "--json=."], "cannot write '.'"),
    ],
)
def test_the_script_says_at_once_what_is_missing(
    folder: Path, options: list[str], message: str
) -> None:
    command = [sys.executable, str(folder / "run.py"), *options]
    on_cpu = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=on_cpu)
    assert done.returncode and done.stderr.count("error: ") == 1 and message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_script_without_its_index_says_so(folder: Path, tmp_path: Path) -> None:
    for name in ("run.py", "card.py"):
        shutil.copy(folder / name, tmp_path)
    command = [sys.executable, str(tmp_path / "run.py"), "--device=cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no index.json of fp8-tune beside run.py")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_ends_the_script_and_what_is_done_is_written(folder: Path, tmp_path: Path) -> None:
    times = tmp_path / "times.json"
    command = [sys.executable, str(folder / "run.py"), "--device", "cpu", "--seconds", "0.001"]
    names = ("rate copy", "rate rows_by_xla")
    command += ["--only", ",".join(names), "--json", str(times)]
    index = json.loads((folder / "index.json").read_text())
    first, later = (each for each in index["rates"] if each["name"] in names)
    # An entry that waits for a reader, behind one that is done at once.
    held = tmp_path / "held"
    os.mkfifo(held)
    changed = {**later, "file": str(held)}
    rates = [changed if each == later else each for each in index["rates"]]
    shutil.copytree(folder, tmp_path / "copy")
    command[1] = str(tmp_path / "copy" / "run.py")
    (tmp_path / "copy" / "index.json").write_text(json.dumps({**index, "rates": rates}))
    with (
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as run,
        held.open("wb"),
    ):  # which the entry has opened then
        os.killpg(run.pid, signal.SIGINT)
        _, told = run.communicate()
    assert run.returncode == 130
    assert "interrupted before entry 1 of 2" in told and "Traceback" not in told
    assert [each["rate"] for each in json.loads(times.read_text())["rows"]] == [first["rate"]]


_RATE = {"rate": "copy", "seconds": 1, "amount": 1, "unit": "GB/s"}


def _row(variant: str, seconds: float, **work: int) -> dict[str, Any]:
    size = {"m": 64, "n": 8192, "k": 8192, **work}
    name = "x".join(map(str, size.values()))
    told = {"kernel": "product", "kind": "fast", "name": name, "size": [*size.values()]}
    return {**told, "variant": variant, "seconds": seconds}


def _times(tmp_path: Path, **changes: Any) -> str:
    rows = [
        {"rate": "copy", "seconds": 1e-3, "amount": 4_000_000_000, "unit": "GB/s"},
        _row("xla", 30e-6),
        _row("128-128-6-1-8-1", 25e-6),
        _row("64-128-8-1-8-1", 20e-6),
        _row("xla", 40e-6, m=65),
    ]
    file = tmp_path / "times.json"
    content = {"format": 2, "device": "a card, jax 1", "rows": rows, "wrong": [], **changes}
    file.write_text(json.dumps(content))
    return f"--read={file}"


def test_a_table_has_the_fastest_forms(tmp_path: Path) -> None:
    """Its rates too; what was not timed is as in the base."""
    table = str(tmp_path / "card.json")
    assert tune.main([_times(tmp_path), "-o", table]) == 0
    before, made = costs_of("h200"), costs_of(table)
    (new,) = [each for each in made.times if each not in before.times]
    assert (new.form, new.us, new.xla) == ((64, 128, 8, 1, 8, 1), 20.0, 30.0)
    assert made.copy == 4000.0 and made.quantize_rows == before.quantize_rows
    assert made.device == "a card, jax 1"
    assert tune.main([_times(tmp_path), "-o", table, f"--base={table}"]) == 0
    assert costs_of(table) == made


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wrong": ["x is wrong", "y"]}, "the card's run failed: x is wrong, and 1 more"),
        ({"format": 9}, "times of format 9, not 2"),
        ({"rows": [{**_RATE, "seconds": 0}]}, "no times of run.py"),
        ({"rows": [{**_RATE, "rate": "speed"}]}, "no times of run.py"),
        ({"rows": [_row("xla", 1e-6), _row("128-128", 1e-6)]}, "not 6 numbers from 1 up"),
        ({"rows": [_row("xla", 1e-6), _row("1-1-1-1-1-1", float("nan"))]}, "a time of nan us"),
        ({"rows": [{}, 1]}, "no times of run.py"),
        ({"device": None}, "device is None"),
        ({"wrong": 1}, "no times of run.py (TypeError"),
        ({"rows": [{**_RATE, "amount": 10**400}]}, "no times of run.py (OverflowError"),
    ],
)
def test_times_that_say_nothing_are_refused(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "card.json"
    assert tune.main([_times(tmp_path, **changes), "-o", str(table)]) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1 and not table.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "jax sees no GPU here: make a folder by --make=DIR"),
        (
            ["--only=x", "--make=y"],
            "--only=x: it is one of checks, rates, product, few_rows, ",
        ),
        (["--read=none.json"], "cannot read 'none.json': No such file"),
        (["--read=none.json", "--base=x"], "No such file"),
        (["--read=a", "--make=b"], "--make goes without --read"),
        (["--make="], "--make: a folder needs a name"),
        (["--make=x", "--checks=-1"], "--checks=-1"),
        (["--make", str(Path(__file__))], "test_fp8_tune.py': File exists"),
        (["--make", f"{__file__}/x"], "test_fp8_tune.py/x': Not a directory"),
    ],
)
def test_refusals(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune.main(options) == 1
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


_TIMED = {"kernel": "product", "kind": "fast", "m": 16, "n": 16, "k": 16,
          "form": [64, 128, 8, 1, 8, 1], "us": 1.0, "xla": 2.0}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"copy": float("nan")}, "copy is nan"),
        ({"copy": -1}, "copy is -1"),
        ({"copy": 10**400}, "copy is 1000"),
        ({"copy": None}, "copy is None"),
        ({"quantize_transpose": 0}, "quantize_transpose is 0"),
        ({"launch": "2"}, "launch is '2'"),
        ({"chip": 3}, "chip is 3"),
        ({"times": [{**_TIMED, "m": 0}]}, "a product of 0x16x16"),
        ({"times": [{**_TIMED, "us": -1.0}]}, "a time of -1.0 us"),
        ({"times": [{**_TIMED, "xla": float("inf")}]}, "a time of inf us"),
        ({"times": [{**_TIMED, "form": [64]}]}, "a form [64] of product, not 6 numbers"),
        ({"times": [{**_TIMED, "form": ["a"] * 6}]}, "not 6 numbers"),
        (
            {"times": [{**_TIMED, "kernel": "few_rows", "form": [1] * 5}]},
            "of few_rows, not 6 numbers",
        ),
        (
            {"times": [{**_TIMED, "form": [64, 256, 8, 1, 8, 1]}]},
            "times[0] of product: no product of 16x16 by 16x16 in tiles of 64x256x128: 8 stages",
        ),
        (
            {"times": [_TIMED, {**_TIMED, "kind": "exact", "form": [64, 192, 2, 1, 8, 1]}]},
            "times[1] of product: no product of 16x16 by 16x16 in tiles of 64x192x128: two sums",
        ),
        ({"times": [{**_TIMED, "kernel": "x"}]}, "times of a kernel 'x'"),
    ],
)
def test_damaged_tables_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    content = {**dataclasses.asdict(costs_of("h200")), **changes}
    file = tmp_path / "card.json"
    file.write_text(json.dumps(content))
    with pytest.raises(Fp8Error, match=re.escape(message)) as raised:
        costs_of(str(file))
    assert str(raised.value).startswith(f"{file}: no table of costs")


def test_json_that_is_nested_too_deep_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "card.json"
    file.write_text("[" * 100_000)
    with pytest.raises(Fp8Error, match="no table of costs"):
        costs_of(str(file))
    assert tune.main([f"--read={file}"]) == 1
    said = capsys.readouterr().err
    assert "no times of run.py" in said and said.count("\n") == 1
