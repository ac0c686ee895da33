"""Calls in a forked child: what they return, what kills them, and what they leave alone."""

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated, stream_isolated


def run(program: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore


def children() -> list[int]:
    """Of this process, but for those that it had before the test: warm tools."""
    with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123
        return [child for each in file.read().split() if (child := int(each)) not in EARLIER]


EARLIER: set[int] = set()


@pytest.fixture(autouse=True)
def earlier() -> None:
    EARLIER.clear()
    EARLIER.update(children())


def refuse() -> bytes:
    raise Fp8Error("file:1:2: not this")


def fail() -> bytes:
    raise ValueError("first line\n  second line")


def crash() -> bytes:
    ctypes.string_at(0)
    return b""


def hang() -> bytes:
    while True:
        pass


def leave() -> bytes:
    os._exit(3)


def test_answer_of_every_size() -> None:
    for size in (0, 1, 65536, 40 << 20):
        data = np.random.default_rng(size).bytes(size)
        assert call_isolated(lambda data=data: data, seconds=60) == data
    assert children() == []


def test_streamed_answer() -> None:
    def work(answer: int) -> None:
        for part in (b"one ", b"", b"two"):
            os.write(answer, part)

    assert stream_isolated(work, seconds=60) == b"one two"


@pytest.mark.parametrize(
    ("work", "kind", "message"),
    [
        (refuse, Fp8Error, "file:1:2: not this"),
        (fail, Fp8Error, "ValueError: first line"),
        (crash, CrashError, r"the library crashed \(SIGSEGV\)"),
        (leave, CrashError, "the library ended the process"),
    ],
)
def test_failure(work: Callable[[], bytes], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{message}$"):
        call_isolated(work, seconds=60)
    assert children() == []


def test_hang_is_killed_in_time() -> None:
    started = time.monotonic()
    with pytest.raises(CrashError, match="did not answer in time"):
        call_isolated(hang, seconds=0.3)
    assert time.monotonic() - started < 3
    assert children() == []


def test_answer_that_stops_halfway() -> None:
    def work(answer: int) -> None:
        os.write(answer, b"half")
        hang()

    with pytest.raises(CrashError, match="did not answer in time"):
        stream_isolated(work, seconds=0.3)


def test_memory_is_limited() -> None:
    def work() -> bytes:
        return bytes([len(bytearray(1 << 30))])

    with pytest.raises(Fp8Error, match="MemoryError"):
        call_isolated(work, seconds=60, memory=256 << 20)


def test_every_thread_may_call() -> None:
    # A child that held another child's pipe open would keep that one's reader waiting.
    def hanging(_: int) -> str:
        with pytest.raises(CrashError):
            call_isolated(hang, seconds=2)
        return "killed"

    with ThreadPoolExecutor(8) as pool:
        slow = [pool.submit(hanging, index) for index in range(2)]
        started = time.monotonic()
        quick = [
            pool.submit(call_isolated, lambda index=index: b"%d" % index, seconds=60)
            for index in range(30)
        ]
        assert [future.result() for future in quick] == [b"%d" % index for index in range(30)]
        assert not all(future.done() for future in slow) or time.monotonic() - started > 2
        assert [future.result() for future in slow] == ["killed"] * 2


def test_other_threads_at_work() -> None:
    """Numpy and Python at work in other threads neither hang the child nor warn."""
    stop = threading.Event()
    numbers = np.ones(100_000)

    def busy() -> None:
        while not stop.wait(0.001):
            np.sort(np.sqrt(numbers))
            sorted(bytearray(10_000))

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for index in range(20):
                answer = call_isolated(lambda index=index: b"%d" % index, seconds=60)
                assert answer == b"%d" % index
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_xla_at_work() -> None:
    """A running XLA client, with its thread pools, in a process that reads an artifact."""
    done = run(
        """
        import warnings
        warnings.simplefilter("error")
        from jaxlib import xla_client
        import mlir_fp8
        client = xla_client.make_cpu_client()
        module = mlir_fp8.load("func.func @main(%a: tensor<2xf8E4M3FN>) { return }\\n")
        for _ in range(5):
            print(len(str(mlir_fp8.deserialize(mlir_fp8.serialize(module)))) > 40)
        """
    )
    assert (done.returncode, done.stdout) == (0, "True\n" * 5), done.stderr


def test_streams_of_the_parent_are_untouched() -> None:
    done = run(
        """
        import atexit, os, sys
        from mlir_fp8.base.isolation import call_isolated
        atexit.register(print, "at exit")
        print("buffered", end=" ")
        def work():
            print("lost")
            os.write(1, b"lost")
            return os.read(0, 10)
        assert call_isolated(work, seconds=60) == b""
        print(sys.stdin.read())
        """,
        input="input",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "buffered input\nat exit\n", "")


def test_standard_streams_may_be_closed() -> None:
    done = run(
        """
        import os
        from mlir_fp8.base.isolation import call_isolated
        keep = os.dup(2)
        os.closerange(0, 3)
        assert call_isolated(lambda: b"answer", seconds=60) == b"answer"
        os.write(keep, b"good")
        """
    )
    assert (done.returncode, done.stderr) == (0, "good")


def test_children_that_nobody_waits_for() -> None:
    previous = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert call_isolated(lambda: b"answer", seconds=60) == b"answer"
        with pytest.raises(CrashError):
            call_isolated(crash, seconds=60)
    finally:
        signal.signal(signal.SIGCHLD, previous)


def test_interrupt_kills_the_child() -> None:
    main = threading.get_ident()
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        call_isolated(hang, seconds=60)
    assert children() == []


def test_signal_handlers_do_not_run_in_the_child(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> bytes:
        os.kill(os.getpid(), signal.SIGTERM)
        return b"survived"

    previous = signal.signal(signal.SIGTERM, lambda *_: print("handled"))
    try:
        with pytest.raises(CrashError, match="SIGTERM"):
            call_isolated(work, seconds=60)
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert capfd.readouterr().out == ""


def test_signals_are_as_before() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    call_isolated(lambda: b"", seconds=60)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_child_has_children_of_its_own() -> None:
    def work() -> bytes:
        return call_isolated(lambda: b"grandchild", seconds=20)

    assert call_isolated(work, seconds=40) == b"grandchild"


def test_what_is_called_meanwhile_runs_here_beside_the_child() -> None:
    shared = mmap.mmap(-1, 1)

    def work() -> bytes:
        while shared[0] == 0:  # ends once the parent has written
            time.sleep(0.001)
        return shared[:]

    def write() -> None:
        shared[0] = 1

    assert call_isolated(work, seconds=20, meanwhile=write) == b"\1"
    with pytest.raises(ZeroDivisionError):
        call_isolated(lambda: b"", seconds=20, meanwhile=lambda: 1 / 0)
    assert children() == []
