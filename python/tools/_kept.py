"""Anonymous files that pass a crashed process's state to its parent."""

import fcntl
import os
import tempfile
from pathlib import Path

from mlir_fp8.failures.trace import Step

_LIBRARY_SAYS = b"LLVM ERROR: "


class Kept:
    """What a command read, what native code wrote to stderr, and the step that it is at."""

    def __init__(self) -> None:
        self.stderr = _nameless(os.O_APPEND)
        self._input, self._note = _nameless(), _nameless()

    def keep_input(self, path: str, data: bytes) -> None:
        """Keep what was read from `path`, or the path, where it can be read from again."""
        is_file = Path(path).is_file()
        os.ftruncate(self._input, 0)
        os.pwrite(self._input, b"f" + os.fsencode(path) if is_file else b"d", 0)
        left, at = memoryview(b"" if is_file else data), 1
        while left:
            written = os.pwrite(self._input, left, at)
            left, at = left[written:], at + written

    def input(self) -> bytes | None:
        """What was read last."""
        kept = _content(self._input)
        if not kept.startswith(b"f"):
            return kept[1:] if kept else None
        try:
            return Path(os.fsdecode(kept[1:])).read_bytes()
        except OSError:
            return None

    def unnamed_input(self) -> bytes | None:
        """What was read from no file."""
        kept = _content(self._input)
        return kept[1:] if kept.startswith(b"d") else None

    def last_words(self) -> str:
        """Why the library ended the process, if it said so, as the end of a phrase."""
        _, is_said, words = _content(self.stderr).rpartition(_LIBRARY_SAYS)
        line = words.split(b"\n", 1)[0].decode(errors="replace").strip()
        return f": {line}" if is_said and line else ""

    def note_step(self, step: Step) -> None:
        self.note(f"{step.number} {step.name}")

    def step(self) -> Step:
        """The last that was noted."""
        index, _, name = self.noted().partition(" ")
        return Step(int(index or 0), name)

    def note(self, text: str) -> None:
        os.ftruncate(self._note, 0)
        os.lseek(self._note, 0, os.SEEK_SET)
        with open(self._note, "wb", closefd=False) as file:
            file.write(text.encode(errors="replace"))

    def noted(self) -> str:
        return _content(self._note).decode(errors="replace")


def _nameless(flags: int = 0) -> int:
    if hasattr(os, "memfd_create"):
        file = high(os.memfd_create("mlir-fp8"))
    else:
        with tempfile.TemporaryFile() as temporary:
            file = high(os.dup(temporary.fileno()))
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | flags)
    return file


def high(file: int) -> int:
    """`file` in the place of no standard stream, which may be closed."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(file)
    return moved


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)
