"""`fp8-translate` with FP8 checkpoints: their weights in modules, and other forms of them."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools._arguments import both_dashes
from mlir_fp8.tools._command import STANDARD_STREAM, before_input, print_to_stderr, write_output

if TYPE_CHECKING:
    from torch_mlir import ir

CONVERT = "convert-checkpoint"


def add_checkpoint_options(parser: argparse.ArgumentParser) -> None:
    """The flags that go with `--serialize` of a module for an FP8 checkpoint."""
    parser.add_argument(*both_dashes("checkpoint"), metavar="PATH",
                        help="with --serialize: let the module take the f8 weights of this FP8 "
                        "checkpoint, a folder or a .safetensors file; --weights=FILE has "
                        "them by the names of the arguments")  # fmt: skip


def with_checkpoint(module: "ir.Module", name: str, path: str, weights: str | None) -> "ir.Module":
    """`module` with the f8 weights of the checkpoint at `path`, which are written to `weights`.

    Without that a remark says what the artifact does without.
    """
    from mlir_fp8.checkpoints.application import apply_checkpoint
    from mlir_fp8.tensors.array_files import file_contents

    made, arrays = apply_checkpoint(module, path)
    if weights is not None:
        for file, parts in file_contents(weights, arrays):
            write_output(file, b"".join(parts))
    before, after = made.bytes
    held = f"{len(made.weights)} weights of {before} bytes are {after} bytes of f8 and scales"
    way_out = "" if weights is not None else "; --weights=FILE.safetensors writes them"
    print_to_stderr(f"remark: {name}: {held}{way_out}")
    return made.module


def convert_checkpoint(options: argparse.Namespace) -> int:
    """Write the FP8 checkpoint that is the input as compressed-tensors does, into a folder."""
    from mlir_fp8.checkpoints.quantization_config import CONFIG
    from mlir_fp8.checkpoints.reading import load_checkpoint
    from mlir_fp8.checkpoints.writing import save_checkpoint

    if STANDARD_STREAM in (options.input, options.output):
        raise Fp8Error(f"--{CONVERT} takes a folder or file, and -o FOLDER")
    before_input()
    checkpoint = load_checkpoint(options.input)
    folder = Path(checkpoint.path).resolve().parent
    if folder == Path(options.output).resolve():
        raise Fp8Error(f"--{CONVERT} would overwrite '{options.input}': name another folder")
    config = folder / CONFIG
    save_checkpoint(options.output, checkpoint, config if config.is_file() else None)
    counts = f"{len(checkpoint.weights)} f8 weights, {len(checkpoint.others)} other tensors"
    print_to_stderr(f"remark: {options.output}: {counts}, {checkpoint.bytes} bytes")
    return 0
