"""The fast path of casts: one lookup of the types, and one call.

The checks of types and names are done once: they hold for every array of those types.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_fp8.arrays.address import address_of
from mlir_fp8.arrays.tensor_specs import has_only_codes
from mlir_fp8.compiling.native import cast_kernel
from mlir_fp8.compiling.native.cast_kernel import Kernel
from mlir_fp8.compiling.threads import MOST

PER_THREAD = 1 << 18
"""Elements per thread, below which threads cost more than they save."""
_MOST_KEPT = 1024


@dataclass(frozen=True, slots=True)
class _Known:
    convert: Kernel
    target: np.dtype


_known: dict[tuple[np.dtype, Any, Any], _Known] = {}


def remember(
    source: np.dtype, dtype: Any, saturate: Any, convert: Kernel, target: np.dtype
) -> None:
    """Cast from `source` with these arguments by `convert`, to `target`, from now on."""
    if not has_only_codes(source) or target.metadata is not None:
        return
    if isinstance(saturate, bool) and len(_known) < _MOST_KEPT:
        _known[source, dtype, saturate] = _Known(convert, target)


def forget() -> None:
    """Drop all remembered casts, and their kernels."""
    _known.clear()
    cast_kernel.forget()


def cast_quickly(
    array: np.ndarray, dtype: Any, saturate: Any, out: Any, threads: Any
) -> np.ndarray | None:
    """The results, as `cast` gives them; None off the fast path."""
    try:
        known = _known.get((array.dtype, dtype, saturate))
    except TypeError:  # not hashable: `cast` names it in an error
        return None
    if known is None or (size := array.size) >= 2 * PER_THREAD:
        return None
    if threads is not None and not (type(threads) is int and 1 <= threads <= MOST):
        return None
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned):
        return None
    read = address_of(array)
    if out is None:
        out = np.empty(array.shape, known.target)
        known.convert(read, address_of(out), size)
        return out
    if type(out) is not np.ndarray or out.dtype != known.target or out.shape != array.shape:
        return None
    flags = out.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        return None
    written = address_of(out)
    if written < read + array.nbytes and read < written + out.nbytes:
        return None  # overlapping memory
    known.convert(read, written, size)
    return out
