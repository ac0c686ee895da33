"""The arguments that `fp8-quantize` runs a module on, by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.pipelines import NEAREST_EVEN
from mlir_fp8.tools._quantize_options import Options
from mlir_fp8.tools._run_arguments import Files
from mlir_fp8.tools._run_options import Options as RunOptions

if TYPE_CHECKING:
    import numpy as np
    from torch_mlir import ir

    from mlir_fp8.torch.program_file import ProgramFile


def arguments_of(
    options: Options, module: "ir.Module", program: "ProgramFile | None"
) -> "tuple[list[str], Sequence[np.ndarray]]":
    """The names of the arguments, and arrays for them, as `fp8-run` has them."""
    run = RunOptions(
        input=options.input,
        args=options.args,
        random=options.random,
        entry=options.entry,
        output=None,
        expect=None,
        tolerance=0.0,
        print=False,
        saturate=False,
        rounding=NEAREST_EVEN,
        seed=None,
        allow_excess_precision=False,
        threads=None,
        timing=False,
        backend=None,
        compare=None,
        reduce=None,
        report=None,
    )
    files = Files(run, module, program)
    takes, _ = entry_signature(files.module, options.entry)
    names = own_names(find_entry(files.module.operation, options.entry))
    return names, files.arguments(takes)
