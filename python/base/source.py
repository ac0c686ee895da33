"""What modules are handed over as: files, bytes and text."""

import sys
from pathlib import Path
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.mapped_file import file_bytes

_LONGEST_NAME = 255
"""Bytes in most file systems, of the last part alone."""


def is_module(source: Any) -> bool:
    """Whether `source` is an `ir.Module`, without importing MLIR."""
    ir = sys.modules.get("torch_mlir.ir")
    # Another thread may be importing it: then there are no modules yet.
    return isinstance(source, getattr(ir, "Module", ()))


def read_source(source: str | Path | bytes | bytearray | memoryview) -> tuple[bytes, str]:
    """The bytes of a file, or those given, or those of text, and their name for messages.

    A string with a line break or a brace is text, any other the name of a file.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), "<bytes>"
    if not isinstance(source, str | Path):
        kind = type(source).__name__
        raise Fp8Error(f"source is {kind}: give the path of a file, text or bytes")
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return _encoded(source), "<text>"
    try:
        return file_bytes(source), str(source)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Fp8Error(f"cannot read {_shown(str(source))}: {reason}") from None


def _shown(name: str) -> str:
    """A name in quotes; of one that is rather text, the beginning."""
    if len(name) <= _LONGEST_NAME:
        return f"'{name}'"
    return f"'{name[:40]}...', a name of {len(name)} characters (text of a module has braces)"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Fp8Error("<text>: holds lone surrogates, which are no characters") from None
