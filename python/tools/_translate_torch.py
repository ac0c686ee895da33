"""`fp8-translate --serialize` of `.pt2` files: the program as an artifact, weights beside it."""

from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._command import STANDARD_STREAM, print_to_stderr, write_output

if TYPE_CHECKING:
    from torch_mlir import ir

_ENDINGS = (".safetensors", ".safetensors.index.json", ".npz")


def check_weights(path: str | None, output: str) -> None:
    """Refuse a file for weights whose name does not say its form, or that is the artifact's too."""
    if path is not None and (not path.endswith(_ENDINGS) or path in (output, STANDARD_STREAM)):
        raise Fp8Error(f"--weights={path}: give a file of another name, FILE.safetensors")


def program_module(data: bytes, name: str, weights: str | None) -> "ir.Module":
    """The StableHLO of a `.pt2` file, ready for an artifact; its weights are written to `weights`.

    Without that a remark says what the artifact does without.
    """
    from mlir_fp8.passes.pass_pipeline import run_pipeline
    from mlir_fp8.pipelines import to_stablehlo_of_artifacts
    from mlir_fp8.reading.pt2 import read_program
    from mlir_fp8.tensors.array_files import file_contents

    program = read_program(data, name)
    # What functions of numbers leave of CHLO.
    run_pipeline(program.module, to_stablehlo_of_artifacts())
    if weights is not None:
        for file, parts in file_contents(weights, program.state):
            write_output(file, b"".join(parts))
    elif program.state:
        count = len(program.state)
        held = "1 weight is an argument" if count == 1 else f"{count} weights are arguments"
        way_out = "--weights=FILE.safetensors writes them"
        print_to_stderr(f"remark: {name}: {held} of 'main': {way_out}")
    return program.module
