"""`python -m benchmarks gpu`: a folder is whole, and its script finds wrong values."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import command
from benchmarks.gpu import run
from mlir_fp8.tuning.quantizers import QUANTIZERS, quantizer

pytest.importorskip("jax")

HLO = Path(__file__).parents[1] / "tools" / "Inputs" / "xla_gpu" / "dots.hlo"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gpu")
    assert (
        command.main(["gpu", "make", str(made), "--quick", "--only", "product,quantize row"]) == 0
    )
    return made


def test_a_folder_has_all_that_its_index_names(folder: Path) -> None:
    index = json.loads((folder / "index.json").read_text())
    names = [each["name"] for each in index["cases"]]
    assert names == ["product 64x128x256", "quantize row 256x384"]
    variants = [each for case in index["cases"] for each in case["variants"]]
    assert len(variants) == 8
    for each in variants:
        for entry in (each, each["twin"]):
            assert (folder / entry["file"]).read_bytes().startswith(b"ML\xefR")
    assert {"run.py", "torch_peers.py", "card.py"} <= {each.name for each in folder.iterdir()}


def test_the_script_runs_on_a_cpu_and_finds_wrong_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["gpu", "run", str(folder), "--device", "cpu", "--twins", "--only", "quantize row"]
    assert command.main(asked) == 0
    assert "twin is " in capsys.readouterr().out
    (file,) = folder.glob("quantize_row*.twin.npz")
    held = dict(np.load(file))
    np.savez(file, **held | {"result0": held["result0"][::-1]})
    assert command.main(asked) == 1
    assert "off the CPU's" in capsys.readouterr().err


def test_what_is_launched_is_counted() -> None:
    counts = {"__cublas$lt$matmul$f8": 2, "__cublas$lt$matmul": 2, "fusion": 1}
    assert run.counts(HLO.read_text()) == counts


@pytest.mark.parametrize("kind", QUANTIZERS)
def test_quantizers_parse(kind: str) -> None:

    text = str(quantizer(kind, (8, 256)))
    assert ("stablehlo.transpose" in text) == kind.endswith("transposed")


def test_a_missing_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["gpu", "run", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_named_variants_run_with_options_of_xla(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = tmp_path / "numbers.json"
    asked = ["gpu", "run", str(folder), "--device", "cpu", "--no-twins", "--only", "product"]
    asked += ["--seconds", "0.001", "--json", str(numbers)]
    asked += ["--variant", "row", "--variant", "bf16"]
    assert command.main([*asked, "--xla", "xla_cpu_enable_fast_math=false"]) == 0
    assert "twin" not in capsys.readouterr().out
    rows = json.loads(numbers.read_text())["rows"]
    assert [each["variant"] for each in rows][:2] == ["row", "bf16"]
    assert rows[0]["distance"] < 2.0**-7
    assert command.main([*asked, "--xla", "xla_no_such_option=false"]) == 1
    assert "xla_no_such_option" in capsys.readouterr().err
