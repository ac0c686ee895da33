"""A module that rounds as asked for, for engines that have no option for it."""

from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.entry import copy_of, isolate_entry
from mlir_fp8.interpreter.run import find_entry
from mlir_fp8.passes.pass_pipeline import run_pipeline


def rounded_copy(
    module: ir.Module, entry: str, *, rounding: str, seed: int, saturate: bool
) -> ir.Module:
    """`module` as StableHLO whose every engine gives what `mlir_fp8.compile` gives for `entry`.

    The options are those of `compile`. Narrow floats compute in f32, and each rounding to f8, f6 or
    f4 is spelled out (`round-small-floats`); the module itself is left as it is.
    """
    copy = copy_of(module)
    function = find_entry(copy, entry)
    if function is None:
        raise Fp8Error(f"there is no function '{entry}' to run")
    with copy.context:
        isolate_entry(copy, function)
    run_pipeline(
        copy, pipelines.to_rounded_stablehlo(rounding=rounding, seed=seed, saturate=saturate)
    )
    return copy
