"""Weights as panels of columns: the layout that kernels read in place, in StableHLO's words.

A packed weight is an argument of its own shape; a reshape, a transpose and a slice of it are the
matrix, so that the module means the same to whoever runs it.
"""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.fp8.ops.scaling import number, with_shape
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.rewriting.stablehlo import build

PACKED = "mlir_fp8.packed"
"""On an argument, the numbers of its `PackedLayout`, or the type of what its `BitLayout` is of."""


@dataclass(frozen=True)
class PackedLayout:
    """A matrix of `shape` in panels of `width` columns, of `unit` summands side by side.

    Dimension `summed` is contracted, the other one has the columns. The packed shape is
    `(columns / width, summands / unit, width, unit)`, without the last where `unit` is 1; zeros are
    beyond the last column.
    """

    shape: tuple[int, int]
    summed: int
    width: int
    unit: int

    def attribute(self) -> ir.Attribute:
        """The numbers in order, as an array."""
        return ir.DenseI64ArrayAttr.get([*self.shape, self.summed, self.width, self.unit])

    @property
    def _summands(self) -> int:
        return self.shape[self.summed]

    @property
    def _count(self) -> int:
        return math.ceil(self.shape[1 - self.summed] / self.width)

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """The shape of the argument."""
        units = (self.unit,) if self.unit > 1 else ()
        return (self._count, self._summands // self.unit, self.width, *units)

    @property
    def _apart(self) -> tuple[list[int], list[int]]:
        """The whole matrix with its dimensions split, and where those are in the packed shape."""
        columns, units = [self._count, self.width], [self._summands // self.unit]
        of_columns, of_units = [0, 2], [1]
        if self.unit > 1:
            units, of_units = [*units, self.unit], [*of_units, 3]
        if self.summed == 0:
            return [*units, *columns], [*of_units, *of_columns]
        return [*columns, *units], [*of_columns, *of_units]

    @property
    def _whole(self) -> list[int]:
        """The shape of the matrix with whole panels."""
        shape = [*self.shape]
        shape[1 - self.summed] = self._count * self.width
        return shape

    def packed_type(self, type_: ir.Type) -> ir.Type:
        """The type of the argument, of a matrix of `type_`."""
        element = ir.RankedTensorType(type_).element_type
        return ir.RankedTensorType.get(list(self.packed_shape), element)

    def matrix(self, packed: ir.Value) -> ir.Value:
        """The matrix of `packed`, at the insertion point."""
        apart, places = self._apart
        order = ir.DenseI64ArrayAttr.get(places)
        moved = build("transpose", with_shape(packed, apart), [packed], {"permutation": order})
        whole = build("reshape", with_shape(packed, self._whole), [moved])
        if self._whole == [*self.shape]:
            return whole
        numbers = {"start_indices": [0, 0], "limit_indices": self.shape, "strides": [1, 1]}
        attributes = {key: ir.DenseI64ArrayAttr.get(list(each)) for key, each in numbers.items()}
        return build("slice", with_shape(packed, self.shape), [whole], attributes)

    def pack(self, matrix: ir.Value) -> ir.Value:
        """The packed form of `matrix`, at the insertion point."""
        beyond = [a - b for a, b in zip(self._whole, self.shape, strict=True)]
        zero = number(with_shape(matrix, []), 0.0)
        numbers = {
            "edge_padding_low": [0, 0],
            "edge_padding_high": beyond,
            "interior_padding": [0, 0],
        }
        attributes = {key: ir.DenseI64ArrayAttr.get(each) for key, each in numbers.items()}
        whole = build("pad", with_shape(matrix, self._whole), [matrix, zero], attributes)
        apart, places = self._apart
        split = build("reshape", with_shape(matrix, apart), [whole])
        order = ir.DenseI64ArrayAttr.get([places.index(each) for each in range(len(places))])
        type_ = with_shape(matrix, self.packed_shape)
        return build("transpose", type_, [split], {"permutation": order})


Layout = PackedLayout | BitLayout


def packed_layout(attributes: ir.DictAttr) -> Layout | None:
    """That of an argument with such attributes; None for one that is not packed."""
    if PACKED not in attributes:
        return None
    if isinstance(attributes[PACKED], ir.TypeAttr):
        type_ = ir.RankedTensorType(ir.TypeAttr(attributes[PACKED]).value)
        return BitLayout(tuple(type_.shape), str(type_.element_type))
    rows, columns, summed, width, unit = integers(attributes[PACKED])
    return PackedLayout((rows, columns), summed, width, unit)


def integers(attribute: ir.Attribute) -> tuple[int, ...]:
    """The numbers of an array; artifacts have a tensor in its place."""
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return tuple(attribute)
    return tuple(map(int, np.array(ir.DenseIntElementsAttr(attribute))))
