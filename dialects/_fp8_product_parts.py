"""A scaled product taken apart: its operands by name and its attributes with their defaults."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.dialects._fp8_attributes import SIZES, float_of, is_set, string_of, type_of

OPERANDS = ("a", "b", "a_scale", "b_scale", "c", "bias", "d_scale")
FLAGS = ("a_inverse", "b_inverse", "d_inverse", "saturate", "amax", "fast_accum")
ACTIVATIONS = ("none", "relu", "gelu_tanh", "gelu_erf")


@dataclass(frozen=True)
class Product:
    """The parts of a valid `fp8.scaled_dot` or `fp8.scaled_convolution`; see `ScaledDot`."""

    op: ir.Operation
    a: ir.Value
    b: ir.Value
    a_scale: ir.Value | None
    b_scale: ir.Value | None
    c: ir.Value | None
    bias: ir.Value | None
    d_scale: ir.Value | None
    a_inverse: bool
    b_inverse: bool
    d_inverse: bool
    saturate: bool
    amax: bool
    fast_accum: bool
    operand_type: ir.Type | None
    dot_type: ir.Type
    epilogue_type: ir.Type
    alpha: float | None
    beta: float | None
    activation: str

    @property
    def is_dot(self) -> bool:
        return self.op.name == "fp8.scaled_dot"

    @property
    def bias_dimension(self) -> int:
        """The dimension of the result that `bias` runs along."""
        if self.is_dot:
            return ir.RankedTensorType(self.op.results[0].type).rank - 1
        numbers = _stablehlo.ConvDimensionNumbers(self.op.attributes["dimension_numbers"])
        return numbers.output_feature_dimension


def product_parts(op: ir.Operation, operands: Sequence[ir.Value] | None = None) -> Product:
    """The parts of `op`, with other values in the place of its operands where they are given."""
    values = named_operands(op, list(op.operands) if operands is None else operands)
    dot_type = type_of(op, "dot_type") or ir.F32Type.get(op.context)
    return Product(
        op=op,
        a=values["a"],
        b=values["b"],
        a_scale=values.get("a_scale"),
        b_scale=values.get("b_scale"),
        c=values.get("c"),
        bias=values.get("bias"),
        d_scale=values.get("d_scale"),
        a_inverse=is_set(op, "a_inverse"),
        b_inverse=is_set(op, "b_inverse"),
        d_inverse=is_set(op, "d_inverse"),
        saturate=is_set(op, "saturate"),
        amax=is_set(op, "amax"),
        fast_accum=is_set(op, "fast_accum"),
        operand_type=type_of(op, "operand_type"),
        dot_type=dot_type,
        epilogue_type=type_of(op, "epilogue_type") or dot_type,
        alpha=float_of(op, "alpha"),
        beta=float_of(op, "beta"),
        activation=string_of(op, "activation", "none"),
    )


def named_operands(
    op: ir.Operation, operands: Sequence[ir.Value], names: Sequence[str] = OPERANDS
) -> dict[str, ir.Value]:
    """`operands` by their `names` in `op`, without those that are left out."""
    sizes = ir.DenseI32ArrayAttr(op.attributes[SIZES])
    present = [name for name, size in zip(names, sizes, strict=True) if size]
    return dict(zip(present, operands, strict=True))
