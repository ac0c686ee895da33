"""The artifact that XLA runs, of a module of any kind: the part that needs the compiler."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.artifacts.mhlo import bridge_version
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.entry import copy_of, isolate_entry, signature
from mlir_fp8.compiling.shapes import with_result_sizes, with_shapes
from mlir_fp8.interpreter.run import find_entry, make_main
from mlir_fp8.judging.rounded import rounded_copy
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.reading.loader import parse
from mlir_fp8.serialization.serialize import serialize
from mlir_fp8.xla.options import XlaOptions


def artifact_of(module: ir.Module, entry: str) -> tuple[bytes, list[TensorSpec]]:
    """The portable artifact of a module whose `main` is `entry`, and the types of its results.

    It is plain StableHLO of a version that the installed jaxlib reads.
    """
    copy = copy_of(module)
    function = find_entry(copy, entry)
    if function is None:
        raise Fp8Error(f"there is no function '{entry}' to run")
    specs = signature(function)[1]
    make_main(copy, function)
    with copy.context:
        isolate_entry(copy, function)
    # Functions that the entry does not call may be none for XLA.
    run_pipeline(copy, ["symbol-dce", *pipelines.to_stablehlo()])
    return serialize(copy, bridge_version()), specs


def made_artifact(
    source: ir.Module | tuple[bytes, str], options: XlaOptions, shapes: Sequence[Any] | None
) -> bytes:
    """The artifact of what `mlir_fp8.compile` takes, rounding as `options` say."""
    module = source if isinstance(source, ir.Module) else parse(*source, make_context())
    if shapes is not None:
        module = with_shapes(module, options.entry, shapes, saturate=options.saturate)
    else:
        module = with_result_sizes(module, options.entry, saturate=options.saturate)
    entry = options.entry
    if not options.rounds_as_usual:
        module = rounded_copy(
            module,
            entry,
            rounding=options.rounding,
            seed=options.seed,
            saturate=options.saturate,
        )
    module = copy_of(module)
    run_pipeline(module, ["stablehlo-flatten-signatures", "stablehlo-legalize-quantized-ops"])
    return artifact_of(module, entry)[0]
