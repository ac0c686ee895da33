"""Machine code on disk, found again by what it was made from.

One file per key. Processes share the folder without locks: a rename publishes a file atomically,
and its checksum reveals damage. Where the disk fails (read-only, full, gone), nothing is cached.
"""

import contextlib
import hashlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public

SWITCH, FOLDER, LIMIT = "MLIR_FP8_CACHE", "MLIR_FP8_CACHE_DIR", "MLIR_FP8_CACHE_MAX_BYTES"
_DEFAULT_LIMIT = 1 << 30
_MAGIC = b"mlir-fp8 code 1\n"
_SUFFIX, _UNFINISHED = ".code", ".part"
# Age in seconds from which an unfinished file counts as abandoned.
_ABANDONED = 3600.0


@dataclass(frozen=True)
class CodeCache:
    """A folder of at most `max_bytes` of entries; the least recently used are evicted."""

    folder: Path
    max_bytes: int

    def get(self, key: str) -> bytes | None:
        """What was put under `key`, or None; a damaged entry is removed."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + hashlib.sha256().digest_size
        payload = data[start:]
        if data[:start] != _MAGIC + hashlib.sha256(payload).digest():
            self.remove(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep `payload` under `key`, if the disk lets it."""
        data = _MAGIC + hashlib.sha256(payload).digest() + payload
        if len(data) > self.max_bytes:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._write(self._path(key), data)
            self._evict()

    def remove(self, key: str) -> None:
        """Forget what is under `key`."""
        with contextlib.suppress(OSError):
            self._path(key).unlink()

    def clear(self) -> None:
        """Remove every entry."""
        for path in self._files(_SUFFIX, _UNFINISHED):
            with contextlib.suppress(OSError):
                path.unlink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _files(self, *suffixes: str) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if path.suffix in suffixes]
        except OSError:
            return []

    def _write(self, path: Path, data: bytes) -> None:
        import tempfile

        descriptor, name = tempfile.mkstemp(suffix=_UNFINISHED, dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _evict(self) -> None:
        now = time.time()
        for path in self._files(_UNFINISHED):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime > _ABANDONED:
                    path.unlink()
        used = []
        for path in self._files(_SUFFIX):
            with contextlib.suppress(OSError):
                status = path.stat()
                used.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in used)
        for _, size, path in sorted(used):
            if total <= self.max_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size


def open_cache() -> CodeCache | None:
    """The cache that the environment asks for; None where it is off, or not this user's alone.

    MLIR_FP8_CACHE=off is off; MLIR_FP8_CACHE_DIR is the folder, else the platform's for caches;
    MLIR_FP8_CACHE_MAX_BYTES is what it may hold (1 GiB).
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "false", "no"):
        return None
    folder = _folder()
    if folder is None or not _is_ours(folder):
        return None
    return CodeCache(folder, _limit())


@public
def clear_cache() -> None:
    """Remove all code that is cached on disk, `mlir_fp8.compile`'s and `mlir_fp8.cast`'s."""
    folder = _folder()
    if folder is not None:
        CodeCache(folder, 0).clear()


def _limit() -> int:
    text = os.environ.get(LIMIT)
    if not text:
        return _DEFAULT_LIMIT
    if not text.isdecimal():
        raise Fp8Error(f"{LIMIT}={text}: give a number of bytes")
    return int(text)


def _folder() -> Path | None:
    given = os.environ.get(FOLDER)
    if given:
        return Path(given)
    if sys.platform == "darwin":
        above = "~/Library/Caches"
    else:
        above = os.environ.get("XDG_CACHE_HOME", "")
        # The convention has relative paths ignored.
        above = above if Path(above).is_absolute() else "~/.cache"
    try:
        return Path(above).expanduser() / "mlir-fp8"
    except RuntimeError:  # no home
        return None


def _is_ours(folder: Path) -> bool:
    """Whether no other user can write code there."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
