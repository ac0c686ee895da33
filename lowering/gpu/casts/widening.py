"""Casts of f8 to wider floats by `cvt.rn.f16x2`, with the bits that the CPU gives a NaN."""

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.gpu.casts.pairs import bits_of, in_pairs, integer


def widened(x: ir.Value, result: ir.Type, source: str) -> ir.Value:
    """`x` of f8 `source` in the type `result` of f32, f16 or bf16: exact, NaN with its sign.

    As the CPU has it, a NaN keeps its payload: of f8E5M2 in f32, quiet in f16; not in bf16.
    """
    codes = arith.bitcast(with_element(x.type, integer(8)), x)
    target = result.element_type if isinstance(result, ir.VectorType) else result
    half = _f16_of(codes, source)
    if isinstance(target, ir.F16Type):
        return _nan_as(codes, source, half, _f16_nan(codes, source))
    wide = arith.extf(with_element(x.type, ir.F32Type.get()), half)
    if isinstance(target, ir.F32Type):
        return _nan_as(codes, source, wide, _f32_nan(codes, source))
    # The lower half of every number is zero.
    upper = arith.shrui(bits_of(wide, 32), constant(x.type, integer(32), 16))
    upper = arith.trunci(with_element(x.type, integer(16)), upper)
    number = arith.bitcast(result, upper)
    return _nan_as(codes, source, number, _shifted(codes, 16, 0x80, 8, 0x7FC0))


def _f16_of(codes: ir.Value, source: str) -> ir.Value:
    """The numbers as f16; f8E5M2 is the upper half of one."""
    f16 = with_element(codes.type, ir.F16Type.get())
    if source == "f8E5M2":
        return arith.bitcast(f16, _shifted(codes, 16, 0xFF, 8, 0))
    pair = ir.VectorType.get([2], ir.F16Type.get())

    def converted(two: ir.Value) -> ir.Value:
        op = ir.Operation.create(
            "nvvm.convert.f8x2.to.f16x2",
            results=[pair],
            operands=[two],
            attributes={"srcType": ir.TypeAttr.get(ir.Type.parse(source))},
        )
        word = ir.Operation.create(
            "vector.bitcast",
            results=[ir.VectorType.get([1], integer(32))],
            operands=[op.results[0]],
        )
        position = ir.DenseI64ArrayAttr.get([0])
        return ir.Operation.create(
            "vector.extract",
            results=[integer(32)],
            operands=[word.results[0]],
            attributes={"static_position": position},
        ).results[0]

    halves = in_pairs(codes, integer(16), converted, integer(32))
    return arith.bitcast(f16, halves)


def _f16_nan(codes: ir.Value, source: str) -> ir.Value:
    if source == "f8E5M2":
        return _shifted(codes, 16, 0xFF, 8, 0x7E00)  # with the bit that makes it quiet
    return _shifted(codes, 16, 0x80, 8, 0x7E00)


def _f32_nan(codes: ir.Value, source: str) -> ir.Value:
    sign = _shifted(codes, 32, 0x80, 24, 0x7F800000)
    if source == "f8E5M2":
        return arith.ori(sign, _shifted(codes, 32, 0x03, 21, 0))
    return arith.ori(sign, constant(codes.type, integer(32), 0x00400000))


def _shifted(codes: ir.Value, width: int, mask: int, shift: int, bits: int) -> ir.Value:
    """`(code & mask) << shift | bits` in integers of `width`."""
    wide = arith.extui(with_element(codes.type, integer(width)), codes)
    kept = arith.andi(wide, constant(codes.type, integer(width), mask))
    moved = arith.shli(kept, constant(codes.type, integer(width), shift))
    return arith.ori(moved, constant(codes.type, integer(width), bits))


def _nan_as(codes: ir.Value, source: str, number: ir.Value, nan_bits: ir.Value) -> ir.Value:
    """`number`, but for the codes of NaN the number of `nan_bits`."""
    fmt = FORMATS[source]
    i8 = integer(8)
    magnitude = arith.andi(codes, constant(codes.type, i8, fmt.magnitude_mask))
    last = constant(codes.type, i8, fmt.infinity_code or fmt.max_code)
    is_nan = arith.cmpi(arith.CmpIPredicate.ugt, magnitude, last)
    return arith.select(is_nan, arith.bitcast(number.type, nan_bits), number)
