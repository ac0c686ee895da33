"""Run a call in a forked child, so that a library that crashes or hangs kills only the child.

The deserializers and interpreters below abort, overflow the stack or loop on damaged input; a fork
costs a few milliseconds because everything is loaded already. Every platform that the libraries
exist for has fork.
"""

import contextlib
import faulthandler
import fcntl
import gc
import io
import os
import resource
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error

# The memory limit of a child beyond what its parent holds, unless the caller passes one.
_MEMORY = 4 << 30
_OK, _REFUSED = b"+", b"-"
# An error must fit into the buffer of a pipe that has no reader yet.
_LONGEST_REFUSAL = 32_000
_LONGEST_LINE = 1000
_forking = threading.Lock()


def _renew_lock() -> None:
    """A child is forked while the lock is held, and may fork children of its own."""
    global _forking
    _forking = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class CrashError(Fp8Error):
    """The child died of a signal, ran out of memory or did not finish in time."""


def call_isolated(
    work: Callable[[], bytes],
    *,
    seconds: float,
    memory: int = _MEMORY,
    meanwhile: Callable[[], object] | None = None,
) -> bytes:
    """The bytes that `work` returns, computed in a forked child; `meanwhile` is called here.

    An `Fp8Error` raised in the child is raised again here; a crash, a timeout, or more than
    `memory` bytes on top of what this process holds, is a `CrashError`. `work` must not use
    threads of this process, nor a context that has some.
    """

    def write(answer: int) -> None:
        left = memoryview(work())
        while left:
            left = left[os.write(answer, left) :]

    return stream_isolated(write, seconds=seconds, memory=memory, meanwhile=meanwhile)


def stream_isolated(
    work: Callable[[int], None],
    *,
    seconds: float,
    memory: int = _MEMORY,
    meanwhile: Callable[[], object] | None = None,
) -> bytes:
    """What `work` writes to the file descriptor it is given, as `call_isolated`.

    A result as large as the module that it is made from never exists twice this way.
    """
    answer, answer_end = os.pipe()
    verdict, verdict_end = os.pipe()
    try:
        try:
            child = _fork(work, answer_end, verdict_end, seconds, memory)
        finally:
            os.close(answer_end)
            os.close(verdict_end)
        try:
            if meanwhile is not None:
                meanwhile()
            deadline = time.monotonic() + seconds
            data = _read_until(answer, deadline)
            said = _read_until(verdict, deadline)
            status = _wait(child)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _wait(child)
            raise
    finally:
        os.close(answer)
        os.close(verdict)
    if said == _OK:
        return data
    if said[:1] == _REFUSED:
        raise Fp8Error(one_clear_line(said[1:].decode(errors="replace")))
    if os.WIFSIGNALED(status):
        raise CrashError(f"the library crashed ({signal.Signals(os.WTERMSIG(status)).name})")
    raise CrashError("the library ended the process")


def one_clear_line(message: str) -> str:
    """`message` with unprintable characters escaped: libraries quote malformed names."""
    if message.isprintable() and len(message) <= _LONGEST_LINE:
        return message
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    line = "".join(shown)
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _fork(
    work: Callable[[int], None], answer: int, verdict: int, seconds: float, memory: int
) -> int:
    # A signal handler of the caller must not run in the child, where it would unwind into a second
    # copy of the caller's program: signals are blocked until the child has reset its handlers.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        # One fork at a time: the warning filters are the process's.
        with _forking, warnings.catch_warnings():
            # Python and jax warn that locks of other threads stay taken: the child takes none.
            warnings.simplefilter("ignore")
            try:
                child = os.fork()
            except OSError as error:
                raise Fp8Error(f"cannot start a child process: {error.strerror}") from None
            if child == 0:
                _run_child(work, answer, verdict, seconds, memory)
        return child
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _run_child(
    work: Callable[[int], None], answer: int, verdict: int, seconds: float, memory: int
) -> None:
    status = 1
    try:
        # A garbage collection would copy the parent's pages (copy-on-write) and run finalizers.
        gc.disable()
        _forget_parent(seconds, memory)
        answer, verdict = _keep_only(answer, verdict)
        try:
            work(answer)
            said = _OK
        except Fp8Error as error:
            said = _REFUSED + str(error).encode(errors="replace")
        except Exception as error:  # the parent must hear of every failure
            said = _REFUSED + _one_line(error).encode(errors="replace")
        os.write(verdict, said[:_LONGEST_REFUSAL])
        status = 0
    finally:
        # No atexit handlers, and no second flush of the parent's buffers.
        os._exit(status)


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}".removesuffix(": ")


def _forget_parent(seconds: float, memory: int) -> None:
    """Default signals, no crash dumps, and limits that hold even when the parent is gone."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    faulthandler.disable()
    _lower_limit(resource.RLIMIT_CORE, 0)
    with contextlib.suppress(OSError):  # no /proc, no way to know where to set the limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _lower_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)


def _lower_limit(kind: int, limit: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(kind, (limit, hard))


def _keep_only(answer: int, verdict: int) -> tuple[int, int]:
    """Close all files but two, and redirect the standard streams to the null device.

    Else this child would keep the pipes of other children open, whose readers wait for EOF.
    """
    # The two may be standard streams themselves, where the parent has those closed.
    answer, verdict = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3) for end in (answer, verdict))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    low, high = sorted((answer, verdict))
    os.closerange(3, low)
    os.closerange(low + 1, high)
    os.closerange(high + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    return answer, verdict


def _read_until(end: int, deadline: float) -> bytes:
    # BytesIO hands its buffer over: a list of chunks would hold a large answer twice.
    received = io.BytesIO()
    poll = select.poll()
    poll.register(end, select.POLLIN)
    while True:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise CrashError("the library did not answer in time")
        chunk = os.read(end, 1 << 20)
        if not chunk:
            return received.getvalue()
        received.write(chunk)


def _wait(child: int) -> int:
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:  # SIGCHLD is ignored, or someone else waits for every child
        return 0
