"""The batches that `fp8-quantize` measures on: those of `--args`, or of `--batches`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.compiling.shapes import takes_open_sizes
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tools._quantize_files import arguments_of
from mlir_fp8.tools._quantize_options import Options
from mlir_fp8.tools._run_files import ARGUMENT, Declared, entries_of, read_matching, slots_of

if TYPE_CHECKING:
    from torch_mlir import ir

    from mlir_fp8.torch.program_file import ProgramFile

Batches = Sequence[Sequence[np.ndarray]]
"""All arguments of the function, in order, for each batch."""


def batches_of(
    options: Options, module: "ir.Module", program: "ProgramFile | None"
) -> tuple[list[str], Batches]:
    """The names of the arguments, and arrays for all of them for each batch; what `--args` has is
    in each of `--batches`."""
    if options.batches is None:
        if options.args is None and options.random is None:
            return [], []
        names, arrays = arguments_of(options, module, program)
        return names, [arrays]
    if takes_open_sizes(module, options.entry):
        raise Fp8Error(f"'{options.entry}' leaves sizes open: give one batch with --args")
    specs, _ = entry_signature(module, options.entry)
    names = own_names(find_entry(module.operation, options.entry))
    held = {} if program is None else dict(program.state)
    fixed = slots_of(entries_of(options.args or [], names), ARGUMENT, Declared(names, "", held))
    beyond = [entry for number, entry in fixed.items() if number >= len(names)]
    if beyond:
        raise Fp8Error(f"{beyond[0].place} is one argument too many for '{options.entry}'")
    given = {names[number]: entry.read() for number, entry in fixed.items()}
    found = [
        _arguments(path, entries, specs, names, given)
        for path, entries in _entries_of_batches(options.batches, names)
    ]
    if not found:
        wanted = (
            "an .npz, .npy or .safetensors file each, or arrays along the first dimension of one"
        )
        raise Fp8Error(f"'{options.batches}' has no batch: {wanted}")
    return names, found


def _arguments(
    path: str,
    entries: Sequence[Entry],
    specs: Sequence[TensorSpec],
    names: Sequence[str],
    given: Mapping[str, np.ndarray],
) -> list[np.ndarray]:
    declared = Declared(names, f"a batch has {len(specs)} arguments with those of --args", given)
    return read_matching([path], entries, specs, ARGUMENT, declared)


def _entries_of_batches(path: str, names: Sequence[str]) -> Iterator[tuple[str, list[Entry]]]:
    """The arrays of each batch: of a folder's files, or of the first dimension of a file's."""
    if path and Path(path).is_dir():
        endings = (".npz", ".npy", ".safetensors")
        for each in sorted(each for each in Path(path).iterdir() if each.name.endswith(endings)):
            yield str(each), entries_of([str(each)], names)
        return
    entries = entries_of([path], names)
    stacks = [(entry, entry.read()) for entry in entries]
    scalar = next((entry for entry, array in stacks if not array.ndim), None)
    if scalar is not None:
        raise Fp8Error(f"{scalar.place} has no first dimension, of batches: stack them along one")
    counts = {len(array) for _, array in stacks}
    if len(counts) > 1:
        spelled = ", ".join(f"{entry.place}: {len(array)}" for entry, array in stacks)
        raise Fp8Error(f"arrays are of one number of batches, along the first dimension: {spelled}")
    for number in range(counts.pop() if counts else 0):
        yield path, [_part(entry, array, number) for entry, array in stacks]


def _part(entry: Entry, stack: np.ndarray, number: int) -> Entry:
    """Batch `number` of an array that has all."""
    place = f"batch {number} of {entry.place}"
    return Entry(place, entry.name, entry.key, lambda: np.asarray(stack[number]), entry.keeps_order)
