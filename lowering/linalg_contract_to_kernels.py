"""`linalg-contract-to-kernels`: sums of products become kernels made for the processor.

Both operands are packed block by block, which decodes and dequantizes each element once, and
multiplied tile by tile in registers, with f32 sums. Two f8 operands are packed as bf16, which holds
each f8 number, where the processor multiplies pairs of these.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from mlir_fp8.errors import Fp8Error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering.kernels.buffer_uses import BlockOrder, erase_unread
from mlir_fp8.lowering.kernels.contraction import Contraction, contraction
from mlir_fp8.lowering.kernels.functions import KernelFunctions
from mlir_fp8.lowering.kernels.producers import is_unread
from mlir_fp8.lowering.kernels.product import oriented, product_function
from mlir_fp8.lowering.kernels.target import TARGETS, KernelTarget, host_target

_HOST = "host"


@dataclass(frozen=True)
class LinalgContractToKernels(ModulePass):
    """Replace contractions on buffers, from `min_size` multiplications on, by calls of kernels.

    `target` is what the kernels may use: host (what this processor has), avx512-bf16, avx512, avx2,
    neon or baseline.
    """

    target: str = _HOST
    min_size: int = 8192

    def run(self, module: ir.Operation) -> None:
        target = self._target()
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
        symbols = [op.operation.attributes for op in module.regions[0].blocks[0]]
        taken = {ir.StringAttr(a["sym_name"]).value for a in symbols if "sym_name" in a}
        functions = KernelFunctions(taken)
        # Told before anything is replaced: the orders are those of the module as it is now.
        fills = [each.fill for op, each in found if is_unread(each.fill, op, orders[op.block])]
        for op, product in found:
            _replace(op, product, target, functions)
        for fill in fills:
            fill.erase()
        _add(module, functions.texts)
        erase_unread(op.results[0] for op in operations(module) if op.name == "memref.alloc")

    def _target(self) -> KernelTarget:
        if self.target == _HOST:
            return host_target()
        if self.target not in TARGETS:
            known = ", ".join([_HOST, *TARGETS])
            raise Fp8Error(f"there is no target '{self.target}' (targets: {known})")
        return TARGETS[self.target]

    def _is_worth(self, product: Contraction) -> bool:
        m, n, k = (product.sizes[d] for d in (product.m, product.n, product.k))
        return m * n * k >= self.min_size


def _replace(
    op: ir.Operation, product: Contraction, target: KernelTarget, functions: KernelFunctions
) -> None:
    made = product_function(product, target, functions)
    leaves = [*product.left.leaves, *product.right.leaves, product.out]
    bytes_ = ir.IntegerType.get_signless(8)
    with ir.InsertionPoint(op), op.location:
        arguments = [_start(leaf.buffer) for leaf in leaves]
        for size in made.scratch:
            type_ = ir.MemRefType.get([size], bytes_)
            arguments.append(_start(memref.alloc(type_, [], [], alignment=64)))
        func.CallOp([], made.name, arguments)
    op.erase()


def _start(buffer: ir.Value) -> ir.Value:
    """The whole buffer that `buffer` is a view of, as one element: all sizes pass so."""
    type_ = ir.MemRefType.get([1], buffer.type.element_type)
    return memref.reinterpret_cast(type_, buffer, [], [], [], [0], [1], [1])


def _add(module: ir.Operation, texts: list[str]) -> None:
    kernels = ir.Module.parse("\n".join(texts), module.context)
    block = module.regions[0].blocks[0]
    for function in list(kernels.body.operations):
        function.operation.clone(ip=ir.InsertionPoint.at_block_begin(block))
