"""Damage and its isolation: a slice of the ten thousand mutants, and cases picked by hand."""

import subprocess
import sys
from pathlib import Path

import pytest
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.artifacts import untrusted
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.base import isolation
from mlir_fp8.base.context import make_context
from mlir_fp8.tools import translate

TEST = Path(__file__).parent.parent
MODELS = sorted((TEST / "models").glob("*.mlirbc"))
TRAIN_STEP = TEST / "models" / "transformer_train_step.mlirbc"


def test_every_mutant_is_answered(exhaustive: bool) -> None:
    count = 200 if exhaustive else 12
    done = subprocess.run(
        [sys.executable, TEST / "exhaustive" / "damage.py", "--count", str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"artifact: {count} mutants" in done.stdout


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_what_the_child_hands_over_is_what_the_library_reads(file: Path) -> None:
    text = str(mlir_fp8.load(file).operation.get_asm(enable_debug_info=True))
    assert "stablehlo." in text
    original = untrusted.LARGE
    try:
        untrusted.LARGE = 0  # this process reads the file itself
        assert str(mlir_fp8.load(file).operation.get_asm(enable_debug_info=True)) == text
    finally:
        untrusted.LARGE = original


def test_a_context_with_threads() -> None:
    context = ir.Context()
    module = mlir_fp8.load(TRAIN_STEP, context=context)
    assert module.context is context
    assert mlir_fp8.serialize(module) == mlir_fp8.serialize(mlir_fp8.load(TRAIN_STEP))


def test_one_child_per_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    forks: list[int] = []
    fork = isolation._fork
    monkeypatch.setattr(isolation, "_fork", lambda *a: forks.append(1) or fork(*a))
    mlir_fp8.load(TRAIN_STEP, context=make_context())
    assert len(forks) == 1


@pytest.mark.parametrize("opening", ["[", "(", "{", "<", "tuple<", "module {"])
def test_text_nested_too_deeply(opening: str) -> None:
    text = "module attributes {a = " + opening * 100_000 + "\n"
    with pytest.raises(mlir_fp8.Fp8Error) as refused:
        mlir_fp8.load(text)
    assert "\n" not in str(refused.value)


def test_text_nested_within_reason() -> None:
    nested = "[" * 1000 + "]" * 1000
    mlir_fp8.load(f"module attributes {{my.a = {nested}}} {{}}\n")


@pytest.mark.parametrize("name", [r"\80", r"j\C3x", r"\FF.\\22", r"a\00b"])
def test_names_that_are_not_printable(name: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="is not printable"):
        mlir_fp8.load(f'module attributes {{"my.{name}" = 1 : i32}} {{}}\n')


def test_values_that_are_not_utf8() -> None:
    text = r'module attributes {"my.\C3\A9" = "\80=\FF"} {}' + "\n"
    assert r"\80=\FF" in str(mlir_fp8.deserialize(mlir_fp8.serialize(mlir_fp8.load(text))))


@pytest.mark.parametrize("data", [b"", b"\n", b"ML\xefR", b"\0" * 40, b"MZ\x90", b"\xff\xfe"])
def test_no_output_of_what_cannot_be_read(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_bytes(data)
    output.write_bytes(b"as before")
    for direction in ("--serialize", "--deserialize"):
        assert translate.main([direction, str(source), "-o", str(output)]) == 1
        assert capsys.readouterr().err.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in", "out"]
    assert output.read_bytes() == b"as before"


@pytest.mark.parametrize("target", ["0.9.0", "1.0.0", "1.1.0", "current"])
@pytest.mark.parametrize("file", MODELS[:2], ids=lambda file: file.stem)
def test_streamed_artifacts_are_the_library_s(file: Path, target: str) -> None:
    ours = mlir_fp8.serialize(mlir_fp8.load(file), target)
    version = artifact_version(ours)
    assert version is not None
    assert ours == _stablehlo.serialize_portable_artifact(mlir_fp8.load(file), version)
