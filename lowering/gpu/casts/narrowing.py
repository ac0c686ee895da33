"""Casts to f8 by `cvt.rn.satfinite`, with selects where the program's cast does not saturate.

The instructions (PTX ISA, `cvt`) round to nearest, ties to even, give the largest value for what is
beyond it, infinity too, and one positive NaN, 0x7F, for every NaN.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.codec.float_codec import bits_in, constant, with_element
from mlir_fp8.lowering.gpu.casts.pairs import bits_of, in_pairs, integer

_UGT = arith.CmpIPredicate.ugt


def narrowed(x: ir.Value, result: ir.Type, target: str, *, saturate: bool) -> ir.Value:
    """`x`, f32, f16 or bf16, as `result` of f8 `target`: what `float_codec.encode` gives."""
    element = x.type.element_type if isinstance(x.type, ir.VectorType) else x.type
    if isinstance(element, ir.BF16Type):
        x = arith.extf(with_element(x.type, ir.F32Type.get()), x)  # exact
        element = ir.F32Type.get()
    i8 = integer(8)
    codes = in_pairs(x, i8, lambda pair: _converted(pair, target), integer(16))
    wide, fmt = FORMATS[str(element)], FORMATS[target]
    bits = bits_of(x, wide.bits)
    magnitude = arith.andi(bits, _number(bits, wide.magnitude_mask))
    if not saturate:
        # A tie at the end of the range goes to the even code: to the largest of E4M3, not of E5M2.
        half = fmt.max + (fmt.max - fmt.magnitude(fmt.max_code - 1)) / 2
        last = bits_in(wide, half) - (0 if fmt.max_code % 2 == 0 else 1)
        codes = _where(magnitude, last, fmt.overflow_code, codes)
    if fmt.infinity_code is not None:
        codes = _where(magnitude, wide.infinity_code or 0, fmt.nan_code or 0, codes)
    shift = arith.shrui(bits, _number(bits, wide.bits - 8))
    sign = arith.andi(shift, _number(bits, 0x80))
    sign = arith.trunci(with_element(x.type, i8), sign)
    return arith.bitcast(result, arith.ori(codes, sign))  # which only a NaN lacks


def _where(magnitude: ir.Value, last: int, code: int, otherwise: ir.Value) -> ir.Value:
    """`code` where a magnitude's bits are above `last`."""
    above = arith.cmpi(_UGT, magnitude, _number(magnitude, last))
    return arith.select(above, _number(otherwise, code), otherwise)


def _number(like: ir.Value, number: int) -> ir.Value:
    element = like.type.element_type if isinstance(like.type, ir.VectorType) else like.type
    return constant(like.type, element, number)


def _converted(pair: ir.Value, target: str) -> ir.Value:
    """Two codes, the first in the low byte, of a vector of two f32 or f16."""
    is_f32 = isinstance(ir.VectorType(pair.type).element_type, ir.F32Type)
    attributes: dict[str, ir.Attribute] = {"dstTy": ir.TypeAttr.get(ir.Type.parse(target))}
    operands = [pair]
    if is_f32:
        attributes["rnd"] = ir.Attribute.parse("#nvvm.fp_rnd_mode<rn>")
        attributes["sat"] = ir.Attribute.parse("#nvvm.sat_mode<satfinite>")
        ends = [ir.DenseI64ArrayAttr.get([at]) for at in (1, 0)]
        operands = [
            ir.Operation.create(
                "vector.extract",
                results=[ir.F32Type.get()],
                operands=[pair],
                attributes={"static_position": at},
            ).results[0]
            for at in ends
        ]
    op = ir.Operation.create(
        f"nvvm.convert.{'f32' if is_f32 else 'f16'}x2.to.f8x2",
        results=[integer(16)],
        operands=operands,
        attributes=attributes,
    )
    return op.results[0]
