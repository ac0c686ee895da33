"""`stablehlo.scatter` to loops; `stablehlo-legalize-to-linalg` has no pattern for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, tensor

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import convert
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import (
    IndexedDims,
    IndexedLoops,
    replace_all,
    signed_indices,
)
from mlir_fp8.lowering.stablehlo_to_linalg._scalar_body import inline_body


@dataclass(frozen=True)
class StablehloScatterToScf(ModulePass):
    """Replace every `stablehlo.scatter` by an `scf.for` nest that carries the results.

    The updates are applied in the lexicographic order of their index, one of the orders the
    StableHLO specification leaves open. An update whose result index is out of bounds is skipped.
    The update computation stays as rank-0 tensor ops. After bufferization the loops write in place.
    """

    def run(self, module: ir.Operation) -> None:
        replace_all(operations(module, "stablehlo.scatter", inner_first=True), _lower)


def _lower(op: ir.Operation) -> list[ir.Value]:
    operands = list(op.operands)
    count = len(op.results)
    body = op.regions[0].blocks[0]
    # The update computation may be wider than the inputs; its types are those of the results.
    converted = [
        convert(value, argument.type.element_type)
        for value, argument in zip(
            operands[:count] + operands[count + 1 :], body.arguments, strict=True
        )
    ]
    inputs, updates = converted[:count], converted[count:]
    if 0 in inputs[0].type.shape or 0 in updates[0].type.shape:
        return inputs
    numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    dims = IndexedDims(
        operand_shape=inputs[0].type.shape,
        window_shape=updates[0].type.shape,
        window_dims=numbers.update_window_dims,
        removed_dims=numbers.inserted_window_dims,
        batching_dims=numbers.input_batching_dims,
        indices_batching_dims=numbers.scatter_indices_batching_dims,
        mapped_dims=numbers.scattered_dims_to_operand_dims,
        index_vector_dim=numbers.index_vector_dim,
    )
    return _ScatterLoops(dims, signed_indices(operands[count]), updates, body).emit(inputs)


class _ScatterLoops(IndexedLoops):
    def __init__(
        self, dims: IndexedDims, indices: ir.Value, updates: Sequence[ir.Value], body: ir.Block
    ) -> None:
        super().__init__(dims, indices)
        self._updates = updates
        self._body = body

    def adjust_start(self, dim: int, start: ir.Value) -> ir.Value:
        return start

    def check_place(self, dim: int, place: ir.Value) -> ir.Value | None:
        # Elsewhere the verifier's constraints on window and batching sizes keep it in bounds.
        if dim not in self.dims.mapped_dims:
            return None
        # Start + offset may wrap, but only to a negative number, which no unsigned bound admits.
        size = self.constant(self.dims.operand_shape[dim])
        return arith.cmpi(arith.CmpIPredicate.ult, place, size)

    def emit_element(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """Move the update computation here, between the reads and the writes of one element."""
        place = self.operand_place()
        elements = [tensor.extract(value, place) for value in tensors]
        elements += [tensor.extract(value, self.position) for value in self._updates]
        return [
            tensor.insert(value, carried, place)
            for value, carried in zip(inline_body(self._body, elements), tensors, strict=True)
        ]
