"""Machine code from and to relocatable object files.

MLIR's engine writes what it compiled as an object file, but reads none; llvmlite's LLVM does, in a
twentieth of a second from start to first call, without MLIR.
"""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.fork_lock import LOADING

if TYPE_CHECKING:
    from torch_mlir.execution_engine import ExecutionEngine


class ObjectCode:
    """The functions of object files, linked into this process for the lifetime of this object."""

    def __init__(self, *files: bytes, others: Mapping[str, int] | None = None) -> None:
        """`others` resolve their symbols beside the C library's and each other's."""
        with LOADING:
            self._engine = self._linked(files, others or {})

    def _linked(self, files: tuple[bytes, ...], others: Mapping[str, int]) -> Any:
        binding = _binding()
        for name, address in others.items():
            binding.add_symbol(name, address)
        machine = binding.Target.from_default_triple().create_target_machine()
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        try:
            for data in files:
                engine.add_object_file(binding.ObjectFileRef.from_data(data))
        except RuntimeError as error:
            raise Fp8Error(f"not an object file of this machine: {error}") from None
        engine.finalize_object()
        return engine

    def raw_lookup(self, func_name: str) -> int:
        """The address of a function in the packed calling convention, or 0."""
        return self.address(f"_mlir_{func_name}")

    def address(self, symbol: str) -> int:
        """The address of a symbol, or 0."""
        return self._engine.get_function_address(symbol)


def object_file(engine: "ExecutionEngine") -> bytes:
    """What `engine` compiled, as an object file."""
    return dumped(engine.dump_to_object_file)


def dumped(dump: Callable[[str], object]) -> bytes:
    """What `dump` writes to the file that it is given the name of."""
    if not hasattr(os, "memfd_create"):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as folder:
            path = Path(folder) / "code.o"
            dump(str(path))
            return path.read_bytes()
    # LLVM aborts on a full disk.
    descriptor = os.memfd_create("mlir-fp8")
    try:
        dump(f"/proc/self/fd/{descriptor}")
        return Path(f"/proc/self/fd/{descriptor}").read_bytes()
    finally:
        os.close(descriptor)


def prepare() -> None:
    """Do the one-time work of the first `ObjectCode` of a process."""
    _binding()


def host() -> str:
    """The host processor and its features, as LLVM spells them."""
    binding = _binding()
    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


@functools.cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
