"""The tool `fp8-explain`: what it prints, its exit status, pipes and terminals."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from mlir_fp8.explaining import lint
from mlir_fp8.lowering.fp8.scaled_dot import target_names, targets
from mlir_fp8.tools import _explain_options
from mlir_fp8.tools.explain import main

ROOT = Path(__file__).parent.parent.parent
PATTERNS = ROOT / "test" / "lowering" / "patterns"
MODELS = ROOT / "test" / "models"
PATTERN = str(PATTERNS / "r03_no_clamp.mlir")
CLAMPED = str(PATTERNS / "r04_wrong_clamp.mlir")
FORWARD = str(MODELS / "transformer_forward.mlir")


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    """The keys and their order are what docs/explain.md promises."""
    assert main([PATTERN, "--target=fp8", "--target=xla-gpu", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    dot = "tensor<64x128xf32>, tensor<128x32xf32>"
    clamp = "clamp to -448 and 448 just before the conversion to f8E4M3FN"
    line = _line(PATTERN, "stablehlo.convert %sc")
    assert data == {
        "version": 1,
        "file": PATTERN,
        "device": "compute capability 9.0",
        "targets": ["fp8", "xla-gpu"],
        "summary": {
            "fp8": {"fused": 1, "partly fused": 0, "not fused": 0, "not FP8": 0},
            "xla-gpu": {"fused": 0, "partly fused": 1, "not fused": 0, "not FP8": 0},
        },
        "dots": [
            {
                "op": "dot_general",
                "location": f"{PATTERN}:{_line(PATTERN, 'dot_general %')}:8",
                "callers": [],
                "operands": dot,
                "result": "tensor<64x32xf32>",
                "answers": [
                    {"target": "fp8", "verdict": "fused", "obstacles": []},
                    {
                        "target": "xla-gpu",
                        "verdict": "partly fused",
                        "obstacles": [
                            {
                                "kind": "unclamped-output",
                                "part": "output",
                                "message": "the conversion to f8E4M3FN is not clamped: beyond the "
                                "range it gives NaN, where the kernel saturates",
                                "location": f"{PATTERN}:{line}:8",
                                "edit": clamp,
                            }
                        ],
                    },
                ],
                "details": "",
                "module": "",
                "if_quantized": [],
                "scope": "",
            }
        ],
        "kernels": [],
    }


def _line(file: str, text: str) -> int:
    lines = Path(file).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "status", "error"),
    [
        ((PATTERN,), 0, ""),
        ((PATTERN, "--require-fused"), 0, ""),
        ((PATTERN, "--target=xla-gpu"), 0, ""),
        (
            (PATTERN, "--target=xla-gpu", "--require-fused"),
            1,
            r"\S+r03_no_clamp.mlir:\d+:8: error: not wholly fused for xla-gpu \(FP8 dots",
        ),
        ((PATTERN, "--target=xla-gpu", "--require-partly-fused"), 0, ""),
        ((FORWARD, "--require-partly-fused"), 0, ""),
        ((CLAMPED, "--require-partly-fused"), 0, ""),
        ((CLAMPED, "--require-fused"), 1, r".*error: not wholly fused for fp8 \(FP8 dots"),
        (
            (FORWARD, "--target=all", "--require-partly-fused"),
            1,
            r".*forward.mlir:66:11: error: not fused for xla-gpu, the first of 5 such dots \(FP8",
        ),
        (
            (FORWARD, "--require-all"),
            1,
            r".*:78:11: error: not wholly fused for fp8, the first of 2 such dots \(all dots",
        ),
        (("--target=none", PATTERN), 1, "error: argument --target/-target: invalid choice: 'none'"),
        (("--compute-capability=x", PATTERN), 1, "error: 'x' is no compute capability"),
        (("--compute-capability=", PATTERN), 1, "error: '' is no compute capability"),
        (("--cuda-version=x", PATTERN), 1, "error: 'x' is no CUDA version"),
        (("--color=blue", PATTERN), 1, "error: argument --color/-color: invalid choice: 'blue'"),
        (("nowhere.mlir",), 1, "error: cannot read 'nowhere.mlir': No such file or directory"),
        (("--nonsense",), 1, "error: unrecognized arguments: --nonsense"),
        (("--require-clean", PATTERN), 1, "error: --require-clean goes with --lint"),
        (("--lint", "--require-fused", PATTERN), 1, "error: --require-fused goes without --lint"),
        (("--lint", "--only-missing", PATTERN), 1, "error: --only-missing goes without --lint"),
        (("--lint", "--target=all", PATTERN), 1, "error: --target goes without --lint"),
        (("--lint", PATTERN), 0, ""),
        (("--lint", "--require-clean", PATTERN), 1, "error: .*: 1 warning, where --require-clean"),
        (("--lint", "--require-clean", FORWARD), 0, ""),
    ],
)
def test_exit_status(
    arguments: tuple[str, ...], status: int, error: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    err = capfd.readouterr().err
    assert err.count("\n") == bool(error)
    assert re.match(error, err) if error else not err


def test_only_missing(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([FORWARD, "--only-missing", "--target=xla-gpu"]) == 0
    lines = capfd.readouterr().out.splitlines()
    rows = [line for line in lines if " -> " in line]
    assert len(rows) == 5 and all(": not fused: dot_general " in row for row in rows)
    assert lines[-1].endswith("0 fused, 0 partly fused, 5 not fused, 2 not FP8")
    assert main([PATTERN, "--only-missing"]) == 0
    assert capfd.readouterr().out.count("\n") == 1


def test_callers(capfd: pytest.CaptureFixture[str]) -> None:
    """All FP8 dots of the model are in one line of one helper: its callers tell them apart."""
    assert main([f"{FORWARD}bc", "--callers"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith("make_models.py:28:11: fused: dot_general ")
    assert lines[1].startswith("  from make_models.py:25:11, make_models.py:45:10, make_models.py")
    fp8 = [below for row, below in pairwise(lines) if row.startswith("make_models.py:28:11:")]
    assert len(fp8) == len(set(fp8)) == 5


def test_standard_input_names_itself() -> None:
    command = [sys.executable, "-m", "mlir_fp8.tools.explain", "-", "--target=xla-gpu"]
    run = subprocess.run(
        command, input=Path(PATTERN).read_bytes(), capture_output=True, check=False
    )
    assert run.stderr == b"" and run.returncode == 0
    assert run.stdout.startswith(b"<stdin>:")


def test_damaged_input(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mlirbc"
    damaged.write_bytes((MODELS / "transformer_forward.mlirbc").read_bytes()[:3000])
    for arguments in ([str(damaged)], [str(damaged), "--lint"]):
        assert main(arguments) == 1
        out, err = capfd.readouterr()
        assert out == "" and err.startswith("error: ") and err.count("\n") == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("arguments", [(FORWARD, "--target=all"), ("--help",), (FORWARD, "--json")])
def test_a_reader_that_goes_away(arguments: tuple[str, ...]) -> None:
    command = ["sh", "-c", '"$@" | true', "sh", sys.executable, "-m", "mlir_fp8.tools.explain"]
    run = subprocess.run([*command, *arguments], capture_output=True, check=False)
    assert run.stderr == b""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("environment", "flags", "is_coloured"),
    [
        ({}, (), True),
        ({"NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": ""}, (), True),
        ({"NO_COLOR": "1"}, ("--color=always",), True),
        ({}, ("--color=never",), False),
    ],
)
def test_colour_on_a_terminal(
    environment: dict[str, str], flags: tuple[str, ...], is_coloured: bool
) -> None:
    terminal, end = os.openpty()
    clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    run = subprocess.run(
        [sys.executable, "-m", "mlir_fp8.tools.explain", PATTERN, "--target=xla-gpu", *flags],
        stdout=end,
        stderr=subprocess.PIPE,
        env=clean | environment,
        check=False,
    )
    os.close(end)
    output = os.read(terminal, 1 << 16)
    os.close(terminal)
    assert run.returncode == 0 and run.stderr == b""
    assert (b"\033[33mpartly fused\033[0m" in output) == is_coloured
    assert (b"\033[" in output) == is_coloured


def test_no_colour_in_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([PATTERN]) == 0
    assert "\033" not in capfd.readouterr().out


def test_help_imports_no_mlir() -> None:
    program = (
        "import sys; from mlir_fp8.tools.explain import main; main(['--help']); "
        "assert 'torch_mlir' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    for target in target_names.SUMMARIES:
        assert target.encode() in run.stdout


def test_lists_agree() -> None:
    assert tuple(targets.TARGETS) == tuple(target_names.SUMMARIES)
    for rule in lint.RULES:
        assert rule in _explain_options._EPILOG


def test_docs_have_every_obstacle_and_rule() -> None:
    page = (ROOT / "docs" / "explain.md").read_text()
    folder = ROOT / "lowering" / "fp8" / "scaled_dot"
    named = r'(?:Obstacle\(|obstacle\(view, |kind(?:, edit)? = )\s*"([a-z0-9-]+)"'
    kinds = {kind for file in folder.glob("*.py") for kind in re.findall(named, file.read_text())}
    assert {"scale-convert", "clamp-bounds", "layout"} <= kinds
    assert sorted(kind for kind in kinds if f"`{kind}`" not in page) == []
    assert [rule for rule in lint.RULES if f"`{rule}`" not in page] == []


def test_every_obstacle_of_a_target_is_tested() -> None:
    tests = "".join(file.read_text() for file in Path(__file__).parent.glob("*.py"))
    for file in (ROOT / "lowering" / "fp8" / "scaled_dot").glob("target_*.py"):
        for kind in re.findall(r'obstacle\(view, "([a-z0-9-]+)"', file.read_text()):
            assert re.search(rf"[\" ]{kind}[\" ]", tests), kind
