"""What the first bytes of a file say: its kind, and for bytecode the versions and the producer."""

import os
import re
from dataclasses import dataclass, replace

from mlir_fp8.base.errors import Fp8Error

MAGIC = b"ML\xefR"
_ZIP_MAGIC = b"PK\x03\x04"
_PRODUCER = re.compile(r"StableHLO_v(\d+\.\d+\.\d+)")
_LONGEST_PRODUCER = 4096
# An op of the dialect, not an attribute of it, which StableHLO modules carry too.
_MHLO_OP = re.compile(rb'(?:^|=)\s*"?mhlo\.\w+', re.MULTILINE)
_HLO_TEXT = re.compile(rb"\s*HloModule\s")

HEAD_BYTES = 1 << 16
"""As many bytes of a file as `read_header` ever needs, but for telling MHLO from StableHLO text."""


@dataclass(frozen=True)
class Header:
    """The facts that need no parser."""

    kind: str
    """`artifact`, `exported`, `bytecode`, `text`, `mhlo text`, `hlo text`, `zip`, `binary` or
    `empty`."""
    size: int
    """Bytes of the whole file."""
    stablehlo_version: str | None = None
    """Of an artifact, also in an exported file: the version that it was written for."""
    producer: str | None = None
    """Of bytecode: who wrote it, in the writer's words."""
    bytecode_version: int | None = None
    """Of bytecode: the version of MLIR's encoding."""


def read_header(head: bytes, size: int) -> Header:
    """The header of a file of `size` bytes that starts with `head`."""
    if head.startswith(MAGIC):
        return _bytecode_header(head, size)
    if not head.strip():
        return Header("empty" if len(head) == size else "text", size)
    if head.startswith(_ZIP_MAGIC):
        return Header("zip", size)
    if b"\0" in head:
        return _exported_header(head, size) or Header("binary", size)
    if _HLO_TEXT.match(head):
        return Header("hlo text", size)
    return Header("mhlo text" if _MHLO_OP.search(head) else "text", size)


def file_header(path: str | os.PathLike[str]) -> Header:
    """The header of a file, of which only the first bytes are read."""
    try:
        # Not by Path: that takes an empty name for the current directory.
        with open(path, "rb") as file:  # noqa: PTH123
            return read_header(file.read(HEAD_BYTES), os.fstat(file.fileno()).st_size)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Fp8Error(f"cannot read '{os.fspath(path)}': {reason}") from None


def _bytecode_header(head: bytes, size: int) -> Header:
    number = read_varint(head, len(MAGIC))
    if number is None:
        return Header("bytecode", size)
    bytecode_version, start = number
    end = head.find(b"\0", start, start + _LONGEST_PRODUCER)
    if end < 0:
        return Header("bytecode", size, bytecode_version=bytecode_version)
    producer = head[start:end].decode(errors="replace")
    match = _PRODUCER.fullmatch(producer)
    version = match[1] if match else None
    kind = "artifact" if match else "bytecode"
    return Header(kind, size, version, producer, bytecode_version)


def _exported_header(head: bytes, size: int) -> Header | None:
    """That of what `jax.export.Exported.serialize()` writes: an artifact behind other facts."""
    start = head.find(MAGIC)
    inner = _bytecode_header(head[start:], size) if start > 0 else None
    return replace(inner, kind="exported") if inner and inner.kind == "artifact" else None


def read_varint(data: bytes | memoryview, start: int) -> tuple[int, int] | None:
    """The number at `start` in MLIR's PrefixVarInt, and where it ends; None beyond the data.

    The zeros below the lowest one bit of the first byte count the bytes that follow.
    """
    if start >= len(data):
        return None
    first = data[start]
    length = (first & -first).bit_length() if first else 9
    end = start + length
    if end > len(data):
        return None
    if length == 9:
        return int.from_bytes(data[start + 1 : end], "little"), end
    return int.from_bytes(data[start:end], "little") >> length, end
