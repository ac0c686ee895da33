"""The dialect itself, which the ops attach to; `mlir_fp8.dialects.fp8` is what to import."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext


class Fp8(ext.Dialect, name="fp8"):
    """Small floats: conversions with a choice of rounding, and scaled data and products."""


def report(op: Any, reason: str) -> bool:
    """What `verify_invariants` answers: an error at the op for a `reason`, else true."""
    operation: ir.Operation = op.operation
    if reason:
        operation.location.emit_error(f"'{operation.name}' op {reason}")
    return not reason
