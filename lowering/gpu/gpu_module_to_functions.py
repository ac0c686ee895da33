"""`gpu-module-to-functions`: kernels out of their `gpu.module`, as LLVM IR has them."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass


@dataclasses.dataclass(frozen=True)
class GpuModuleToFunctions(ModulePass):
    """Move what is in each `gpu.module` to the module around it, in the place of it.

    Two that define one name are refused: rename one.
    """

    def run(self, module: ir.Operation) -> None:
        found = operations(module, "gpu.module")
        taken = {
            symbol_name(op)
            for op in module.regions[0].blocks[0].operations
            if "sym_name" in op.operation.attributes and op.operation.name != "gpu.module"
        }
        for each in found:
            _move(each, taken)


def _move(kernels: ir.Operation, taken: set[str]) -> None:
    for op in list(kernels.regions[0].blocks[0].operations):
        name = symbol_name(op)
        if name in taken:
            raise op_error(
                op, f"defines @{name}, which another module of kernels does too: rename one"
            )
        taken.add(name)
        op.operation.move_before(kernels)
    kernels.erase()
