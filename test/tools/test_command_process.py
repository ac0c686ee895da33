"""What only a process shows of the tools: closed and full streams, Ctrl-C, start-up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

OPT = [sys.executable, "-m", "mlir_fp8.tools.opt"]
MODULE = b"func.func @main() { return }\n"


def run_in_shell(redirection: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    command = ["sh", "-c", f'"$@" {redirection}', "sh", *OPT, *arguments]
    return subprocess.run(command, input=MODULE, capture_output=True, check=False)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_reader_that_goes_away(unbuffered: str, tmp_path: Path) -> None:
    many = tmp_path / "many.mlir"
    many.write_text("".join(f"func.func private @f{i}()\n" for i in range(20_000)))
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        [*OPT, str(many)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"module {\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


def test_help_to_a_reader_that_goes_away() -> None:
    run = run_in_shell("| true", "--help")
    assert run.stderr == b""


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_closed_output(arguments: tuple[str, ...]) -> None:
    run = run_in_shell(">&-", *arguments)
    assert run.returncode == 1
    assert run.stderr == b"error: cannot write standard output: it is closed\n"


def test_closed_input() -> None:
    run = run_in_shell("<&-")
    assert run.returncode == 1
    assert run.stderr == b"error: cannot read standard input: it is closed\n"


@pytest.mark.parametrize("arguments", [("--nonsense",), ("--verify-lowered",)])
def test_error_reader_that_goes_away(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run([*OPT, *arguments], input=MODULE, stderr=writing, check=False)
    os.close(writing)
    assert run.returncode == 1


def test_bytecode_to_a_terminal() -> None:
    terminal, end = os.openpty()
    run = subprocess.run(
        [*OPT, "--emit-bytecode"], input=MODULE, stdout=end, stderr=subprocess.PIPE, check=False
    )
    os.close(end)
    os.close(terminal)
    assert run.returncode == 1
    assert run.stderr == b"error: bytecode is not for a terminal: use -o FILE or a pipe\n"


def test_closed_error() -> None:
    run = run_in_shell("2>&-", "--nonsense")
    assert run.returncode == 1
    assert run.stdout == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", [(), ("--help",), ("-o", "/dev/full")])
def test_full_disk(arguments: tuple[str, ...]) -> None:
    run = run_in_shell(">/dev/full", *arguments)
    where = "'/dev/full'" if arguments[:1] == ("-o",) else "standard output"
    assert run.returncode == 1
    assert run.stderr.decode() == f"error: cannot write {where}: No space left on device\n"


def test_ctrl_c_while_reading() -> None:
    with subprocess.Popen(
        OPT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        # More than a pipe holds: once it is all written, the process is past its start, reading.
        process.stdin.write(b" " * 1_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        # Killed by the signal: a shell reports 130.
        assert process.wait(timeout=60) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_output_through_a_link_and_to_a_device(tmp_path: Path) -> None:
    target = tmp_path / "target.mlir"
    target.write_text("earlier")
    target.chmod(0o640)
    link = tmp_path / "link.mlir"
    link.symlink_to(target)
    assert run_in_shell("", "-o", str(link)).returncode == 0
    assert link.is_symlink()
    assert target.read_text().startswith("module {")
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, target]
    assert run_in_shell("", "-o", os.devnull).returncode == 0
    assert Path(os.devnull).is_char_device()


def test_help_imports_no_mlir() -> None:
    program = (
        "import sys; from mlir_fp8.tools.opt import main; main(['--help'])\n"
        "heavy = {'torch_mlir', 'jaxlib', 'numpy', 'ml_dtypes'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


def test_version_imports_no_passes() -> None:
    program = (
        "import sys; from mlir_fp8.tools.opt import main; main(['--version'])\n"
        "heavy = {'mlir_fp8.lowering', 'mlir_fp8.pipelines', 'difflib'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


def test_stablehlo_needs_no_jaxlib(tmp_path: Path) -> None:
    file = tmp_path / "module.mlir"
    file.write_bytes(MODULE)
    program = (
        "import sys; from mlir_fp8.tools.opt import main; main([sys.argv[1], '--cse'])\n"
        "sys.exit('jaxlib' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(file)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
