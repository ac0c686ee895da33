"""Targets by the name of their consumer; the table is that of docs/compatibility.md."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import mlir_fp8
from mlir_fp8.artifacts.consumers import CONSUMERS
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.artifacts.targets import current_version, resolve_target
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.stablehlo_versions import version_key
from mlir_fp8.tools import translate

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (
    "func.func @main(%a: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> { return %a : tensor<2xf8E3M4> }\n"
)


def test_the_table_is_that_of_the_page() -> None:
    page = (DOCS / "compatibility.md").read_text()
    rows = re.findall(r"^\| (\d\S+) \| 3\.\d+ \| (\S+) \|", page, re.MULTILINE)
    assert dict(rows) == CONSUMERS["jaxlib"]
    ours = re.search(r"Our side here: StableHLO (\S+) of torch-mlir (\d+)\.", page)
    assert ours is not None
    assert {ours[2]: ours[1]} == CONSUMERS["torch-mlir"]


@pytest.mark.parametrize(
    ("target", "version"),
    [
        ("jaxlib-0.10.2", "1.17.0"),
        ("JAXLIB-0.10.2", "1.17.0"),
        ("jaxlib-0.4.35", "1.7.8"),
        ("jaxlib-0.9.0.1", "1.13.7"),
        ("jaxlib-0.4.29", "1.0.0"),  # loses batching dimensions of gather
        ("jaxlib-0.12.0", current_version()),  # knows more than is written here
        ("torch-mlir-20261001", "1.19.0"),
    ],
)
def test_what_is_written_for_a_consumer(target: str, version: str) -> None:
    assert resolve_target(target) == version


def test_python_and_the_tool_take_it(tmp_path: Path) -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(TEXT), "jaxlib-0.10.2")
    assert artifact_version(artifact) == "1.17.0"
    source, out = tmp_path / "m.mlir", tmp_path / "m.mlirbc"
    source.write_text(TEXT)
    arguments = ["--serialize", "--target=jaxlib-0.10.2", str(source), "-o", str(out)]
    assert translate.main(arguments) == 0
    assert artifact_version(out.read_bytes()) == "1.17.0"
    with pytest.raises(Fp8Error, match=r"StableHLO 0\.16\.1 cannot hold it: use target 1\.7\.0"):
        mlir_fp8.serialize(mlir_fp8.load(TEXT), "jaxlib-0.4.23")


@pytest.mark.parametrize(
    ("target", "nearest"),
    [
        ("jaxlib-0.10.3", "jaxlib-0.10.2, which reads up to StableHLO 1.17.0"),
        ("jaxlib-0.4.17", "jaxlib-0.4.13, which reads up to StableHLO 0.13.4"),
        ("jaxlib-0.3.0", "jaxlib-0.4.13, which reads up to StableHLO 0.13.4"),
        ("jaxlib-0.10", "jaxlib-0.10.2, which reads up to StableHLO 1.17.0"),
        ("jaxlib-0.4", "jaxlib-0.4.38, which reads up to StableHLO 1.8.7"),
        ("jaxlib-0.1", "jaxlib-0.4.13, which reads up to StableHLO 0.13.4"),
        ("jaxlib-0.9.0.0", "jaxlib-0.9.0, which reads up to StableHLO 1.13.7"),
        ("jaxlib-1", "jaxlib-0.12.0.1, which reads up to StableHLO 1.22.0"),
        ("jaxlib-9.9", "jaxlib-0.12.0.1, which reads up to StableHLO 1.22.0"),
        ("torch-mlir-20250101", "torch-mlir-20261001, which reads up to StableHLO 1.19.0"),
    ],
)
def test_an_untried_release_names_the_nearest(target: str, nearest: str) -> None:
    with pytest.raises(
        Fp8Error, match=f"was not tried: the nearest that was is {re.escape(nearest)}"
    ):
        resolve_target(target)


@pytest.mark.parametrize("target", ["jaxlib-new", "jaxlib-", "jaxlib-0.10.2rc1", "jaxlib-0.10.2 "])
def test_no_release_is_taken_for_the_newest(target: str) -> None:
    with pytest.raises(Fp8Error, match=r"is no release of jaxlib: write jaxlib-0\.12\.0\.1, say$"):
        resolve_target(target)


def test_another_name_is_refused() -> None:
    with pytest.raises(Fp8Error, match=r"nor a consumer such as 'jaxlib-0\.10\.2'"):
        resolve_target("iree-3.1")


def test_who_reads_the_default_is_said_where_it_is_documented(
    capfd: pytest.CaptureFixture[str],
) -> None:
    current = current_version()
    reads = [
        release
        for release, version in CONSUMERS["jaxlib"].items()
        if version_key(version) >= version_key(current)
    ]
    assert translate.main(["--help"]) == 0
    for text in (
        capfd.readouterr().out,
        mlir_fp8.serialize.__doc__ or "",
        (DOCS / "artifacts.md").read_text(),
    ):
        plain = " ".join(text.split())
        assert re.search(rf"{re.escape(current)}, (is read by jaxlib|which jaxlib reads)", plain)
        assert f"from {reads[0]} on" in plain


def test_names_are_there_for_tab_completion() -> None:
    program = (
        "import sys, mlir_fp8; names = dir(mlir_fp8); "
        "assert [n for n in names if n[:2] != '__'] == sorted(mlir_fp8.__all__), names; "
        "assert {'__doc__', '__name__'} <= {*names}; assert 'torch_mlir' not in sys.modules; "
        "import rlcompleter; done = rlcompleter.Completer({'mlir_fp8': mlir_fp8}); "
        "assert done.complete('mlir_fp8.seri', 0) == 'mlir_fp8.serialize('"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
