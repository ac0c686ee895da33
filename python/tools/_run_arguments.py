"""What `fp8-run` gives a function: arrays of files, the weights of a `.pt2` file, random ones."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.argument_names import argument_names
from mlir_fp8.compiling.shapes import takes_open_sizes, with_result_sizes, with_sizes_of
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tools._run_files import (
    ARGUMENT,
    RESULT,
    Declared,
    entries_of,
    read_all,
    read_matching,
    slots_of,
)
from mlir_fp8.tools._run_options import Options
from mlir_fp8.tools._run_random import random_arrays

if TYPE_CHECKING:
    from mlir_fp8.torch.program_file import ProgramFile


class Files:
    """The arrays that the command line gives a function of `module`, which `program` may hold.

    `module` is then the one of the sizes of these arrays.
    """

    def __init__(
        self, options: Options, module: ir.Module, program: "ProgramFile | None" = None
    ) -> None:
        self._options = options
        self._names = argument_names(module, options.entry)
        self._state: Mapping[str, np.ndarray] = {}
        self.module = module
        if program is not None:
            self._state = program.state
            if program.is_open and options.args:
                self.module = self._of_inputs(program)
        self.module = self._of_sizes()

    @functools.cached_property
    def _entries(self) -> Sequence[Entry]:
        return entries_of(self._options.args or [], self._names)

    def _declared(self, phrase: str = "") -> Declared:
        return Declared(self._names, phrase, self._state)

    def _of_inputs(self, program: "ProgramFile") -> ir.Module:
        """A program with open sizes, exported again for those of the inputs given."""
        slots = slots_of(self._entries, ARGUMENT, self._declared())
        inputs = [number for number, name in enumerate(self._names) if name not in self._state]
        for number in inputs:
            if number not in slots:
                what = self._declared().spell(number, ARGUMENT)
                raise Fp8Error(f"{what} is missing in {', '.join(self._options.args or [])}")
        return program.module_for([slots[number].read() for number in inputs])

    def _of_sizes(self) -> ir.Module:
        """The module with the sizes of the arrays given where it leaves some open."""
        options = self._options
        if not takes_open_sizes(self.module, options.entry):
            return with_result_sizes(self.module, options.entry, saturate=options.saturate)
        if not options.args:
            return self.module
        arrays = read_all(self._entries, ARGUMENT, self._declared())
        return with_sizes_of(self.module, options.entry, arrays, saturate=options.saturate)

    def arguments(self, specs: Sequence[TensorSpec]) -> list[np.ndarray]:
        """One for each of `specs`, which are the function's arguments."""
        options, state = self._options, self._state
        if options.random is not None:
            inputs = [
                spec for spec, name in zip(specs, self._names, strict=True) if name not in state
            ]
            drawn = iter(random_arrays(inputs, options.random))
            return [state[name] if name in state else next(drawn) for name in self._names]
        free = [self._spell(i, spec) for i, spec in enumerate(specs) if self._names[i] not in state]
        if options.args is None and free:
            plural = "" if len(free) == 1 else "s"
            beside = f" beside {len(state)} of the file" if state else ""
            raise Fp8Error(
                f"'{options.entry}' takes {len(free)} argument{plural}{beside}"
                f" ({', '.join(free)}): give them with --args, or random ones with --random SEED"
            )
        declared = self._declared(f"'{options.entry}' takes {len(specs)}")
        return read_matching(options.args or [], self._entries, specs, ARGUMENT, declared)

    def _spell(self, number: int, spec: TensorSpec) -> str:
        name = self._names[number]
        return f"{name}: {spec}" if name else str(spec)


def expected(
    options: Options, specs: Sequence[TensorSpec], names: Sequence[str]
) -> list[np.ndarray] | None:
    """The arrays of `--expect`, one for each of `specs`."""
    if options.expect is None:
        return None
    declared = Declared(names, f"'{options.entry}' gives {len(specs)}")
    entries = entries_of([options.expect], names)
    return read_matching([options.expect], entries, specs, RESULT, declared)
