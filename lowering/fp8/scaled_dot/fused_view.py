"""A fused op as the kernels of a target see it: sizes of its sides, blocks of its scales."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_product_parts import Product, product_parts
from mlir_fp8.lowering.fp8.scaled_dot.swizzle import come_in_tiles
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number


@dataclass(frozen=True)
class Side:
    """The left or right operand of a product.

    `scale` is the shape of its scale, None where it has none. `converts_scale` tells whether the
    program converts the scale to the type of the step that applies it. `innermost` is the dimension
    that is contiguous in memory, where the data is stored as it was before transposes. `is_tiled`
    tells whether the program takes the scale in tiles, as swizzle.py has them.
    """

    part: str
    element: str
    shape: tuple[int, ...]
    contracting: tuple[int, ...]
    batching: tuple[int, ...]
    scale: tuple[int, ...] | None
    scale_element: str | None
    converts_scale: bool
    innermost: int
    is_tiled: bool = False

    @property
    def free(self) -> tuple[int, ...]:
        """The dimensions that are neither batching nor contracting."""
        taken = {*self.contracting, *self.batching}
        return tuple(i for i in range(len(self.shape)) if i not in taken)

    def size(self, dimensions: tuple[int, ...]) -> int:
        """The product of the sizes of these dimensions."""
        return math.prod(self.shape[i] for i in dimensions)

    @property
    def is_per_tensor(self) -> bool:
        return self.scale is None or math.prod(self.scale) == 1

    @property
    def block(self) -> tuple[int, ...]:
        """How many elements share one scale, by dimension; without a scale, all do."""
        counts = self.scale or (1,) * len(self.shape)
        return tuple(size // max(1, count) for size, count in zip(self.shape, counts, strict=True))

    @property
    def is_per_row(self) -> bool:
        """One scale for each index of the free dimensions: per row of A, per column of B."""
        wanted = tuple(n if i in self.free else 1 for i, n in enumerate(self.shape))
        return self.scale == wanted


@dataclass(frozen=True)
class Form:
    """What a fused op does not tell about the program that it was made of, as far as it is known.

    `element` is the element type that the program's own product gives: a dot that gives FP8 by
    itself and one with a cast behind it are the same fused op. `operands` are the element types of
    what the product multiplies, FP8 or dequantized. `between` has, by "lhs" and "rhs", the names of
    the ops between the dequantize and the product, the last one first. `converts_amax`: amax is
    taken of the value after a conversion.
    """

    element: str | None = None
    operands: tuple[str, ...] = ()
    between: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    converts_amax: bool = False


class FusedView:
    """Reads one fused op; names of types are MLIR's."""

    def __init__(self, op: ir.Operation, form: Form) -> None:
        self.parts: Product = product_parts(op)
        self.location = op.location
        self.form = form

    @property
    def is_convolution(self) -> bool:
        return not self.parts.is_dot

    @property
    def result(self) -> str:
        """The element type of D."""
        return _element(self.parts.op.results[0])

    @property
    def operand_type(self) -> str | None:
        return None if self.parts.operand_type is None else str(self.parts.operand_type)

    @property
    def dot_type(self) -> str:
        return str(self.parts.dot_type)

    @property
    def epilogue_type(self) -> str:
        return str(self.parts.epilogue_type)

    @property
    def bias(self) -> str | None:
        """The element type of the bias."""
        return None if self.parts.bias is None else _element(self.parts.bias)

    @property
    def has_steps(self) -> bool:
        """Whether anything but a conversion follows the product."""
        parts = self.parts
        operands = (parts.c, parts.bias, parts.d_scale)
        is_active = parts.activation != "none" or parts.alpha is not None or parts.saturate
        return is_active or parts.amax or any(each is not None for each in operands)

    @property
    def converts_output_scale(self) -> bool:
        scale = self.parts.d_scale
        return scale is not None and _is_converted(scale, self.epilogue_type)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """The left and the right operand; of a convolution without the roles of dimensions."""
        parts = self.parts
        empty = (), ()
        lhs, rhs = empty, empty
        if parts.is_dot:
            of = _stablehlo.DotDimensionNumbers(parts.op.attributes["dot_dimension_numbers"])
            lhs = tuple(of.lhs_batching_dimensions), tuple(of.lhs_contracting_dimensions)
            rhs = tuple(of.rhs_batching_dimensions), tuple(of.rhs_contracting_dimensions)
        return (
            self._side("lhs", parts.a, parts.a_scale, *lhs),
            self._side("rhs", parts.b, parts.b_scale, *rhs),
        )

    def _side(
        self,
        part: str,
        data: ir.Value,
        scale: ir.Value | None,
        batching: tuple[int, ...],
        contracting: tuple[int, ...],
    ) -> Side:
        wanted = self.operand_type or "f32"
        return Side(
            part=part,
            element=_element(data),
            shape=shape(data),
            contracting=contracting,
            batching=batching,
            scale=None if scale is None else shape(scale),
            scale_element=None if scale is None else _element(scale),
            converts_scale=scale is not None and _is_converted(scale, wanted),
            innermost=_innermost(data),
            is_tiled=(
                scale is not None and len(contracting) == 1 and come_in_tiles(scale, contracting[0])
            ),
        )


def _element(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def _innermost(data: ir.Value) -> int:
    op, last = producer(data), len(shape(data)) - 1
    if op is None or op.name != "stablehlo.transpose":
        return last
    permutation = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    return permutation.index(_innermost(op.operands[0]))


def _is_converted(scale: ir.Value, wanted: str) -> bool:
    """Whether the scale, no constant, becomes `wanted` by a convert, or has been converted last."""
    if splat_number(scale) is not None:
        return False
    op = producer(scale)
    while op is not None and op.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
        op = producer(op.operands[0])
    return _element(scale) != wanted or (op is not None and op.name == "stablehlo.convert")
