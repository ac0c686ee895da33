"""The defined and undefined symbols of an object file."""

import ctypes
import functools
import struct
from collections.abc import Iterator

_ELF64_LITTLE = b"\x7fELF\x02\x01"
_UNDEFINED = 0


def undefined_symbols(data: bytes) -> frozenset[str]:
    """The undefined symbols of an ELF object file; none for other formats."""
    return frozenset(name for name, section in _symbols(data) if section == _UNDEFINED)


def defined_symbols(data: bytes) -> frozenset[str]:
    """The defined symbols of an ELF object file, local and global."""
    return frozenset(name for name, section in _symbols(data) if section != _UNDEFINED)


def _symbols(data: bytes) -> Iterator[tuple[str, int]]:
    """Each symbol with the index of its section."""
    if not data.startswith(_ELF64_LITTLE):
        return
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for index in range(count):
        _, kind, _, _, offset, length, link = struct.unpack_from(
            "<IIQQQQI", data, table + index * size
        )
        if kind != 2:  # SHT_SYMTAB
            continue
        (strings,) = struct.unpack_from("<Q", data, table + link * size + 24)
        for entry in range(offset + 24, offset + length, 24):  # the first one is none
            name, _, _, section = struct.unpack_from("<IBBH", data, entry)
            if name:
                start = strings + name
                yield data[start : data.index(b"\0", start)].decode(), section


def is_in_every_process(name: str) -> bool:
    """Whether the process itself exports `name`, as it does the C library; LLVM's loader aborts on
    unresolved symbols."""
    return hasattr(_process(), name)


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)
