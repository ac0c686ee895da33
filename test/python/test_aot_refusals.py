"""Object files and shared libraries: what is refused leaves one line and no file."""

import re
import sys
from pathlib import Path

import pytest

import mlir_fp8
from mlir_fp8.aot import linker
from mlir_fp8.tools import opt, translate

ERRORS = [
    (["--emit=obj", "--mcpu=nothing"], r"--mcpu: 'nothing' is not a recognized processor of "),
    (["--emit=obj", "--mattr=+nothing"], r"--mattr: '\+nothing' is not a recognized feature of "),
    (["--emit=obj", "--mattr=avx2"], r"--mattr=avx2: a feature starts with \+ or -"),
    (["--emit=obj", "--march=nothing"], r"LLVM has no target for 'nothing-"),
    (["--emit=obj", "--march=aarch64", "--mcpu=native"], r"--mcpu=native is of this machine, not"),
    (["--emit=shared-lib", "--march=aarch64"], r"a shared library of aarch64-.* needs its linker"),
    (["--serialize", "--mcpu=znver4"], r"--mcpu goes with --emit"),
    (["--serialize", "--c-header=x.h"], r"--c-header goes with --emit"),
    (["--emit=obj", "--threads=0"], r"--threads=0: give a number of threads from 1 to 1024"),
    (
        ["--emit=obj", "--threads=2", "--mtriple=x86_64-pc-windows-msvc"],
        r"--threads=2: x86_64-pc-windows-msvc has no POSIX threads, only --threads=1",
    ),
    (["--serialize", "--threads=2"], r"--threads goes with --emit"),
    (["--emit=exe"], r"argument --emit/-emit: invalid choice: 'exe'"),
]


@pytest.mark.parametrize(("options", "message"), ERRORS, ids=lambda value: str(value)[:40])
def test_errors_are_one_line_and_leave_nothing(
    options: list[str], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "many.types.mlir", tmp_path / "output"
    file.write_text(
        "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> { return %x : tensor<5xf32> }"
    )
    assert translate.main([*options, str(file), "-o", str(output)]) == 1
    assert re.fullmatch(f"error: {message}.*\n", capfd.readouterr().err)
    assert not output.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'func.func @"a b"() { return }\nfunc.func @a_b() { return }',
            r"is m_a_b in C, as 'a b' is",
        ),
        (
            "func.func @set_threads() { return }",
            r"is m_set_threads in C, which sets the number of threads: rename it",
        ),
        ("func.func private @f() { return }", r"the module has no public function to compile"),
        ("func.func @f(%x: tensor<?xf32>) { return }", r"has dynamic shapes: give sizes first"),
    ],
)
def test_what_c_cannot_call_is_refused(
    text: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.mlir"
    file.write_text(text)
    output = str(tmp_path / "m.o")
    assert translate.main(["--emit=obj", "--threads=2", str(file), "-o", output]) == 1
    error = capfd.readouterr().err
    assert re.search(message, error) and error.count("\n") == 1
    assert not (tmp_path / "m.o").exists()


def test_open_sizes_are_given_as_the_refusal_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, static, out = tmp_path / "m.mlir", tmp_path / "static.mlir", tmp_path / "m.o"
    path.write_text(
        """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
          %c0 = arith.constant 0 : index
          %n = tensor.dim %a, %c0 : tensor<?xf32>
          %s = tensor.from_elements %n : tensor<1xindex>
          %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    )
    assert translate.main(["--emit=obj", str(path), "-o", str(out)]) == 1
    said = capfd.readouterr().err
    assert "m.mlir:1:1: error: 'func.func' has dynamic shapes: give sizes first (fp8-opt " in said
    advice = said.partition("(fp8-opt ")[2].rpartition(")")[0]
    options = [each.strip("'") for each in advice.replace("='", "=").split()]
    options = [each.replace("TYPE,...", "tensor<4xf32>") for each in options]
    assert opt.main([str(path), *options, "-o", str(static)]) == 0
    header = tmp_path / "m.h"
    assert translate.main(["--emit=obj", str(static), "-o", str(out), f"--c-header={header}"]) == 0
    assert "res0 /* tensor<4xf32> */" in header.read_text()


def test_without_a_compiler_there_is_no_shared_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(linker.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r"^a shared library needs a C compiler .*--emit=obj"
    ):
        linker.c_compiler()
    monkeypatch.setattr(linker.importlib.util, "find_spec", lambda _: object())
    assert linker.c_compiler() == [sys.executable, "-m", "ziglang", "cc"]
    monkeypatch.setenv("CC", "nowhere/cc -O2")
    assert linker.c_compiler() == ["nowhere/cc", "-O2"]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^cannot start 'nowhere/cc': No such file"):
        linker.shared_library(b"")
