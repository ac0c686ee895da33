"""Buffers the stderr of native code until the run is known not to have crashed.

Without a call of `hold`, as in `main(argv)`, nothing is held, and stderr is as it was.
"""

import contextlib
import os
import sys
from collections.abc import Iterator

_STDERR = 2
_real = -1


def hold(file: int) -> None:
    """From now on native code writes to `file`, Python to what stderr is now."""
    global _real
    if sys.stderr is None:
        return
    _real = os.dup(_STDERR)
    os.dup2(file, _STDERR)
    held = sys.stderr
    sys.stderr = open(  # noqa: SIM115 - for as long as the process lives
        _real, "w", 1, encoding=held.encoding, errors=held.errors, closefd=False
    )


def show() -> None:
    """Write what is held back to stderr, now that something is to follow it."""
    if _real >= 0:
        move(_STDERR, _real)


def move(file: int, end: int) -> None:
    """Write all that is in `file` to `end`, if anyone listens; `file` is then empty."""
    size = os.fstat(file).st_size
    with contextlib.suppress(OSError):
        write_all(end, os.pread(file, size, 0))
    os.ftruncate(file, 0)


@contextlib.contextmanager
def shown_at_once(is_asked_for: bool) -> Iterator[None]:
    """Hold back nothing meanwhile: native code prints what the user asked for."""
    if _real < 0 or not is_asked_for:
        yield
        return
    show()
    file = os.dup(_STDERR)
    os.dup2(_real, _STDERR)
    try:
        yield
    finally:
        os.dup2(file, _STDERR)
        os.close(file)


def write_all(end: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(end, left) :]
