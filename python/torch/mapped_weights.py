"""The program of a `.pt2` file with its weights where they are in the file's memory: no copies."""

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.pt2_archive import _package

from mlir_fp8.reading.torch_files import TorchFile, stream_of

_RAW = ("data/weights/weight_", "data/constants/tensor_")
"""Entries that are the numbers of a tensor."""
_ALIGNMENT = 64
"""Bytes that PyTorch aligns entries to, as its allocator does."""


def load_mapped(file: TorchFile) -> ExportedProgram:
    """The program `model` of `file`, whose tensors are read from memory once they are used.

    PyTorch's own loader reads all of them. Where it has no such parts it is called.
    """
    load = getattr(_package, "_load_exported_programs", None)
    if load is None:
        return _package.load_pt2(stream_of(file.data)).exported_programs["model"]
    with _package.PT2ArchiveReader(stream_of(file.data)) as reader:  # pyright: ignore
        _check_version(reader)
        whole: Any = reader.archive_file
        reader.archive_file = _Mapped(whole, file)  # pyright: ignore[reportAttributeAccessIssue]
        try:
            return load(reader, reader.get_file_names(), None)["model"]
        finally:
            reader.archive_file = whole


def _check_version(reader: Any) -> None:
    version, known = reader.read_string("archive_version"), _package.ARCHIVE_VERSION_VALUE
    if version != known:
        raise ValueError(f"Saved archive version {version} does not match {known}")


class _Mapped:
    """PyTorch's reader of archives, but for what is in memory."""

    def __init__(self, reader: Any, file: TorchFile) -> None:
        self._reader = reader
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def get_record(self, name: str) -> Any:
        """Of older versions of PyTorch, which make tensors of the bytes."""
        place = self._place(name)
        if place is None:
            return self._reader.get_record(name)
        return memoryview(self._file.data)[place : place + self._reader.get_record_size(name)]

    def get_storage_from_record(self, name: str, count: int, dtype: torch.dtype) -> Any:
        """A tensor, of which only the storage is used."""
        place = self._place(name)
        if place is None:
            return self._reader.get_storage_from_record(name, count, dtype)
        size = count * dtype.itemsize
        held = memoryview(self._file.data)[place : place + size]
        return torch.frombuffer(held, dtype=torch.uint8)

    def _place(self, name: str) -> int | None:
        if memoryview(self._file.data).readonly or not name.startswith(_RAW):
            return None
        if name not in self._file.entries:  # PyTorch says so
            return None
        place = self._file.place(name)
        return None if place is None or place % _ALIGNMENT else place
