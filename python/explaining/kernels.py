"""Which of our kernels `fp8-kernels-for-xla-gpu` would put into a module, and what it leaves."""

from torch_mlir import ir

from mlir_fp8.base.module_places import module_place
from mlir_fp8.explaining.inlined import inlined_copy
from mlir_fp8.explaining.verdicts import KernelRow
from mlir_fp8.lowering.fp8.fp8_fuse_scaled_dot import fuse
from mlir_fp8.lowering.gpu.xla.costs import costs_of
from mlir_fp8.lowering.gpu.xla.decisions import kernel_decisions


def kernel_rows(module: ir.Module, card: str, name: str) -> tuple[KernelRow, ...]:
    """A row for each op that there are kernels for, by the times of `card`; places as in `name`."""
    costs = costs_of(card)
    copy = inlined_copy(module, name)
    with copy.context:
        fuse(copy.operation)
        return tuple(
            KernelRow(each.op, module_place(each.location, name), each.kernel, each.reason)
            for each in kernel_decisions(copy.operation, costs)
        )
