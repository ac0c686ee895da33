"""`.pt2` files for readers of modules: PyTorch is not imported before one is met."""

from typing import TYPE_CHECKING

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.reading.torch_files import open_program
from mlir_fp8.torch.installed import check_torch

if TYPE_CHECKING:
    from mlir_fp8.torch.torch_module import TorchModule


def read_torch_module(data: bytes, name: str) -> "TorchModule":
    """The program in the `.pt2` file `data`; `name` stands for the file in errors."""
    open_program(data, name)  # what is no program needs no PyTorch to be refused
    try:
        check_torch()
    except Fp8Error as error:
        raise Fp8Error(f"{name}: {error}") from None
    with LOADING:
        from mlir_fp8.torch.pt2 import read_module
    return read_module(data, name)


def in_context(module: ir.Module, context: ir.Context) -> ir.Module:
    """`module`, with its locations, in another context."""
    text = module.operation.get_asm(binary=True, enable_debug_info=True)
    return ir.Module.parse(text, context)


def parse_torch_module(data: bytes, name: str, context: ir.Context) -> ir.Module:
    """The StableHLO of the program in `data`; weights are arguments of `main`, by name."""
    return in_context(read_torch_module(data, name).mlir, context)
