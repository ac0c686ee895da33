"""One array of a file, and what is wrong with files, in one line."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mlir_fp8.base.errors import Fp8Error

# Some of zipfile's messages hold half the file.
_LONGEST_REASON = 200

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """An array that is not read before it is needed."""

    place: str
    name: str
    """The key without its type; empty for an `.npy`."""
    key: str
    read: Callable[[], np.ndarray]
    keeps_order: bool = True
    """Whether its place in the file is where its writer put it."""


def guarded(path: str, read: Callable[[], T]) -> T:
    """What `read` gives; what it raises of the file `path`, as an `Fp8Error`."""
    try:
        return read()
    except Fp8Error:
        raise
    except MemoryError as error:
        raise Fp8Error(f"'{path}' does not fit into memory: {error}") from None
    except Exception as error:  # readers raise whatever the bytes lead them to
        reason = str(error).split("\n", 1)[0][:_LONGEST_REASON] or type(error).__name__
        raise Fp8Error(f"'{path}' cannot be read: {reason}") from None
