"""Streaming writer of portable artifacts.

The library returns an artifact as one string, grown by doubling and copied once more: a peak of
four times its size. The same passes and the same bytecode writer, driven from here, stream it. The
bytes are the same but for the producer's name in the header, which is patched in.
"""

import io
from functools import cache
from typing import BinaryIO

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifacts.untrusted import pristine_context

_MAGIC_AND_VERSION = 5


def legalize_to_vhlo(
    module: ir.Operation, version: str, *, allow_other_dialects: bool = False
) -> None:
    """Rewrite `module` to the forms of StableHLO `version`; `MLIRError` for what it cannot hold."""
    to_vhlo = "stablehlo-legalize-to-vhlo"
    if allow_other_dialects:
        to_vhlo += "{allow-other-dialects=true}"
    with module.context:
        passmanager.PassManager.parse(
            f"builtin.module({to_vhlo},vhlo-to-version{{target={version}}})"
        ).run(module)


def write_vhlo(module: ir.Operation, header: bytes, end: int) -> None:
    """Write a module that is VHLO as an artifact to the file descriptor `end`."""
    with open(end, "wb", closefd=False) as file:
        # The version in the header is a varint of one byte: twice the number, plus one.
        module.write_bytecode(_WithHeader(file, header), desired_version=header[4] >> 1)


@cache
def artifact_header(version: str) -> bytes:
    """Magic, bytecode version and producer, as the library writes them for StableHLO `version`."""
    empty = ir.Module.parse("module {}", pristine_context())
    artifact = _stablehlo.serialize_portable_artifact(empty, version)
    return artifact[: artifact.index(b"\0", _MAGIC_AND_VERSION) + 1]


class _WithHeader(io.RawIOBase):
    """Passes MLIR bytecode on to `file` with another header."""

    def __init__(self, file: BinaryIO, header: bytes) -> None:
        self._file, self._header = file, header
        self._held: bytes | None = b""

    def write(self, part: bytes, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self._held is None:
            self._file.write(part)
            return len(part)
        self._held += part
        end = self._held.find(b"\0", _MAGIC_AND_VERSION)
        if end >= 0:
            self._file.write(self._header + self._held[end + 1 :])
            self._held = None
        return len(part)


class CountingBuffer(io.RawIOBase):
    """A file that counts what is written, and keeps it if told to."""

    def __init__(self, *, keep: bool) -> None:
        self.size = 0
        self._kept = io.BytesIO() if keep else None

    def write(self, part: bytes, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.size += len(part)
        if self._kept:
            self._kept.write(part)
        return len(part)

    def content(self) -> bytes:
        """What was kept."""
        return self._kept.getvalue() if self._kept else b""
