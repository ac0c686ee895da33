"""`fp8-translate --serialize` of `.pt2` files: the program to the artifact, weights to their own."""

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


def torch_module(data: bytes, name: str, weights: str | None) -> "ir.Module":
    """The StableHLO of a `.pt2` file, ready for an artifact; its weights are written to `weights`.

    Without that a remark says what the artifact does without.
    """
    from mlir_fp8.passes.pass_pipeline import run_pipeline
    from mlir_fp8.pipelines import to_stablehlo
    from mlir_fp8.reading.pt2 import read_torch_module
    from mlir_fp8.tensors.array_files import file_contents

    torch = read_torch_module(data, name)
    from mlir_fp8.torch.pt2 import state_arrays

    run_pipeline(torch.mlir, to_stablehlo())  # what functions of numbers leave of CHLO
    state = state_arrays(torch)
    if weights is not None:
        for file, parts in file_contents(weights, state):
            write_output(file, b"".join(parts))
    elif state:
        count = "1 weight is an argument" if len(state) == 1 else f"{len(state)} weights are arguments"
        print_to_stderr(f"remark: {name}: {count} of 'main': --weights=FILE.safetensors writes them")
    return torch.mlir
