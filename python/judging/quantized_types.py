"""Quantized modules for judges that take integers alone, by StableHLO's own passes."""

import re

from torch_mlir import ir, passmanager

from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
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
    if _QUANTIZED not in str(module):
        return module
    types = _types(module.operation)
    if not types:
        return module  # there are attributes of `fp8` ops alone
    reason = next((why for pattern, why in _LEFT if any(map(pattern.search, types))), "")
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


def _types(module: ir.Operation) -> set[str]:
    """The types of values and signatures that have a quantized one in them."""
    found: set[str] = set()
    for op in operations(module):
        found.update(str(value.type) for value in (*op.operands, *op.results))
        if op.name == "func.func":
            found.add(str(op.attributes["function_type"]))
    return {each for each in found if _QUANTIZED in each}
