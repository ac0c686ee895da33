"""What a command says after it crashed: the step, the signal and a file that reproduces it."""

import contextlib
import os
import signal
from collections.abc import Callable, Sequence

from mlir_fp8.failures.internal_error import given_text
from mlir_fp8.failures.reproducer import save
from mlir_fp8.failures.trace import ReachedError, Step, Trace
from mlir_fp8.tools._children import Children
from mlir_fp8.tools._command import let_read
from mlir_fp8.tools._kept import Kept

Body = Callable[[Sequence[str]], int]


def explained(
    body: Body,
    arguments: list[str],
    tool: str,
    reason: str,
    kept: Kept,
    children: Children,
    patience: float,
) -> str:
    """The line for users, after a reproducer was written.

    Children run the command again, within `patience` seconds: one for the step, one up to it.
    """

    def run(trace: Trace) -> bool:
        if children.fork():
            _run_watched(body, arguments, trace, kept, patience)
        return children.wait() is not None

    kept.note("")
    step = Step()
    if run(Trace(kept.note_step)):
        step = kept.step()
    else:
        reason += ", but not when it was run again"
    kept.note("")
    if step.number:
        run(Trace(until=step.number))
    text = kept.noted() or None
    given = kept.input()
    content = text or (given_text(given) if given else None)
    saved = f"; {save(content, step.name or tool)}" if content else ""
    return f"error: internal error: {step.name or tool}: {reason}{saved}"


def _run_watched(
    body: Body, arguments: list[str], trace: Trace, kept: Kept, patience: float
) -> None:
    """Ends this process."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, patience)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        let_read(kept.unnamed_input())
        with trace.active(), contextlib.suppress(Exception, SystemExit):
            body(arguments)
    except ReachedError as reached:
        kept.note(reached.reproducer or "")
    finally:
        os._exit(0)
