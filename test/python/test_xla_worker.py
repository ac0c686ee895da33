"""The process that XLA lives in stays, is replaced when it dies, and never outlives its owner."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.judging import xla_judge

ADD = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
# A loop that XLA cannot drop.
ENDLESS = """\
%1 = stablehlo.while(%x = %0) : tensor<2xf32>
    cond { %t = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %t : tensor<i1> }
    do { %n = stablehlo.add %x, %x : tensor<2xf32> stablehlo.return %n : tensor<2xf32> }
  return %1"""
# A worker that answers with its own argument, and dies or hangs where the argument says so.
FAKE = """\
import json, os, sys, time
import numpy as np
from mlir_fp8.judging import xla_worker
for line in sys.stdin:
    seconds, folder, device = json.loads(line)
    (array,) = xla_worker.load_arrays(os.path.join(folder, xla_worker.ARGUMENTS))
    if array[0] == -1:
        print("F1128 00:15:13.1  43 a.cc:5] Check failed: x", file=sys.stderr, flush=True)
        os.abort()
    if array[0] == -2:
        time.sleep(60)
    if array[0] == -3:
        sys.exit("no flag of that name")
    if array[0] == -4:
        os.abort()
    xla_worker.save_arrays(os.path.join(folder, xla_worker.RESULTS), [array])
    print("said to nobody", file=sys.stderr)
    os.write(1, b"\\n")
"""


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[xla_judge._Worker]:
    fresh = xla_judge._Worker({"JAX_PLATFORMS": "cpu"})
    monkeypatch.setattr(xla_judge, "find_spec", lambda _: True)
    monkeypatch.setitem(xla_judge._WORKERS, "cpu", fresh)
    monkeypatch.setattr(xla_judge, "_COMMAND", ["-c", FAKE])
    yield fresh
    fresh.end()


def run(number: float, seconds: float = 60.0) -> np.ndarray:
    given = np.array([number, 7], np.float32)
    (result,) = xla_judge.run_in_xla(mlir_fp8.load(ADD), [given], "main", seconds=seconds)
    return result


def pid_of(worker: xla_judge._Worker) -> int:
    assert worker._process is not None
    return worker._process.pid


def is_gone(pid: int) -> bool:
    """Whether no process, but for a zombie, has this id."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/stat").read_text()
        return status.rpartition(")")[2].split()[0] == "Z"
    return True


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 30
    while not is_gone(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_one_process_serves_all(worker: xla_judge._Worker) -> None:
    assert run(1)[0] == 1
    first = pid_of(worker)
    assert run(2)[0] == 2
    assert pid_of(worker) == first


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("number", "seconds", "reason"),
    [
        (-1, 60, "XLA aborted: Check failed: x"),
        (-2, 1.5, "XLA did not finish in 1.5 s"),
        (-3, 60, "XLA ended with status 1: no flag of that name"),
        (-4, 60, "XLA died of SIGABRT"),
    ],
)
def test_a_worker_that_dies_is_replaced(
    number: float, seconds: float, reason: str, worker: xla_judge._Worker
) -> None:
    assert run(1)[0] == 1
    first = pid_of(worker)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        run(number, seconds)
    assert str(caught.value) == reason
    assert is_gone(first)
    assert run(2)[0] == 2
    assert pid_of(worker) != first


def test_a_worker_that_died_between_two_runs(worker: xla_judge._Worker) -> None:
    run(1)
    os.kill(pid_of(worker), signal.SIGKILL)
    assert worker._process is not None
    worker._process.wait()
    assert run(2)[0] == 2


def test_threads_take_turns(worker: xla_judge._Worker) -> None:
    seen: dict[int, float] = {}
    threads = [
        threading.Thread(target=lambda number=number: seen.update({number: float(run(number)[0])}))
        for number in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert seen == {number: float(number) for number in range(4)}


def test_a_forked_child_has_a_worker_of_its_own(worker: xla_judge._Worker) -> None:
    run(1)
    read_end, write_end = os.pipe()
    with worker._lock:  # as another thread may hold it
        child = os.fork()
        if child == 0:
            # The fork hook is that of the module's own worker.
            worker.forget()
            status = int(run(3)[0] != 3)
            os.write(write_end, str(pid_of(worker)).encode())
            worker.end()
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    os.close(write_end)
    assert int(os.read(read_end, 100)) != pid_of(worker)
    os.close(read_end)
    assert run(2)[0] == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ending", ["exit", "SIGINT", "SIGKILL", "SIGKILL while XLA runs"])
def test_no_orphan(ending: str, tmp_path: Path) -> None:
    """With the real worker where there is jax: `end` is what this process does after one run."""
    command = "" if find_spec("jax") else f"xla_judge._COMMAND = ['-c', {FAKE!r}]"
    endless = ADD.replace("return %0", ENDLESS)
    script = f"""
import os, sys, threading, time
import numpy as np, mlir_fp8
from mlir_fp8.judging import xla_judge
xla_judge.find_spec = lambda _: True
{command}
given = [np.ones(2, np.float32)]
xla_judge.run_in_xla(mlir_fp8.load({ADD!r}), given, "main")
print(xla_judge._WORKERS["cpu"]._process.pid, flush=True)
if {ending == "exit"}:
    sys.exit()
if {"runs" in ending}:
    threading.Timer(1.0, lambda: os.kill(os.getpid(), 9)).start()
    xla_judge.run_in_xla(mlir_fp8.load({endless!r}), given, "main")
time.sleep(60)
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        if ending in ("SIGINT", "SIGKILL"):
            process.send_signal(signal.Signals[ending])
        process.wait(60)
    wait_until_gone(worker)
    assert list(tmp_path.iterdir()) == []
