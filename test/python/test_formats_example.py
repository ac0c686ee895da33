"""examples/formats.py: sizes of formats, and that each trains."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def _example() -> Any:
    sys.path.insert(0, str(EXAMPLES))  # for train_fp8, which it imports as a program does
    try:
        spec = importlib.util.spec_from_file_location("formats_example", EXAMPLES / "formats.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(EXAMPLES))


EXAMPLE = _example()


def test_sizes() -> None:
    of = {name: each.bytes_of((64, 256)) for name, each in EXAMPLE.FORMATS.items()}
    count = 64 * 256
    assert of["bf16"] == 2 * count and of["FP8"] == count + 4
    assert of["MXFP8"] == count + count // 32 and of["MXFP6"] == 6 * count // 8 + count // 32
    assert of["MXFP4"] == count // 2 + count // 32 and of["NVFP4"] == count // 2 + count // 16
    total = {name: EXAMPLE.weight_bytes(name) for name in EXAMPLE.FORMATS}
    assert sorted(total, key=lambda name: -total[name]) == [
        "bf16", "MXFP8", "FP8", "int8", "MXFP6", "NVFP4", "MXFP4",
    ]  # fmt: skip


def test_the_table() -> None:
    losses = {"bf16": [4.0, 2.0], "MXFP8": [4.0, 2.02]}
    lines = EXAMPLE.table(losses, {"bf16": 0.001, "MXFP8": 0.002}).splitlines()
    assert lines[0].split() == ["format", "bytes", "ms", "a", "step", "loss", "to", "bf16"]
    assert lines[2].split()[2:] == ["2.0", "2.0200", "1.0100"]


@pytest.mark.exhaustive
def test_the_formats_train(capsys: pytest.CaptureFixture[str]) -> None:
    assert EXAMPLE.main(["--steps", "60", "--formats", "MXFP8", "MXFP6"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["bf16", "MXFP8", "MXFP6"]
    assert all(abs(float(row[-1]) - 1) < 0.02 for row in rows)
    assert np.all(np.diff([int(row[1]) for row in rows]) < 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--steps", "0"], "--steps is 1 or more"), (["--plot", "a.gif"], "its name ends in one of")],
)
def test_refusals(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert EXAMPLE.main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
