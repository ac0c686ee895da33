"""Zip archives in memory that are read as they are used, in the place of their bytes.

`.pt2` files are such ones: a model's weights need not be read to translate it.
"""

import mmap
from pathlib import Path
from typing import BinaryIO, cast

ZIP_MAGIC = b"PK\x03\x04"


class MappedFile(mmap.mmap):
    """The bytes of `file`, which stays open; what is written to them stays in this process."""

    file: BinaryIO

    def startswith(self, prefix: bytes | tuple[bytes, ...]) -> bool:
        """As of `bytes`."""
        prefixes = prefix if isinstance(prefix, tuple) else (prefix,)
        return self[: max(map(len, prefixes), default=0)].startswith(prefixes)

    def decode(self) -> str:
        """As of `bytes`."""
        return self[:].decode()


def file_bytes(path: str | Path) -> bytes:
    """What the file `path` holds; of a zip archive as a `MappedFile`, which is used as bytes are.

    Raises `OSError` and `ValueError` as `open` does.
    """
    file = open(path, "rb")  # noqa: PTH123, SIM115 - Path takes an empty name for a folder
    is_kept = False
    try:
        start = file.read(len(ZIP_MAGIC))
        if start != ZIP_MAGIC or not file.seekable():
            return start + file.read()
        data = MappedFile(file.fileno(), 0, access=mmap.ACCESS_COPY)
        data.file, is_kept = file, True
        return cast("bytes", data)
    finally:
        if not is_kept:
            file.close()
