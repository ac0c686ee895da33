"""Crash isolation of the commands: a child does the work, its parent reports a crash.

The libraries below abort on some input. So a command forks before it reads any, which is before it
loads them: the child has the streams and does everything, the parent only waits, and forwards
signals and the exit status. After a crash the command is repeated with tracing, for a reproducer
(`_crash.py`).

`main(argv)` of a tool does not fork: there a debugger finds the crash.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

from mlir_fp8.tools._command import let_fork, let_keep, print_to_stderr, run_command

Body = Callable[[Sequence[str]], int]


def run_walled(body: Body, tool: str) -> NoReturn:
    """Run `body` on the process's arguments as `run_command` does, and end the process."""
    arguments = sys.argv[1:]
    let_fork(lambda: _fork(body, arguments, tool))
    sys.exit(run_command(body, arguments, tool))


def _fork(body: Body, arguments: list[str], tool: str) -> None:
    """Return in the child; the parent ends here."""
    from mlir_fp8.tools import _native_stderr
    from mlir_fp8.tools._children import Children
    from mlir_fp8.tools._kept import Kept

    try:
        kept = Kept()
        children = Children()
        is_child = children.fork()
    except OSError:  # no files or processes are left: it goes without
        return
    if is_child:
        let_keep(kept.keep_input)
        _native_stderr.hold(kept.stderr)
        return
    started = time.monotonic()
    crash = children.wait()
    if crash is None:
        _native_stderr.move(kept.stderr, 2)
        os._exit(children.exit_status)
    from mlir_fp8.tools._crash import explained

    # More than it took, as each pass is a pipeline of its own.
    patience = 60 + 10 * (time.monotonic() - started)
    reason = f"crashed ({crash.name}{kept.last_words()})"
    print_to_stderr(explained(body, arguments, tool, reason, kept, children, patience))
    os._exit(1)
