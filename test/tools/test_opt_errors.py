"""Every way to misuse `fp8-opt`: one line on stderr, status 1, nothing on stdout."""

import dataclasses
import re
from pathlib import Path

import pytest

from mlir_fp8.tools._opt_options import _FIELDS, FLAGS, Options
from mlir_fp8.tools.opt import main

MODULE = "func.func @main() { return }\n"
FILE = "{file}"

COMMAND_LINES = [
    (("-o", "a", "-o", "b"), "-o is given twice"),
    ((FILE,), "one input at a time: '{file}' or '{file}'"),
    (
        ("--cse", "--pass-pipeline=builtin.module(cse)"),
        "--pass-pipeline cannot be used with individual passes: put them into it",
    ),
    (("-o",), "-o needs a value"),
    (("--pass-pipeline",), "--pass-pipeline needs a value"),
    (("--verify-each=maybe",), "--verify-each: 'maybe' is neither true nor false"),
    (
        ("--mlir-elide-elementsattrs-if-larger", "few"),
        "--mlir-elide-elementsattrs-if-larger: 'few' is not a number",
    ),
    (("--help{x}",), "--help takes no '{...}'"),
    (("---cse",), "cannot understand '---cse' (see --help)"),
    (("--=x",), "cannot understand '--=x' (see --help)"),
    (
        ("--verify-diagnostics=some",),
        "--verify-diagnostics: 'some' is neither all nor only-expected",
    ),
    (
        ("--emit-bytecode", "--split-input-file"),
        "--emit-bytecode writes one module: it cannot be used with --split-input-file",
    ),
    (
        ("--split-input-fil",),
        "unknown flag or pass '--split-input-fil'; did you mean '--split-input-file'?",
    ),
    (("--nonsense",), "unknown flag or pass '--nonsense'"),
    (("--cse=x",), "pass 'cse' has no option 'x'"),
    (("--cse", "--cse)"), "cannot understand '--cse)' (see --help)"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "module.mlir"
    path.write_text(MODULE)
    return path


def one_error(status: int, capfd: pytest.CaptureFixture[str]) -> str:
    out, err = capfd.readouterr()
    assert status == 1
    assert out == ""
    assert err.count("\n") == 1, err
    return err.rstrip("\n")


@pytest.mark.parametrize(("arguments", "message"), COMMAND_LINES)
def test_command_line(
    arguments: tuple[str, ...], message: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = main([str(file), *(argument.replace(FILE, str(file)) for argument in arguments)])
    assert one_error(status, capfd) == f"error: {message.replace(FILE, str(file))}"


def test_each_flag_is_a_field() -> None:
    fields = {_FIELDS.get(name, name.replace("-", "_")) for name in FLAGS}
    assert fields | {"input", "passes"} == {each.name for each in dataclasses.fields(Options)}


def test_folder_as_input(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = one_error(main([str(tmp_path)]), capfd)
    assert message == f"error: cannot read '{tmp_path}': Is a directory"


def test_folder_as_output(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = one_error(main([str(file), "-o", str(tmp_path)]), capfd)
    assert message == f"error: cannot write '{tmp_path}': Is a directory"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "data",
    [b"", b" \n\t\n", bytes(range(128, 256)), b"func.func\0", b"ML\xefR", b"\x7fELF\x02\x01\x01"],
)
def test_file_that_is_no_module(data: bytes, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(data)
    assert re.search(rf"{re.escape(str(file))}:.*\w", one_error(main([str(file)]), capfd))


def test_every_truncation_of_bytecode(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "whole.bc"
    assert main([str(file), "--emit-bytecode", "-o", str(whole)]) == 0
    data = whole.read_bytes()
    for size in range(0, len(data), 7):
        file.write_bytes(data[:size])
        assert str(file) in one_error(main([str(file)]), capfd)


def test_no_output_after_an_error(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file.write_text("func.func @f() {\n  retrn\n}")
    output = tmp_path / "output.mlir"
    message = one_error(main([str(file), "-o", str(output)]), capfd)
    assert message.startswith(f"{file}:2:3: error: custom op 'retrn' is unknown")
    assert list(tmp_path.iterdir()) == [file]
