"""`linalg-convolution-to-kernels`: convolutions become calls of kernels for the vector ISA.

So do other multiply-add reductions that are no contractions of matrices. The filter is packed, the
image is read in place (direct convolution): a register tile of f32 accumulators per group of
results, with the reduction loops innermost.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    erase_unread,
    ordered_generics,
)
from mlir_fp8.lowering.kernels.contractions.contraction import contraction
from mlir_fp8.lowering.kernels.contractions.convolution import Convolution, convolution
from mlir_fp8.lowering.kernels.contractions.producers import is_unread
from mlir_fp8.lowering.kernels.products.convolution_product import convolution_function
from mlir_fp8.lowering.kernels.vector_code.expression import body_slice
from mlir_fp8.lowering.kernels.vector_code.target import HOST, KernelTarget, target_named
from mlir_fp8.lowering.rewriting.kernel_functions import (
    KernelFunctions,
    scratch,
    start_of,
    symbols_of,
)

_LEAST_ROWS = 4
"""With fewer, most of a tile would be padding."""


@dataclass(frozen=True)
class LinalgConvolutionToKernels(ModulePass):
    """Replace convolutions on buffers, from `min_size` multiplications on, by calls of kernels.

    `target` and `apart` are as in `linalg-contract-to-kernels`, to which contractions are left.
    With `parallel`, the loop over tiles of big ones is outlined for threads; see
    `parallel-calls-to-llvm`.
    """

    target: str = HOST
    min_size: int = 8192
    parallel: bool = False
    apart: bool = False

    def run(self, module: ir.Operation) -> None:
        target = target_named(self.target)
        found: list[tuple[ir.Operation, Convolution, BlockOrder]] = []
        for op, order in ordered_generics(module):
            each = convolution(op, order)
            if each is not None and self._is_worth(each) and contraction(op, order) is None:
                found.append((op, each, order))
        if not found:
            return
        # Analyzed before anything is replaced: the orders are those of the module as it is now.
        unread = [is_unread(each.fill, op, order) for op, each, order in found]
        functions = KernelFunctions(symbols_of(module))
        for op, each, _ in found:
            self._replace(op, each, target, functions)
        for (_, each, _), is_free in zip(found, unread, strict=True):
            if is_free:
                each.fill.erase()
        functions.add_to(module, apart=self.apart)
        erase_unread(op.results[0] for op in operations(module, "memref.alloc"))

    def _is_worth(self, found: Convolution) -> bool:
        rows = found.size(found.m)
        return rows >= _LEAST_ROWS and rows * found.size((found.n, *found.k)) >= self.min_size

    def _replace(
        self, op: ir.Operation, found: Convolution, target: KernelTarget, functions: KernelFunctions
    ) -> None:
        made = convolution_function(found, target, functions, parallel=self.parallel)
        with ir.InsertionPoint(op), op.location:
            buffers = [
                _image(found, op.location),
                *(leaf.buffer for leaf in (*found.right.leaves, found.out)),
            ]
            arguments = [*map(start_of, buffers), scratch(made.scratch)]
            functions.call(made.name, arguments)
        op.erase()


def _image(found: Convolution, place: ir.Location) -> ir.Value:
    """The left operand in f32: the buffer itself, or one that its producer is computed into."""
    source = found.left.buffer
    computed = body_slice(found.left_root)
    if computed is None or not computed[0]:
        return source
    (ops, (argument,)), rank = computed, source.type.rank
    result = memref.alloc(ir.MemRefType.get(source.type.shape, ir.F32Type.get()), [], [])
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([identity, identity]),
        "iterator_types": ir.ArrayAttr.get([parallel] * rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
    }
    generic = ir.Operation.create(
        "linalg.generic", [], [source, result], attributes=attributes, regions=1
    )
    types = [argument.type, ir.F32Type.get()]
    block = ir.Block.create_at_start(generic.regions[0], types, [place] * 2)
    mapping: dict[ir.Value, ir.Value] = {argument: block.arguments[0]}
    with ir.InsertionPoint(block):
        for op in ops:
            clone_op(op, mapping)
        ir.Operation.create("linalg.yield", [], [mapping[found.left_root]])
    return result
