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
from typing import Any, TextIO, TypeGuard

from mlir_fp8.base.errors import Fp8Error, InternalError
from mlir_fp8.base.mapped_file import file_bytes
from mlir_fp8.base.source_place import split_place
from mlir_fp8.failures.trace import tracing
from mlir_fp8.tools._native_stderr import show

STANDARD_STREAM = "-"


def run_command(body: Callable[[Sequence[str]], int], argv: Sequence[str] | None, tool: str) -> int:
    """Run `body` on `argv` (default: the process's arguments) and return the exit status.

    `Fp8Error` becomes one line on stderr and status 1, and so does what else is raised inside of
    `tool`, with a file that reproduces it. A reader that went away (`| head -1`) ends the tool in
    silence with 141, what a shell reports for any other program. Ctrl-C kills the process at once,
    also inside a long native call (130 in a shell), except while a file is being written.
    """
    with interruptible():
        return _run(body, sys.argv[1:] if argv is None else argv, tool)


def _run(body: Callable[[Sequence[str]], int], argv: Sequence[str], tool: str) -> int:
    global _input
    _input = None
    try:
        status = body(argv)
        _flush()
    except InternalError as error:
        print_to_stderr(f"error: {error}")
        return 1
    except Fp8Error as error:
        print_error(str(error))
        return 1
    except BrokenPipeError:
        _discard(sys.stdout)
        return 128 + signal.SIGPIPE
    except Exception as error:
        if _lacks_temporary_folder(error):
            print_error(str(error.strerror))
            return 1
        from mlir_fp8.failures.internal_error import internal_error

        let_read(_input)
        print_to_stderr(f"error: {internal_error(error, tool, lambda: body(argv), _input)}")
        return 1
    return status


def _lacks_temporary_folder(error: Exception) -> TypeGuard[OSError]:
    """As tempfile says it, of no file."""
    return isinstance(error, FileNotFoundError) and error.filename is None


def _flush() -> None:
    """Of text printed to stdout: the helpers below name their files."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard(sys.stdout)
        raise Fp8Error(f"cannot write standard output: {error.strerror}") from None


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
    if tracing() is not None:
        return
    show()
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


_keep: Callable[[str, bytes], None] = lambda *_: None  # noqa: E731
_input: bytes | None = None
"""What was read first: the module, where other files follow."""
_again: bytes | None = None


_fork: Callable[[], None] | None = None


def let_fork(fork: Callable[[], None]) -> None:
    """Call `fork` once, before any input is looked at."""
    global _fork
    _fork = fork


def before_input() -> None:
    """Here begins what input may end the process by: see `_wall.py`."""
    global _fork
    fork, _fork = _fork, None
    if fork is not None:
        fork()


def let_keep(keep: Callable[[str, bytes], None]) -> None:
    """Call `keep` with what `read_input` reads, and where from."""
    global _keep
    _keep = keep


def let_read(data: bytes | None) -> None:
    """Let `read_input` give `data` in the place of what can be read only once."""
    global _again
    _again = data


def read_input(path: str) -> tuple[str, bytes]:
    """The name that messages give the input, and its bytes; `-` is standard input."""
    global _input
    before_input()
    if _again is not None and tracing() is not None and not Path(path).is_file():
        return _name(path), _again
    data = _read(path)
    if _input is None:
        _input = data
        _keep(path, data)
    return _name(path), data


def _name(path: str) -> str:
    return "<stdin>" if path == STANDARD_STREAM else path


def _read(path: str) -> bytes:
    if path == STANDARD_STREAM:
        if sys.stdin is None:
            raise Fp8Error("cannot read standard input: it is closed")
        return sys.stdin.buffer.read()
    if not path:
        raise Fp8Error("cannot read '': a file needs a name")
    try:
        return file_bytes(path)
    except (OSError, ValueError) as error:
        raise Fp8Error(f"cannot read '{path}': {_reason(error)}") from None


def write_output(path: str, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all; `-` is standard output."""
    if tracing() is not None:
        return
    show()
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
    with _interrupts_by(_interrupt_once):
        try:
            with beside.open("xb") as file:
                file.write(data)
            if target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            beside.replace(target)
            return
        except KeyboardInterrupt:
            beside.unlink(missing_ok=True)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    signal.raise_signal(signal.SIGINT)


def _interrupt_once(*_: object) -> None:
    """The terminal and the parent may both say it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


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
