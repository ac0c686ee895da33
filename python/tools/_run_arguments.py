"""What `fp8-run` gives a function: arrays of files, the weights of a `.pt2` file, random ones."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.argument_names import argument_names
from mlir_fp8.compiling.shapes import takes_open_sizes, with_result_sizes, with_sizes_of
from mlir_fp8.tools._run_files import ARGUMENT, read_all, slots_of
from mlir_fp8.tools._run_given import Given
from mlir_fp8.tools._run_options import Options

if TYPE_CHECKING:
    from mlir_fp8.torch.program_file import ProgramFile


class Files(Given):
    """The arrays that the command line gives a function of `module`, which `program` may hold.

    `module` is then the one of the sizes of these arrays.
    """

    def __init__(
        self, options: Options, module: ir.Module, program: "ProgramFile | None" = None
    ) -> None:
        state: Mapping[str, np.ndarray] = {} if program is None else program.state
        super().__init__(options, argument_names(module, options.entry), state)
        self.module = module
        if program is not None and program.is_open and options.args:
            self.module = self._of_inputs(program)
        self.module = self._of_sizes()

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
