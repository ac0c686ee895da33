"""examples/train_fp8.py: FP8 training that ends where bf16 does, and does not without scaling."""

import csv
import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "train_fp8.py"
BOUND = 0.02
MX_BOUND = 0.005


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("train_fp8", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


EXAMPLE = _example()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.exhaustive
def test_fp8_ends_where_bf16_does(tmp_path: Path) -> None:
    output = tmp_path / "losses.json"
    finished = run("--seed", "0", "1", "2", "--output", str(output))
    assert (finished.returncode, finished.stderr) == (0, "")
    results = json.loads(output.read_text())
    losses, final = results["losses"], results["final"]
    assert list(losses) == ["bf16", "delayed", "current", "fixed", "mxfp8", "nvfp4"]
    assert all(len(each) == 200 for each in losses.values())
    # It learns: less than letters alone tell, and each variant in its own numbers.
    assert np.mean(losses["bf16"][:10]) > 4.0 and final["bf16"] < 3.2
    assert len({tuple(each) for each in losses.values()}) == 6
    for name, loss in final.items():
        assert abs(loss / final["bf16"] - 1) < (MX_BOUND if name == "mxfp8" else BOUND), name
    *_, bf16, first, second, third, mean = (line.split() for line in finished.stdout.splitlines())
    assert bf16[:3] == ["to", "bf16", "1.0000"] and bf16[2:] == first[2:]
    assert [each[:2] for each in (first, second, third)] == [["seed", str(i)] for i in range(3)]
    for each in (first, second, third, ["", *mean]):
        shares = dict(zip(losses, map(float, each[2:]), strict=True))
        assert abs(shares["mxfp8"] - 1) < MX_BOUND and abs(shares["nvfp4"] - 1) < BOUND


@pytest.mark.exhaustive
def test_gradients_in_f8e4m3fn_need_their_scales() -> None:
    windows = EXAMPLE.read_windows([EXAMPLE.TEXT])
    bf16, delayed, *_, unscaled = EXAMPLE.variants("f8E4M3FN", unscaled=True)
    assert "f8" not in str(bf16.module)
    assert "f8E4M3FN" in str(delayed.module) and "f8E5M2" not in str(delayed.module)
    ends = [
        EXAMPLE.final(EXAMPLE.train(each, EXAMPLE.batches(windows, 0), 60))
        for each in (bf16, delayed, unscaled)
    ]
    assert abs(ends[1] / ends[0] - 1) < BOUND
    assert ends[2] / ends[0] > 1 + 5 * BOUND


def test_a_few_steps() -> None:
    """In FP8, which first knows hardly more than that there are 128 characters, ln 128 = 4.9."""
    _, delayed, *_ = EXAMPLE.variants("f8E5M2", unscaled=False)
    assert "f8E4M3FN" in str(delayed.module) and "f8E5M2" in str(delayed.module)
    windows = EXAMPLE.read_windows([EXAMPLE.TEXT])
    losses = EXAMPLE.train(delayed, EXAMPLE.batches(windows, 0), 4)
    assert 5 < losses[0] < 6 and losses == sorted(losses, reverse=True)


def test_every_window_of_the_text_comes_once(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("".join(letter + 15 * "." + "\u00fc" for letter in "abcdef") + "rest")
    windows = EXAMPLE.read_windows([path])
    assert windows.shape == (6, 17) and windows.max() < 128 and windows[0, -1] == ord("?")
    batches = EXAMPLE.batches(windows, 0)
    seen = "".join(chr(row[0]) for _ in range(6) for row in next(batches))
    assert sorted(seen[:6]) == sorted(seen[6:]) == list("abcdef")
    assert seen[:6] != seen[6:]


LOSSES = {"bf16": [4.0, 3.0, 2.0, 1.0], "delayed": [4.0, 3.0, 2.0, 1.01]}


def test_table_and_csv(tmp_path: Path) -> None:
    lines = EXAMPLE.table(LOSSES).splitlines()
    assert lines[0].split() == ["steps", "bf16", "delayed"]
    assert lines[-3].split() == ["4", "to", "4", "1.0000", "1.0100"]
    assert lines[-1].split() == ["to", "bf16", "1.0000", "1.0100"]
    EXAMPLE.write_losses(tmp_path / "a.csv", LOSSES)
    rows = list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))
    assert rows == [
        ["step", "bf16", "delayed"],
        *(
            [str(i + 1), str(a), str(b)]
            for i, (a, b) in enumerate(zip(*LOSSES.values(), strict=True))
        ),
    ]


@pytest.mark.parametrize("installed", [True, False])
def test_plot(
    installed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(EXAMPLE, "variants", lambda *_, **__: [EXAMPLE.Variant("bf16", None)])
    monkeypatch.setattr(EXAMPLE, "train", lambda *_: LOSSES["bf16"])
    if not installed:
        monkeypatch.setattr(EXAMPLE, "find_spec", lambda _: None)
    path = tmp_path / "plot.svg"
    status = EXAMPLE.main(["--plot", str(path)])
    printed = capsys.readouterr()
    if installed and find_spec("matplotlib"):
        assert (status, printed.err) == (0, "")
        assert "last quarter      1.0000" in printed.out
        assert "<svg" in path.read_text()
        return
    wanted = f"error: {path}: drawing needs matplotlib: pip install 'mlir-fp8[examples]'\n"
    assert (status, printed.out, printed.err) == (1, "", wanted)
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--steps", "0"], "--steps is 1 or more, --seed 0 or more"),
        (["--plot", "a.gif"], "a.gif: its name ends in one of .svg, .png, .pdf"),
        (["--output", "nowhere/a.csv"], "nowhere/a.csv: there is no folder nowhere"),
        (["--output", "FOLDER.csv"], "FOLDER.csv: it cannot be written: give another name"),
        (["--text", "nowhere.txt"], "cannot read 'nowhere.txt': No such file or directory"),
        (["--text", "FOLDER.csv"], "cannot read 'FOLDER.csv': Is a directory"),
        (["--backward", "f8"], "'f8' is no backward format"),
    ],
)
def test_refusals(
    arguments: Sequence[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FOLDER.csv").mkdir()
    assert EXAMPLE.main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}") and error.count("\n") == 1


def test_a_short_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "short.txt"
    path.write_text("ab" * 16)
    assert EXAMPLE.main(["--text", str(path), "--steps", "1"]) == 1
    wanted = "error: the text has 32 characters: give it 34 or more\n"
    assert capsys.readouterr().err == wanted
