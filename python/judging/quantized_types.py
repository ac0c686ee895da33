"""Quantized modules for judges that take integers alone, by StableHLO's own passes."""

import re

from torch_mlir import ir, passmanager

from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.interpreter.run import DEQUANTIZE

_QUANTIZED = "!quant."
_LEFT = (
    (re.compile(r"!quant\.uniform<u\d"), "StableHLO's pass takes unsigned storage for signed"),
    (re.compile(r"!quant\.uniform<f\d"), "StableHLO has no types that store floats"),
    (re.compile(r"!quant\.uniform<[^!]*?:\{"), "StableHLO's pass knows no sub-channel types"),
)


def in_integers(module: ir.Module) -> ir.Module:
    """`module` without quantized types, in a context of its own; itself where it has none.

    Arguments and results are the stored integers. Upstream's passes do it, none of ours, so that a
    judge judges. `Fp8Error` where these would not give what the specification says.
    """
    text = str(module)
    if _QUANTIZED not in text:
        return module
    reason = next((why for pattern, why in _LEFT if pattern.search(text)), "")
    if reason:
        raise Fp8Error(f"quantized types: {reason}")
    copy = copy_of(module)
    try:
        passmanager.PassManager.parse(f"builtin.module({DEQUANTIZE})", copy.context).run(
            copy.operation
        )
    except ir.MLIRError as error:
        raise mlir_error(error, "quantized types") from None
    return copy
