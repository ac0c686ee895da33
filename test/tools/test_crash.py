"""Commands whose process crashes: one line, a reproducer, and signals as for any other program."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TOOL = [sys.executable, str(Path(__file__).parent / "Inputs" / "crashing_opt.py")]
MODULE = "func.func @main() -> i32 {\n  %0 = arith.constant 1 : i32\n  return %0 : i32\n}\n"
UNUSED = MODULE.replace("  return", "  %1 = arith.constant 2 : i32\n  return")
FILE = "reproducer-crash.mlir"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.mlir").write_text(UNUSED)
    return tmp_path


def run(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    command = [*TOOL, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("how", "reason"),
    [("segfault", "SIGSEGV"), ("abort", "SIGABRT: no such thing")],
)
def test_one_line_and_a_reproducer(how: str, reason: str) -> None:
    done = run("a.mlir", "--canonicalize", f"--crash=how={how}", "--cse", "-o", "out.mlir")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"error: internal error: crash: crashed ({reason}); reproducer written to {FILE}\n"
    )
    assert not Path("out.mlir").exists()
    text = Path(FILE).read_text()
    # The module before the pass, after the one before it; the pass and what follows.
    assert "test.crash" not in text
    assert text.count("arith.constant") == 1
    assert f'pipeline: "builtin.module(crash{{how={how}}},cse)"' in text


def test_reproducer_runs_again_and_is_kept() -> None:
    assert run("--crash", stdin=MODULE).returncode == 1
    first = Path(FILE).read_text()
    done = run("--run-reproducer", FILE)
    assert done.returncode == 1
    assert done.stderr == (
        "error: internal error: crash: crashed (SIGSEGV); "
        "reproducer written to reproducer-crash-2.mlir\n"
    )
    assert Path(FILE).read_text() == first == Path("reproducer-crash-2.mlir").read_text()


def test_second_chunk_from_stdin() -> None:
    second = "module @second {\n}\n"
    text = f"{MODULE}// -----\n{second}"
    done = run("--split-input-file", "--pass-pipeline=builtin.module(cse)", stdin=text)
    assert (done.returncode, done.stderr) == (0, "")
    done = run("-", "--crash", "--split-input-file", stdin=f"{second}// -----\nnonsense")
    assert done.stderr.endswith(f"reproducer written to {FILE}\n")
    assert "second" in Path(FILE).read_text()


def test_crash_that_does_not_come_again() -> None:
    done = run("a.mlir", "--crash=how=once")
    assert done.returncode == 1
    assert done.stderr == (
        "error: internal error: fp8-opt: crashed (SIGSEGV), but not when it was run again; "
        "reproducer written to reproducer-fp8-opt.mlir\n"
    )
    assert Path("reproducer-fp8-opt.mlir").read_text().startswith(UNUSED)


def test_what_native_code_says_is_shown_in_order() -> None:
    done = run("a.mlir", "--crash=how=say", "--verify-lowered")
    assert done.returncode == 1
    words, error = done.stderr.splitlines()
    assert words == "native words"
    assert error.startswith("a.mlir:1:1: error: 'func.func' is not lowered")
    done = run("a.mlir", "--crash=how=say")
    assert (done.returncode, done.stderr) == (0, "native words\n")


def test_main_does_not_fork() -> None:
    done = run("--in-process", "a.mlir", "--crash")
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr == ""


UPSTREAM = {
    "convert-arith-to-spirv": """func.func @f() -> vector<2xf8E4M3FN> {
  %0 = arith.constant dense<[1.0, 2.0]> : vector<2xf8E4M3FN>
  return %0 : vector<2xf8E4M3FN>
}""",
    "inline": """func.func @f() {
  "foo.region"() ({ "foo.op"() : () -> () }) : () -> ()
  return
}""",
    "refback-munge-calling-conventions": """func.func @f() -> tensor<f32> {
  %0 = arith.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}""",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", UPSTREAM)
def test_upstream_crashes(name: str) -> None:
    """Crashes of the library's own, as long as it has them."""
    done = run("--allow-unregistered-dialect", f"--{name}", stdin=UPSTREAM[name])
    if done.returncode == 0:
        pytest.skip("mended upstream")
    assert done.returncode == 1
    assert done.stderr == (
        f"error: internal error: {name}: crashed (SIGSEGV); "
        f"reproducer written to reproducer-{name}.mlir\n"
    )
    assert f'pipeline: "builtin.module({name}' in Path(f"reproducer-{name}.mlir").read_text()


def test_killed_for_memory() -> None:
    assert run("a.mlir", "--crash=how=out_of_memory").returncode == -signal.SIGKILL


@contextlib.contextmanager
def sleeping() -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """A command whose child sleeps, and the child's id."""
    with subprocess.Popen(
        [*TOOL, "a.mlir", "--crash=how=sleep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert child != process.pid
        yield process, child


def ends(child: int) -> bool:
    """Whether a process that is not ours, but of nobody else's concern, ends soon."""
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{child}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_to_the_parent(number: signal.Signals) -> None:
    with sleeping() as (process, child):
        process.send_signal(number)
        assert process.wait(timeout=30) == -number
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert ends(child)


def test_ctrl_c_in_a_terminal() -> None:
    with sleeping() as (process, child):
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == -signal.SIGINT
        assert ends(child)


def test_ctrl_z_in_a_terminal() -> None:
    with sleeping() as (process, child):
        os.killpg(process.pid, signal.SIGTSTP)
        # The shell that started it hears that it has stopped.
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(timeout=30) == -signal.SIGTERM
        assert ends(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_no_orphans() -> None:
    with sleeping() as (process, child):
        process.kill()
        assert process.wait(timeout=30) == -signal.SIGKILL
        assert ends(child)
