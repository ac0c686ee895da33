"""`python -m benchmarks devices`: a folder runs by itself, its values within their bound."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

ROOT = Path(__file__).parents[2]


def run(*command: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("devices")
    done = run("-m", "benchmarks", "devices", "make", made, "--quick", "--devices=2")
    assert done.returncode == 0, done.stderr
    assert "FSDP layer, 2 devices: bytes each sends: before 8192, after 4100" in done.stdout
    return made


def test_a_folder_runs_by_itself(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    done = run(folder / "run.py", "--seconds=0", "--json", file)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {each["name"]: each for each in json.loads(file.read_text())}
    assert list(rows) == ["FSDP layer", "tensor parallel layer", "MoE layer", "MoE all-to-all",
                          "pipeline permute", "gradients' all-reduce"]  # fmt: skip
    for row in rows.values():
        assert row["is good"] and 0.01 < row["relative L2"] < 0.08
        assert row["sent before"] / row["sent after"] > 1.9


def test_wrong_values_are_told(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    index["cases"] = index["cases"][4:5]
    index["cases"][0]["bound"] = 1e-6
    wrong = folder / "wrong"
    wrong.mkdir()
    for each in folder.glob("*.*"):
        (wrong / each.name).write_bytes(each.read_bytes())
    (wrong / "index.json").write_text(json.dumps(index))
    done = run(wrong / "run.py", "--seconds=0")
    assert done.returncode == 1 and "BEYOND ITS BOUND" in done.stdout


def test_a_gpus_folder_is_made_without_one(tmp_path: Path) -> None:
    done = run("-m", "benchmarks", "devices", "make", tmp_path, "--quick", "--devices=2",
               "--device=gpu")  # fmt: skip
    assert done.returncode == 0, done.stderr
    artifacts = list(tmp_path.glob("*.mlirbc"))
    assert len(artifacts) == 12
    done = run("-m", "benchmarks", "devices", "make", tmp_path, "--devices=1,2")
    assert done.returncode == 1 and done.stderr.startswith("error: --devices=1,2: give numbers")
