"""`linalg-contract-to-kernels`: sums of products become kernels made for the processor.

Both operands are packed block by block, which decodes and dequantizes each element once, and
multiplied tile by tile in registers, with f32 sums. Two f8 operands are packed as bf16, which holds
each f8 number, where the processor multiplies pairs of these.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering.kernels.buffer_uses import BlockOrder, erase_unread
from mlir_fp8.lowering.kernels.contraction import Contraction, contraction
from mlir_fp8.lowering.kernels.functions import KernelFunctions, start_of, symbols_of
from mlir_fp8.lowering.kernels.producers import is_unread
from mlir_fp8.lowering.kernels.product import oriented, product_function
from mlir_fp8.lowering.kernels.target import HOST, target_named


@dataclass(frozen=True)
class LinalgContractToKernels(ModulePass):
    """Replace contractions on buffers, from `min_size` multiplications on, by calls of kernels.

    `target` is what the kernels may use: host (what this processor has), avx512-bf16, avx512, avx2,
    neon or baseline. With `parallel`, parts of big ones become functions that threads may share;
    see `parallel-calls-to-llvm`.
    """

    target: str = HOST
    min_size: int = 8192
    parallel: bool = False

    def run(self, module: ir.Operation) -> None:
        target = target_named(self.target)
        orders: dict[ir.Block, BlockOrder] = {}
        found: list[tuple[ir.Operation, Contraction]] = []
        for op in operations(module):
            if op.name != "linalg.generic":
                continue
            order = orders.get(op.block)
            if order is None:
                order = orders[op.block] = BlockOrder(op.block)
            product = contraction(op, order)
            if product is not None and self._is_worth(product):
                found.append((op, oriented(product)))
        if not found:
            return
        functions = KernelFunctions(symbols_of(module))
        # Told before anything is replaced: the orders are those of the module as it is now.
        fills = [each.fill for op, each in found if is_unread(each.fill, op, orders[op.block])]
        for op, product in found:
            name = product_function(product, target, functions, is_parallel=self.parallel)
            _replace(op, product, name)
        for fill in fills:
            fill.erase()
        functions.add_to(module)
        erase_unread(op.results[0] for op in operations(module) if op.name == "memref.alloc")

    def _is_worth(self, product: Contraction) -> bool:
        m, n, k = (product.sizes[d] for d in (product.m, product.n, product.k))
        return m * n * k >= self.min_size


def _replace(op: ir.Operation, product: Contraction, name: str) -> None:
    leaves = [*product.left.leaves, *product.right.leaves, product.out]
    with ir.InsertionPoint(op), op.location:
        func.CallOp([], name, [start_of(leaf.buffer) for leaf in leaves])
    op.erase()
