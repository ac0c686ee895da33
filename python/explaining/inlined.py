"""A module to look into: a copy without calls, in a context that knows the `fp8` dialect."""

from torch_mlir import ir

from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.passes.pass_pipeline import run_pipeline

# Ops of the dialect travel as composites; other composites are functions that are called. Inlining
# would canonicalize on its way: the program is to be seen as it is.
_PIPELINE = [
    "arith-constant-to-stablehlo",
    "composite-to-ragged-dot",
    "composite-to-fp8",
    "func.func(stablehlo-legalize-composite-to-call)",
    "inline{default-pipeline= }",
    "symbol-dce",
]


def inlined_copy(module: ir.Module, name: str) -> ir.Module:
    """A copy of `module` in which composites and calls are inlined; `name` is for errors."""
    copy = copy_of(module)
    load_fp8_dialect(copy.context)
    run_pipeline(copy, _PIPELINE, name=name)
    return copy
