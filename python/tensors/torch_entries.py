"""The arrays in a `.pt2` file: weights, buffers and constants by name."""

import functools
import zipfile

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.base.mapped_file import ZIP_MAGIC, file_bytes
from mlir_fp8.reading.torch_files import TorchFile, check_reader
from mlir_fp8.tensors.file_entry import Entry


def torch_entries(path: str, data: bytes | None) -> list[Entry] | None:
    """What the program in the file `path` holds, or in `data` from a pipe; None of other files."""
    if data is None and not _may_be_program(path):
        return None
    held = file_bytes(path) if data is None else data
    if not held.startswith(ZIP_MAGIC):
        return None
    try:
        if not TorchFile(held, path).is_program:
            return None
    except Fp8Error:  # said better by who reads other zip archives
        return None
    check_reader(path)
    with LOADING:
        from mlir_fp8.torch.pt2 import read_state
    state = read_state(held, path)
    return [
        Entry(f"{name!r} of {path}", name, name, functools.partial(state.__getitem__, name))
        for name in state
    ]


def _may_be_program(path: str) -> bool:
    """By the names in an archive, without reading all of it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".json") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False
