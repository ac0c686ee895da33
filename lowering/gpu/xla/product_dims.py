"""The dimensions of a dot whose operands a kernel takes as matrices."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.lowering.rewriting.stablehlo import build


@dataclass(frozen=True)
class Dims:
    """Of each operand the free, the contracted and the batching dimensions."""

    free: tuple[list[int], list[int]]
    contracted: tuple[list[int], list[int]]
    batching: tuple[list[int], list[int]]

    @property
    def has_batches(self) -> bool:
        return bool(self.batching[0])

    def rows(self, side: int) -> list[int]:
        """The dimensions that become rows of a matrix, one batch behind the other."""
        return [*self.batching[side], *self.free[side]]

    @property
    def k_major(self) -> bool:
        """Of B: whether what is contracted comes last."""
        return self.contracted[1] == sorted(self.contracted[1]) and (
            self.contracted[1] > self.free[1]
        )

    @property
    def is_matrix(self) -> bool:
        """Whether B is a matrix as it lies in memory."""
        order = [*self.free[1], *self.contracted[1]]
        other = [*self.contracted[1], *self.free[1]]
        return sorted(order) in (order, other)


def dims_of(op: ir.Operation) -> Dims:
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    contracted = (
        list(numbers.lhs_contracting_dimensions),
        list(numbers.rhs_contracting_dimensions),
    )
    batching = (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions))
    ranks = [ir.RankedTensorType(each.type).rank for each in list(op.operands)[:2]]
    free = (
        [i for i in range(ranks[0]) if i not in (*contracted[0], *batching[0])],
        [i for i in range(ranks[1]) if i not in (*contracted[1], *batching[1])],
    )
    return Dims(free, contracted, batching)


def permuted(x: ir.Value, order: list[int]) -> ir.Value:
    if order == sorted(order):
        return x
    type_ = ir.RankedTensorType(x.type)
    moved = ir.RankedTensorType.get([type_.shape[i] for i in order], type_.element_type)
    return build("transpose", moved, [x], {"permutation": ir.DenseI64ArrayAttr.get(order)})


def reshaped(x: ir.Value, sizes: list[int]) -> ir.Value:
    type_ = ir.RankedTensorType(x.type)
    if list(type_.shape) == sizes:
        return x
    return build("reshape", ir.RankedTensorType.get(sizes, type_.element_type), [x])
