"""A fused op, read: the sizes, types and options of an `fp8.scaled_dot` or `scaled_convolution`."""

import math
from dataclasses import dataclass
from functools import cached_property

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

_OPERANDS = ("a", "b", "a_scale", "b_scale", "c", "bias", "d_scale")


@dataclass(frozen=True)
class Side:
    """The left or right operand of a product.

    `free` are its dimensions that are neither batching nor contracting. `scale` is None where there
    is none, else its shape: rank 0, or the operand's rank.
    """

    part: str
    element: str
    shape: tuple[int, ...]
    contracting: tuple[int, ...]
    batching: tuple[int, ...]
    scale: tuple[int, ...] | None
    scale_element: str | None
    converts_scale: bool
    """Whether the program converts the scale to the type that the operand is dequantized in."""

    @property
    def free(self) -> tuple[int, ...]:
        taken = {*self.contracting, *self.batching}
        return tuple(i for i in range(len(self.shape)) if i not in taken)

    def size(self, dimensions: tuple[int, ...]) -> int:
        """The product of the sizes; negative where one of them is open."""
        sizes = [self.shape[i] for i in dimensions]
        return -1 if min(sizes, default=0) < 0 else math.prod(sizes)

    @property
    def is_per_tensor(self) -> bool:
        return self.scale is None or math.prod(self.scale) == 1

    @property
    def block(self) -> tuple[int, ...]:
        """How many elements of each dimension share one scale, where there is a scale of any."""
        assert self.scale is not None
        scale = self.scale or (1,) * len(self.shape)
        return tuple(size // max(1, count) for size, count in zip(self.shape, scale, strict=True))

    @property
    def is_per_row(self) -> bool:
        """One scale for each index of the free dimensions: per row of A, per column of B."""
        if self.scale is None or len(self.scale) != len(self.shape):
            return False
        wanted = [self.shape[i] if i in self.free else 1 for i in range(len(self.shape))]
        return list(self.scale) == wanted


class FusedView:
    """Reads one fused op. Names and types are those of the dialect's documentation."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self.location = op.location
        self.is_convolution = op.name == "fp8.scaled_convolution"
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        operands = iter(op.operands)
        self._operands = {
            name: next(operands) if size else None
            for name, size in zip(_OPERANDS, sizes, strict=True)
        }

    def operand(self, name: str) -> ir.Value | None:
        return self._operands[name]

    def element(self, name: str) -> str | None:
        """The element type of an operand; None where there is no such operand."""
        value = self._operands[name]
        return None if value is None else _element(value)

    @property
    def result(self) -> str:
        """The element type of D."""
        return _element(self.op.results[0])

    @property
    def saturates(self) -> bool:
        return self.flag("saturate")

    def flag(self, name: str) -> bool:
        attributes = self.op.attributes
        return name in attributes and str(attributes[name]) != "false"

    def type_attribute(self, name: str) -> str | None:
        attributes = self.op.attributes
        return str(ir.TypeAttr(attributes[name]).value) if name in attributes else None

    @property
    def dot_type(self) -> str:
        default = "f32" if self._has_epilogue else self.result
        return self.type_attribute("dot_type") or default

    @property
    def epilogue_type(self) -> str:
        return self.type_attribute("epilogue_type") or self.dot_type

    @property
    def activation(self) -> str:
        attributes = self.op.attributes
        return (
            ir.StringAttr(attributes["activation"]).value if "activation" in attributes else "none"
        )

    def number(self, name: str) -> float | None:
        attributes = self.op.attributes
        return float(ir.FloatAttr(attributes[name]).value) if name in attributes else None

    @property
    def _has_epilogue(self) -> bool:
        names = ("c", "bias", "d_scale")
        return any(self._operands[name] is not None for name in names) or self.flag("saturate")

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """The left and the right operand of a dot; of a convolution without its dimensions."""
        lhs_batch: tuple[int, ...] = ()
        rhs_batch: tuple[int, ...] = ()
        lhs_sum: tuple[int, ...] = ()
        rhs_sum: tuple[int, ...] = ()
        if not self.is_convolution:
            numbers = _stablehlo.DotDimensionNumbers(self.op.attributes["dot_dimension_numbers"])
            lhs_batch = tuple(numbers.lhs_batching_dimensions)
            rhs_batch = tuple(numbers.rhs_batching_dimensions)
            lhs_sum = tuple(numbers.lhs_contracting_dimensions)
            rhs_sum = tuple(numbers.rhs_contracting_dimensions)
        return self._side("a", "lhs", lhs_batch, lhs_sum), self._side(
            "b", "rhs", rhs_batch, rhs_sum
        )

    def _side(
        self, name: str, part: str, batching: tuple[int, ...], contracting: tuple[int, ...]
    ) -> Side:
        data, scale = self._operands[name], self._operands[f"{name}_scale"]
        assert data is not None
        shape = tuple(_shape(data))
        operand_type = self.type_attribute("operand_type")
        if scale is None:
            return Side(part, _element(data), shape, contracting, batching, None, None, False)
        element = _element(scale)
        converts = operand_type is not None and (element != operand_type or _is_converted(scale))
        scale_shape = tuple(_shape(scale))
        return Side(
            part, _element(data), shape, contracting, batching, scale_shape, element, converts
        )


def _element(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def _shape(value: ir.Value) -> list[int]:
    type_ = ir.RankedTensorType(value.type)
    return [-1 if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank)]


def _is_converted(scale: ir.Value) -> bool:
    """Whether a convert is the last op on the scale but for changes of its shape."""
    owner = scale.owner
    while isinstance(owner, ir.Operation | ir.OpView):
        op = owner.operation
        if op.name not in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
            return op.name == "stablehlo.convert"
        owner = op.operands[0].owner
    return False
