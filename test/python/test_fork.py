"""Forked children cast, whatever other threads of their parent were doing."""

import os
import signal
import threading

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.compiling.native import quick_cast

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
X = np.array([1, 2, 300, -0.25], np.float32)


def _status_of_child() -> int:
    """0 where a child that makes or loads a kernel anew ends with the right codes."""
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.alarm(30)
            quick_cast.forget()
            got = mlir_fp8.cast(X, "f8E4M3FN").view(np.uint8).tolist()
            status = int(got != [0x38, 0x40, 0x79, 0xA8])
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_waits_for_code_that_is_loaded() -> None:
    has_lock, forked = threading.Event(), threading.Event()
    waited: list[bool] = []

    def load() -> None:
        with LOADING:
            has_lock.set()
            waited.append(not forked.wait(0.3))

    other = threading.Thread(target=load)
    other.start()
    has_lock.wait()
    status = _status_of_child()
    forked.set()
    other.join()
    assert (status, waited) == (0, [True])


def test_children_of_a_parent_that_loads_kernels(exhaustive: bool) -> None:
    count = 5 if exhaustive else 2
    ended = threading.Event()

    def load() -> None:
        while not ended.is_set():
            quick_cast.forget()
            mlir_fp8.cast(X, "f8E4M3FN")

    other = threading.Thread(target=load)
    other.start()
    try:
        statuses = [_status_of_child() for _ in range(count)]
    finally:
        ended.set()
        other.join()
    assert statuses == [0] * count


def test_a_fork_goes_on_where_the_lock_waits_for_the_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlir_fp8.base.fork_lock._PATIENCE", 0.1)
    has_lock, forked = threading.Event(), threading.Event()

    def load() -> None:
        with LOADING:
            has_lock.set()
            forked.wait()

    other = threading.Thread(target=load)
    other.start()
    has_lock.wait()
    child = os.fork()
    if not child:
        signal.alarm(10)
        with LOADING:  # the thread that has it is the parent's
            os._exit(0)
    forked.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with LOADING:  # nobody has it
        pass
