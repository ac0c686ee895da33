"""Run a call in a forked child, so that a library that crashes or hangs takes only the child down.

The deserializers and interpreters below abort, overflow the stack or loop on damaged input; a fork
costs a few milliseconds because everything is loaded already.
"""

import contextlib
import os
import selectors
import signal
import time
import warnings
from collections.abc import Callable

from mlir_fp8.errors import Fp8Error

_OK, _REFUSED = b"+", b"-"


class CrashError(Fp8Error):
    """The child died of a signal, ran out of memory or did not finish in time."""


def call_isolated(work: Callable[[], bytes], *, seconds: float) -> bytes:
    """The bytes that `work` returns, computed in a forked child.

    An `Fp8Error` raised in the child is raised again here; a crash or a timeout is a `CrashError`.
    `work` must not use threads, nor a context whose thread pool belongs to this process.
    """
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        # The child only computes and exits by `_exit`: other threads' locks are not taken in it.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(read_end)
        _run_child(work, write_end)
    os.close(write_end)
    try:
        answer = _read_until(read_end, time.monotonic() + seconds)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(read_end)
        _, status = os.waitpid(child, 0)
    if answer[:1] == _OK:
        return answer[1:]
    if answer[:1] == _REFUSED:
        raise Fp8Error(answer[1:].decode())
    if os.WIFSIGNALED(status):
        raise CrashError(f"the library crashed ({signal.Signals(os.WTERMSIG(status)).name})")
    raise CrashError("the library ended the process")


def _run_child(work: Callable[[], bytes], write_end: int) -> None:
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        try:
            answer = _OK + work()
        except Fp8Error as error:
            answer = _REFUSED + str(error).encode()
        except Exception as error:  # the parent must hear of every failure
            answer = _REFUSED + f"{type(error).__name__}: {error}".encode()
        view = memoryview(answer)
        while view:
            view = view[os.write(write_end, view) :]
        status = 0
    finally:
        with contextlib.suppress(OSError):
            os.close(write_end)
        os._exit(status)


def _read_until(read_end: int, deadline: float) -> bytes:
    chunks: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(read_end, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise CrashError("the library did not answer in time")
            chunk = os.read(read_end, 1 << 20)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
