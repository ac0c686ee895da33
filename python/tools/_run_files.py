"""Arrays from `.npz` and `.npy` files, matched to what a function declares; results to files."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec, adapt, readable, restore, split_key, stored
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import read_input

_NPY_MAGIC = b"\x93NUMPY"
_NPZ_MAGIC = b"PK"

# Some of zipfile's messages hold half the file.
_LONGEST_REASON = 200

T = TypeVar("T")


@dataclass(frozen=True)
class Role:
    """What the arrays are to the function, and how their keys start."""

    word: str
    prefix: str


ARGUMENT = Role("argument", "arg")
RESULT = Role("result", "res")


@dataclass(frozen=True)
class _Entry:
    """One array of a file, not read before it is needed."""

    place: str
    name: str
    """The key without its type; empty for an `.npy`."""
    read: Callable[[], np.ndarray]


class ArrayFiles:
    """Files with arrays, opened once: what comes through a pipe cannot be read again."""

    def __init__(self, paths: Sequence[str], role: Role) -> None:
        self.paths = paths
        self.role = role

    @cached_property
    def _slots(self) -> dict[int, _Entry]:
        """By number where all keys are `arg0`, `arg1`, ..., else in the files' order."""
        return _by_number(_entries(self.paths), self.role)

    def all(self) -> list[np.ndarray]:
        """The arrays in the order of their numbers, whatever they are."""
        return [self._slots[number].read() for number in sorted(self._slots)]

    def matching(self, specs: Sequence[TensorSpec], declared: str) -> list[np.ndarray]:
        """One array per spec.

        `declared` is a phrase such as `'main' takes 3`. Raises `Fp8Error` naming what is missing,
        left over or of another type.
        """
        arrays: list[np.ndarray] = []
        slots = dict(self._slots)
        for number, spec in enumerate(specs):
            what = f"{self.role.word} {number}"
            entry = slots.pop(number, None)
            if entry is None:
                where = f"in {', '.join(self.paths)}" if self.paths else "without --args"
                raise Fp8Error(f"{what} ({spec}) is missing {where}: {declared}")
            arrays.append(adapt(f"{what} ({entry.place})", entry.read(), spec))
        if slots:
            entry = slots[min(slots)]
            raise Fp8Error(f"{entry.place} is one {self.role.word} too many: {declared}")
        return arrays


def _by_number(entries: Sequence[_Entry], role: Role) -> dict[int, _Entry]:
    numbered = [re.fullmatch(rf"{role.prefix}(0|[1-9]\d*)", entry.name) for entry in entries]
    slots: dict[int, _Entry] = {}
    for position, (entry, match) in enumerate(zip(entries, numbered, strict=True)):
        number = int(match[1]) if match and all(numbered) else position
        if number in slots:
            raise Fp8Error(f"{entry.place} and {slots[number].place} are the same {role.word}")
        slots[number] = entry
    return slots


def _entries(paths: Sequence[str]) -> list[_Entry]:
    entries: list[_Entry] = []
    for path in paths:
        loaded = _load(path)
        if isinstance(loaded, np.ndarray):
            entries.append(_Entry(path, "", lambda array=loaded: array))
            continue
        if len(paths) > 1:
            raise Fp8Error(f"'{path}' is an .npz: give it alone, or one .npy per array")
        entries += [_npz_entry(path, loaded, key) for key in loaded.files]
    return entries


def _npz_entry(path: str, archive: "np.lib.npyio.NpzFile", key: str) -> _Entry:
    name, element = split_key(key)

    def read() -> np.ndarray:
        array = _guarded(path, lambda: _member(archive, key))
        if not isinstance(array, np.ndarray):
            raise Fp8Error(f"'{path}': '{key}' is not an array")
        return restore(key, array, element)

    return _Entry(f"{key!r} of {path}", name, read)


def _member(archive: "np.lib.npyio.NpzFile", key: str) -> Any:
    try:
        return archive[key]
    except ValueError:
        assert archive.zip is not None
        return _parse(archive.zip.read(f"{key}.npy"))


def _load(path: str) -> "np.ndarray | np.lib.npyio.NpzFile":
    """An `.npz`, read array by array, or the one array of an `.npy`, mapped where possible."""
    if not Path(path).is_file():
        # Standard input or a pipe (or nothing): numpy wants to seek.
        data = read_input(path)[1]
        _check_magic(path, data[: len(_NPY_MAGIC)])
        return _guarded(path, lambda: _parse(data))
    try:
        with Path(path).open("rb") as file:
            magic = file.read(len(_NPY_MAGIC))
    except OSError as error:
        raise Fp8Error(f"cannot read '{path}': {error.strerror}") from None
    _check_magic(path, magic)
    if magic.startswith(_NPZ_MAGIC):
        return _guarded(path, lambda: np.load(path, allow_pickle=False))
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except Exception:  # no elements, or what the plain reader makes out or names
        return _guarded(path, lambda: _parse(Path(path).read_bytes()))


def _parse(data: bytes) -> Any:
    return np.load(io.BytesIO(readable(data)), allow_pickle=False)


def _check_magic(path: str, start: bytes) -> None:
    if not start:
        raise Fp8Error(f"'{path}' is empty")
    if not start.startswith((_NPY_MAGIC, _NPZ_MAGIC)):
        raise Fp8Error(f"'{path}' is neither an .npz nor an .npy file")


def _guarded(path: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except MemoryError as error:
        raise Fp8Error(f"'{path}' does not fit into memory: {error}") from None
    except Exception as error:  # numpy, zipfile and zlib raise whatever the bytes lead them to
        reason = str(error).split("\n", 1)[0][:_LONGEST_REASON] or type(error).__name__
        raise Fp8Error(f"'{path}' cannot be read: {reason}") from None


def encoded(path: str, arrays: Sequence[np.ndarray], role: Role = RESULT) -> bytes:
    """The bytes of the `.npz` with all arrays, or of the `.npy` of the only one, by its name."""
    buffer = io.BytesIO()
    named = dict(stored(f"{role.prefix}{index}", array) for index, array in enumerate(arrays))
    if path.endswith(".npy"):
        (array,) = named.values()
        np.save(buffer, array, allow_pickle=False)
    else:
        np.savez(buffer, allow_pickle=False, **named)
    return buffer.getvalue()
