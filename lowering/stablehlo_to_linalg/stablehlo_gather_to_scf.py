"""`stablehlo.gather` to loops.

`stablehlo-legalize-to-linalg` has a pattern for it, but takes ui64 indices from 2^63 up for
negative, and confuses or crashes on batching dims of the indices that come after the index vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, tensor

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import (
    IndexedDims,
    IndexedLoops,
    replace_all,
    signed_indices,
)


@dataclass(frozen=True)
class StablehloGatherToScf(ModulePass):
    """Replace every `stablehlo.gather` by an `scf.for` nest that fills the result.

    Start indices are clamped so that the whole slice is in bounds, as the StableHLO specification
    asks. Each index vector is read once per slice.
    """

    def run(self, module: ir.Operation) -> None:
        replace_all(operations(module, "stablehlo.gather", inner_first=True), _lower)


def _check_slices(op: ir.Operation) -> None:
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    sizes = ir.DenseI64ArrayAttr(op.attributes["slice_sizes"])
    for dim in numbers.collapsed_slice_dims:
        if sizes[dim] == 0 and 0 not in op.results[0].type.shape:
            raise op_error(
                op,
                f"collapses dim {dim} with a slice size of 0, so that there is no element to read"
                " for its result: give the dim a slice size of 1",
            )


def _lower(op: ir.Operation) -> list[ir.Value]:
    _check_slices(op)
    operand, indices = op.operands
    result = op.results[0].type
    empty = tensor.empty(result.shape, result.element_type)
    if 0 in result.shape:
        return [empty]
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    dims = IndexedDims(
        operand_shape=operand.type.shape,
        window_shape=result.shape,
        window_dims=numbers.offset_dims,
        removed_dims=numbers.collapsed_slice_dims,
        batching_dims=numbers.operand_batching_dims,
        indices_batching_dims=numbers.start_indices_batching_dims,
        mapped_dims=numbers.start_index_map,
        index_vector_dim=numbers.index_vector_dim,
    )
    slice_sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    return _GatherLoops(dims, signed_indices(indices), operand, slice_sizes).emit([empty])


class _GatherLoops(IndexedLoops):
    def __init__(
        self, dims: IndexedDims, indices: ir.Value, operand: ir.Value, slice_sizes: Sequence[int]
    ) -> None:
        super().__init__(dims, indices)
        self._operand = operand
        self._last_starts = {
            dim: self.constant(dims.operand_shape[dim] - slice_sizes[dim])
            for dim in dims.mapped_dims
        }

    def adjust_start(self, dim: int, start: ir.Value) -> ir.Value:
        # Unsigned, though nothing is negative here: LLVM's SLP vectorizer narrows a signed minimum
        # with 1 to one bit, where 1 is -1.
        return arith.minui(arith.maxsi(start, self.constant(0)), self._last_starts[dim])

    def check_place(self, dim: int, place: ir.Value) -> ir.Value | None:
        return None

    def emit_element(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        element = tensor.extract(self._operand, self.operand_place())
        return [tensor.insert(element, tensors[0], self.position)]
