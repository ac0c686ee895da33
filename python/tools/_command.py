"""What every tool shares: one-line errors, and input and output that survive pipes.

A tool is `main(argv) -> int` that hands its body to `run_command`; the body reads with
`read_input`, writes with `write_output` and raises `Fp8Error` for what the user can mend.
"""

import contextlib
import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from mlir_fp8.errors import Fp8Error
from mlir_fp8.source_place import split_place

STANDARD_STREAM = "-"


def run_command(body: Callable[[Sequence[str]], int], argv: Sequence[str] | None = None) -> int:
    """Run `body` on `argv` (default: the process's arguments) and return the exit status.

    `Fp8Error` becomes one line on stderr and status 1. A reader that went away (`| head -1`) ends
    the tool in silence with 141, what a shell reports for any other program. Ctrl-C kills the
    process at once, also inside a long native call (130 in a shell), except while a file is being
    written.
    """
    with interruptible():
        return _run(body, sys.argv[1:] if argv is None else argv)


def _run(body: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    try:
        status = body(argv)
        if sys.stdout is not None:
            sys.stdout.flush()
    except Fp8Error as error:
        print_error(str(error))
        return 1
    except BrokenPipeError:
        _discard(sys.stdout)
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.errno == errno.ENOENT:  # tempfile's, where no folder can be written to
            print_error(str(error.strerror))
            return 1
        # Only the flush of text printed to stdout gets here: the helpers below name their files.
        _discard(sys.stdout)
        print_error(f"cannot write standard output: {error.strerror}")
        return 1
    return status


def error_line(message: str) -> str:
    """`file:line:column: error: reason` for a message that starts with a place, as MLIR prints it;
    `error: message` for any other."""
    place, reason = split_place(message)
    return f"error: {message}" if place is None else f"{place}: error: {reason}"


def print_error(message: str) -> None:
    """Print the one line of an error."""
    print_to_stderr(error_line(message))


def print_to_stderr(text: str) -> None:
    """Print a line on stderr if anyone listens: a tool goes on when nobody does."""
    # print(file=None) would fall back to stdout, which may carry the tool's binary output.
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def interruptible() -> contextlib.AbstractContextManager[None]:
    """Let Ctrl-C end the process at once, in native code too; for code with nothing to clean up."""
    return _interrupts_by(signal.SIG_DFL)


@contextlib.contextmanager
def _interrupts_by(handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def read_input(path: str) -> tuple[str, bytes]:
    """The name that messages give the input, and its bytes; `-` is standard input."""
    if path == STANDARD_STREAM:
        if sys.stdin is None:
            raise Fp8Error("cannot read standard input: it is closed")
        return "<stdin>", sys.stdin.buffer.read()
    if not path:
        raise Fp8Error("cannot read '': a file needs a name")
    try:
        return path, Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise Fp8Error(f"cannot read '{path}': {_reason(error)}") from None


def write_output(path: str, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all; `-` is standard output."""
    if path == STANDARD_STREAM:
        _write_stdout(data)
        return
    if not path:
        raise Fp8Error("cannot write '': a file needs a name")
    try:
        # The link stays a link: its target is what gets replaced.
        target = Path(path).resolve()
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            # A directory refuses by itself; a device or a pipe cannot be replaced.
            target.write_bytes(data)
            return
        _replace(target, data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise Fp8Error(f"cannot write '{path}': {_reason(error)}") from None


def _replace(target: Path, data: bytes) -> None:
    # Opened with 0o666 so that the user's umask decides, which tempfile's 0o600 would not allow.
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _interrupts_by(signal.default_int_handler):
            with beside.open("xb") as file:
                file.write(data)
            if target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            beside.replace(target)
    except KeyboardInterrupt:
        beside.unlink(missing_ok=True)
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _write_stdout(data: bytes) -> None:
    if sys.stdout is None:
        raise Fp8Error("cannot write standard output: it is closed")
    left = memoryview(data)
    try:
        sys.stdout.flush()
        while left:
            # One call need not write all: under PYTHONUNBUFFERED this is the bare system call.
            written = sys.stdout.buffer.write(left)
            if written is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            left = left[written:]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard(sys.stdout)
        raise Fp8Error(f"cannot write standard output: {error.strerror}") from None


def _discard(stream: TextIO | None) -> None:
    # Python flushes its streams once more at exit, and would report the same failure again.
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
