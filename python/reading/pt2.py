"""`.pt2` files for readers of modules: PyTorch is not imported before one is met."""

from typing import TYPE_CHECKING, cast

from torch_mlir import ir

from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.reading.torch_files import check_reader, open_program

if TYPE_CHECKING:
    from mlir_fp8.torch.program_file import ProgramFile


def read_program(data: bytes, name: str) -> "ProgramFile":
    """The program in the `.pt2` file `data`; `name` stands for the file in errors."""
    open_program(data, name)  # what is no program needs no PyTorch to be refused
    check_reader(name)
    with LOADING:
        from mlir_fp8.torch.program_file import ProgramFile
    return ProgramFile(data, name)


def parse_program(data: bytes, name: str, context: ir.Context) -> ir.Module:
    """The StableHLO of the program in `data`; weights are arguments of `main`, by name."""
    module = read_program(data, name).module
    text = module.operation.get_asm(binary=True, enable_debug_info=True)
    return ir.Module.parse(cast("bytes", text), context)
