"""`linalg-contract-to-kernels`: contractions become calls of kernels for the vector ISA.

Both operands are packed block by block, which decodes and dequantizes each element once. A
micro-kernel multiplies the blocks, one register tile at a time, with f32 accumulators. Two f8
operands are packed as bf16, which is exact, where the target has dot products of bf16 pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.kernels.contractions.bit_packed import erase_unread_calls
from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    erase_unused,
    ordered_generics,
)
from mlir_fp8.lowering.kernels.contractions.consumers import epilogue_of
from mlir_fp8.lowering.kernels.contractions.contraction import Contraction, contraction
from mlir_fp8.lowering.kernels.contractions.leaves import offset_of
from mlir_fp8.lowering.kernels.contractions.producers import is_unread
from mlir_fp8.lowering.kernels.packed_weights.constants import PackedConstants
from mlir_fp8.lowering.kernels.products.lossy_scales import LossyScales, lossy_scales
from mlir_fp8.lowering.kernels.products.packed_form import packed_form
from mlir_fp8.lowering.kernels.products.product import (
    ProductFunction,
    in_panels,
    oriented,
    product_function,
)
from mlir_fp8.lowering.kernels.vector_code.epilogue import Epilogue
from mlir_fp8.lowering.kernels.vector_code.target import HOST, target_named
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions, start_of, symbols_of
from mlir_fp8.lowering.rewriting.linalg_ops import yield_op

_USUAL_THREADS = 8
"""For how many loops are cut where it is not known."""


@dataclass(frozen=True)
class LinalgContractToKernels(ModulePass):
    """Replace contractions on buffers, from `min_size` multiplications on, by calls of kernels.

    Elementwise ops that follow, and maxima, are fused as epilogues unless `epilogues` is false.
    `target` is the vector ISA: host (this processor's), amx-bf16, avx512-bf16, avx512-vbmi,
    avx512-vnni, avx512, avx2-vnni, avx2, zen (avx2 of AMD), neon-fp8, neon-bf16, neon or baseline.
    Loops of big ones are outlined for `threads`, 0 for as many as the pool has, unless that is 1;
    see `parallel-calls-to-llvm`. With `apart`, kernels are only declared, if they are many: their
    text is the module's attribute `mlir_fp8.kernels`.
    """

    target: str = HOST
    min_size: int = 8192
    threads: int = 1
    epilogues: bool = True
    apart: bool = False

    def run(self, module: ir.Operation) -> None:
        target = target_named(self.target)
        found: list[tuple[ir.Operation, Contraction, BlockOrder]] = []
        constants = PackedConstants(module, target)
        for op, order in ordered_generics(module):
            product = contraction(op, order)
            if product is not None and self._is_worth(product):
                packed = contraction(op, order, panels=True)
                placed = None if packed is None else in_panels(packed, target)
                if placed is None:
                    placed = oriented(product, target)
                    with_panels = constants.packed(op, placed)
                    if with_panels is not None and in_panels(with_panels, target):
                        placed = with_panels
                found.append((op, placed, order))
        if not found:
            return
        functions = KernelFunctions(symbols_of(module))
        # Analyzed before anything is replaced: the orders are those of the module as it is now.
        fills = [each.fill for op, each, order in found if is_unread(each.fill, op, order)]
        products = {op: product for op, product, _ in found}
        epilogues = [
            epilogue_of(op, product, order, products)
            if self.epilogues and not product.is_integer
            else None
            for op, product, order in found
        ]
        for (op, product, _), epilogue in zip(found, epilogues, strict=True):
            threads = self.threads or _USUAL_THREADS
            lossy = lossy_scales(product) if packed_form(product, target) == "bf16" else []
            if lossy and epilogue is not None and epilogue.maxima:
                product, lossy = replace(product, in_f32=True), []
            made = product_function(product, epilogue, target, functions, threads=threads)
            if lossy:
                exact = replace(product, in_f32=True)
                other = product_function(exact, epilogue, target, functions, threads=threads)
                made = replace(made, in_f32=other)
            _replace(op, product, epilogue, made, lossy, functions)
        for fill in fills:
            fill.erase()
        erase_unused(module)
        erase_unread_calls(module)
        constants.erase_unread()
        functions.add_to(module, apart=self.apart)

    def _is_worth(self, product: Contraction) -> bool:
        m, n, k = (product.sizes[d] for d in (product.m, product.n, product.k))
        return m * n * k >= self.min_size


def _replace(
    op: ir.Operation,
    product: Contraction,
    epilogue: Epilogue | None,
    made: ProductFunction,
    lossy: Sequence[LossyScales],
    functions: KernelFunctions,
) -> None:
    for moved in () if epilogue is None else epilogue.moved:
        if op.is_before_in_block(moved):
            moved.move_before(op)
    with ir.InsertionPoint(op), op.location:
        maxima = [] if epilogue is None else [_numbers(made.largest) for _ in epilogue.maxima]
        if made.in_f32 is None:
            _call(product, epilogue, made, maxima, functions)
        else:
            given = [_is_lossy(lossy, functions)]
            branches = ir.Operation.create("scf.if", [], given, regions=2)
            for region, each in zip(branches.regions, (made.in_f32, made), strict=True):
                with ir.InsertionPoint(region.blocks.append()):
                    _call(product, epilogue, each, maxima, functions)
                    scf.YieldOp([])
    if epilogue is not None:
        for (_, asking), buffer in zip(epilogue.maxima, maxima, strict=True):
            _ask(asking, buffer)
        for each in epilogue.ops:
            each.erase()
    op.erase()


def _call(
    product: Contraction,
    epilogue: Epilogue | None,
    made: ProductFunction,
    maxima: Sequence[ir.Value],
    functions: KernelFunctions,
) -> None:
    operands = [*product.left.leaves, *product.right.leaves]
    leaves = [*operands, *([product.out] if made.takes_result else [])]
    leaves += [] if epilogue is None else epilogue.leaves
    buffers = [*(leaf.buffer for leaf in leaves), *maxima]
    scalars = () if epilogue is None else epilogue.scalars
    offsets = [offset_of(leaf.subview) for leaf in operands if leaf.subview is not None]
    functions.call(made.name, [*map(start_of, buffers), *scalars, *offsets])


def _is_lossy(lossy: Sequence[LossyScales], functions: KernelFunctions) -> ir.Value:
    """An i1: whether bf16 would lose numbers of an operand."""
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    flag = memref.alloc(ir.MemRefType.get([1], i32), [], [])
    zero, first = arith.constant(i32, 0), arith.constant(index, 0)
    memref.store(zero, flag, [first])
    for each in lossy:
        arguments: list[ir.Value] = []
        for leaf in (each.scale, each.codes):
            start = arith.constant(index, leaf.offset)
            if leaf.subview is not None:
                start = arith.addi(start, offset_of(leaf.subview))
            arguments += [start_of(leaf.buffer), start]
        name = functions.name_of("lossy_scales", each.text)
        functions.call(name, [*arguments, start_of(flag)])
    return arith.cmpi(arith.CmpIPredicate.ne, memref.load(flag, [first]), zero)


def _numbers(count: int) -> ir.Value:
    type_ = ir.MemRefType.get([count], ir.F32Type.get())
    return memref.alloc(type_, [], [], alignment=64)


def _ask(op: ir.Operation, largest: ir.Value) -> None:
    """Replace `op`, a maximum reduction into its last operand, by that of the partial maxima."""
    out = op.operands[len(op.operands) - 1]
    line, point = ir.AffineMap.get_identity(1), ir.AffineMap.get(1, 0, [])
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            "linalg.generic",
            operands=[largest, out],
            attributes={
                "indexing_maps": ir.ArrayAttr.get(
                    [ir.AffineMapAttr.get(line), ir.AffineMapAttr.get(point)]
                ),
                "iterator_types": ir.Attribute.parse("[#linalg.iterator_type<reduction>]"),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
            },
            regions=1,
        )
        f32 = ir.F32Type.get()
        block = new.regions[0].blocks.append(f32, f32, arg_locs=[op.location] * 2)
        with ir.InsertionPoint(block):
            element, total = block.arguments
            yield_op([arith.maximumf(total, element)])
