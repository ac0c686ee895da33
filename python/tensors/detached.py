"""The warning to callers whose autograd graph ends here."""

import sys
import warnings

from mlir_fp8.base.errors import DetachedWarning, callers_code
from mlir_fp8.failures.trace import tracing


def warn_detached(message: str) -> None:
    """A `DetachedWarning` at the line that called this package."""
    if tracing() is not None:
        return
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("mlir_fp8."):
        level, frame = level + 1, frame.f_back
    with callers_code():  # whose filters may make an error of it
        warnings.warn(message, DetachedWarning, stacklevel=level)
