"""Eigenvectors of real matrices: LAPACK packs those of a pair of complex eigenvalues as two reals.

The first of a pair (its eigenvalue has a positive imaginary part) is v(j) + i v(j+1), the second
its conjugate; other vectors are real. https://netlib.org/lapack, dgeev.
"""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import build, with_element


def unpacked(imaginary: ir.Value, packed: ir.Value) -> ir.Value:
    """Complex vectors of `packed`, one along the last dim for each of `imaginary` parts."""
    type_ = ir.RankedTensorType(packed.type)
    dims = ir.DenseI64ArrayAttr.get(list(range(type_.rank - 1)))
    parts = build("broadcast_in_dim", type_, [imaginary], {"broadcast_dimensions": dims})
    zero = ir.FloatAttr.get(type_.element_type, 0.0)
    zeros = build("constant", type_, [], {"value": ir.DenseElementsAttr.get_splat(type_, zero)})
    is_first, is_second = (_compared(parts, zeros, how) for how in ("GT", "LT"))
    following, before = (_shifted(packed, zero, by) for by in (1, -1))
    real = build("select", type_, [is_second, before, packed])
    minus = build("negate", type_, [packed])
    second = build("select", type_, [is_second, minus, zeros])
    imag = build("select", type_, [is_first, following, second])
    element = ir.ComplexType.get(type_.element_type)
    return build("complex", with_element(type_, element), [real, imag])


def _compared(left: ir.Value, right: ir.Value, direction: str) -> ir.Value:
    how = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    type_ = with_element(left.type, ir.IntegerType.get_signless(1))
    return build("compare", type_, [left, right], {"comparison_direction": how})


def _shifted(value: ir.Value, zero: ir.Attribute, by: int) -> ir.Value:
    """Each vector's neighbour: the one after it, or before where `by` is negative."""
    type_ = ir.RankedTensorType(value.type)
    scalar = ir.RankedTensorType.get([], type_.element_type)
    padding = build("constant", scalar, [], {"value": ir.DenseElementsAttr.get_splat(scalar, zero)})

    def along(amount: int) -> ir.Attribute:
        amounts: Sequence[int] = [0] * (type_.rank - 2) + [amount, 0]
        return ir.DenseI64ArrayAttr.get(list(amounts))

    edges = {
        "edge_padding_low": along(-by),
        "edge_padding_high": along(by),
        "interior_padding": along(0),
    }
    return build("pad", type_, [value, padding], edges)
