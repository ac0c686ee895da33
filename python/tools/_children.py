"""Children of a command, which do its work: what they die of, and what signals they get."""

import contextlib
import fcntl
import os
import signal
from types import FrameType

from mlir_fp8.tools._kept import high

_CRASHES = frozenset(
    (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
)
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The terminal sends them to both processes, `kill` to the parent alone."""


class Children:
    """Forked processes, one at a time, that end when this one does."""

    def __init__(self) -> None:
        self.exit_status = 0
        self._child = 0
        numbers = (*_PASSED_ON, signal.SIGCHLD)
        self._handlers = {each: signal.getsignal(each) or signal.SIG_DFL for each in numbers}
        for number in _PASSED_ON:
            if self._handlers[number] != signal.SIG_IGN:
                signal.signal(number, self._pass_on)
        # Else the system may forget the child's status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def fork(self) -> bool:
        """Whether this is the child, which has the signal handlers that the process came with."""
        reading, writing = map(high, os.pipe())
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
        child = os.fork()
        if child:
            self._child = child
            os.close(reading)
        else:
            os.close(writing)
            _end_with_writer(reading)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return child == 0

    def wait(self) -> signal.Signals | None:
        """What the child crashed by, or None; of other signals this process dies as it did."""
        status = os.waitpid(self._child, 0)[1]
        if not os.WIFSIGNALED(status):
            self.exit_status = os.waitstatus_to_exitcode(status)
            return None
        number = os.WTERMSIG(status)
        if number in _CRASHES:
            return signal.Signals(number)
        if number == signal.SIGALRM:  # it was given a time, which is over
            self.exit_status = 128 + number
            return None
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(128 + number)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, number)


def _end_with_writer(end: int) -> None:
    """Let this process be killed when nobody holds the other end of a pipe any more."""
    if not hasattr(fcntl, "F_SETSIG"):
        return
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
