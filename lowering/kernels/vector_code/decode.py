"""Decodes small floats to f32 through f16, in fewer instructions than by integer ops.

Scalar ops that decode a code are recognized by evaluating them on all 256 codes, so the match does
not depend on their form.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_HALF = FORMATS["f16"]
_QUIET_NAN = 0x7E00
Op = Callable[[str, str, str], str]
Bits = Callable[[int | None], str]


@functools.cache
def _formats_by_values() -> dict[bytes, FloatFormat]:
    found = {}
    for fmt in SMALL_FLOATS.values():
        if fmt.has_dtype:
            codes = (np.arange(256) & (1 << fmt.bits) - 1).astype(np.uint8).view(fmt.dtype)
            found[_canonical(codes.astype(np.float32))] = fmt
    return found


def _canonical(values: np.ndarray) -> bytes:
    return np.where(np.isnan(values), np.float32(np.nan), values).tobytes()


def decoded_format(ops: Sequence[ir.Operation], code: ir.Value) -> FloatFormat | None:
    """The format whose codes `ops`, in order, turn into f32; None for anything else.

    `code` is the i8 that they start from, with zeros above a code of fewer bits; the result of the
    last op is the number.
    """
    values: dict[ir.Value, np.ndarray] = {code: np.arange(256, dtype=np.uint8)}
    for op in ops:
        result = _evaluated(op, values)
        if result is None:
            return None
        values[op.results[0]] = result
    last = values[ops[-1].results[0]]
    return _formats_by_values().get(_canonical(last)) if last.dtype == np.float32 else None


def _evaluated(op: ir.Operation, values: dict[ir.Value, np.ndarray]) -> np.ndarray | None:
    dtype = _dtype(op.results[0].type)
    if dtype is None:
        return None
    if op.name == "arith.constant":
        number = op.attributes["value"]
        if isinstance(number, ir.IntegerAttr):
            return np.array(number.value).astype(dtype)
        return np.array(ir.FloatAttr(number).value, dtype)
    operands = [values[operand] for operand in op.operands]
    match op.name:
        case "arith.andi":
            return operands[0] & operands[1]
        case "arith.ori":
            return operands[0] | operands[1]
        case "arith.addi":
            return operands[0] + operands[1]
        case "arith.shli":
            return operands[0] << operands[1]
        case "arith.maxui":
            return np.maximum(*operands)
        case "arith.addf":
            return operands[0] + operands[1]
        case "arith.subf":
            return operands[0] - operands[1]
        case "arith.mulf":
            return operands[0] * operands[1]
        case "arith.extui" | "arith.uitofp":
            return operands[0].astype(dtype)
        case "arith.bitcast":
            return operands[0].view(dtype)
        case "arith.select":
            return np.where(*operands)
        case "arith.cmpi":
            return _compared(ir.IntegerAttr(op.attributes["predicate"]).value, *operands)
        case _:
            return None


def _compared(predicate: int, left: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    match arith.CmpIPredicate(predicate):
        case arith.CmpIPredicate.eq:
            return left == right
        case arith.CmpIPredicate.ult:
            return left < right
        case arith.CmpIPredicate.ugt:
            return left > right
        case _:
            return None


def _dtype(type_: ir.Type) -> np.dtype | None:
    if isinstance(type_, ir.IntegerType) and type_.width in (1, 8, 16, 32):
        return np.dtype(bool if type_.width == 1 else f"u{type_.width // 8}")
    return np.dtype(np.float32) if isinstance(type_, ir.F32Type) else None


def converts_by_half(fmt: FloatFormat) -> bool:
    """Whether all numbers of `fmt` times a power of two are f16 numbers."""
    return fmt.signed and (fmt.exponent_bits < _HALF.exponent_bits or fmt.has_infinity)


def half_factor(fmt: FloatFormat) -> float:
    """The factor of numbers of `fmt` whose bits were shifted into f16 without rebiasing.

    With `fmt`'s exponent in f16's exponent field, a number is 2^(bias - 15) times its value.
    """
    return 2.0 ** (_HALF.bias - fmt.bias) if converts_by_half(fmt) else 1.0


def decode_by_half(
    text: KernelText, fmt: FloatFormat, code: str, lanes: int, *, scaled: bool = True
) -> str:
    """f32 from the codes `code`, a vector of i8; exact, as f16 holds every number.

    Without `scaled`, the caller multiplies the result by `half_factor`.
    """
    wide = text.value(f"arith.extsi {code} : vector<{lanes}xi8> to vector<{lanes}xi16>")
    number = halves_to_float(text, half_bits(text, fmt, wide, lanes), lanes)
    if half_factor(fmt) == 1.0 or not scaled:
        return number
    floats = f"vector<{lanes}xf32>"
    factor = text.constant(f"dense<{half_factor(fmt):.17e}> : {floats}")
    return text.value(f"arith.mulf {number}, {factor} : {floats}")


def halves_to_float(text: KernelText, bits: str, lanes: int) -> str:
    """f32 from f16 numbers, given as a vector of i16."""
    halves = f"vector<{lanes}xf16>"
    number = text.value(f"arith.bitcast {bits} : vector<{lanes}xi16> to {halves}")
    return text.value(f"arith.extf {number} : {halves} to vector<{lanes}xf32>")


def half_bits(
    text: KernelText,
    fmt: FloatFormat,
    code: str,
    lanes: int,
    *,
    marks_nan: bool = True,
    shifted: int = 0,
) -> str:
    """f16 bits of the numbers of `code`, a vector of i16, divided by `half_factor`.

    The codes are sign-extended, or `shifted` left, by 8. Without `marks_nan`, NaN codes of a
    format without infinity give unspecified numbers.
    """

    def bits(number: int | None) -> str:
        assert number is not None
        signed = (number & 0xFFFF) - ((number & 0x8000) << 1)
        return text.constant(f"dense<{signed}> : {words}")

    def op(name: str, left: str, right: str) -> str:
        return text.value(f"arith.{name} {left}, {right} : {words}")

    words = f"vector<{lanes}xi16>"
    shift = _HALF.mantissa_bits - fmt.mantissa_bits
    half = code
    if shift != shifted:
        half = (
            op("shrsi", code, bits(shifted - shift)) if shifted else op("shli", code, bits(shift))
        )
    if shift < 8:
        half = op("andi", half, bits(0x8000 | fmt.magnitude_mask << shift))
    return _special(text, fmt, op, bits, half, words) if marks_nan else half


def _special(text: KernelText, fmt: FloatFormat, op: Op, bits: Bits, half: str, words: str) -> str:
    """`half` with f16's NaN or infinity where the code is one."""
    if fmt.exponent_bits == _HALF.exponent_bits:
        return half  # it has them already
    shift = _HALF.mantissa_bits - fmt.mantissa_bits
    if fmt.nan_code != fmt.sign_mask and fmt.exponent_bits == _HALF.exponent_bits - 1:
        # The sum of a special code carries into f16's top exponent bit, the only one that it lacks.
        last = 1 << (_HALF.mantissa_bits if fmt.has_infinity else shift)
        carry = op("andi", op("addi", half, bits(last)), bits(1 << (_HALF.bits - 2)))
        return op("ori", half, carry)
    if fmt.nan_code == fmt.sign_mask:
        test = text.value(f"arith.cmpi eq, {half}, {bits(0x8000)} : {words}")
    else:
        magnitude = op("andi", half, bits(0x7FFF))
        test = text.value(f"arith.cmpi sgt, {magnitude}, {bits(fmt.max_code << shift)} : {words}")
    filled = text.value(f"arith.extsi {test} : {words.replace('i16', 'i1')} to {words}")
    top = bits(_HALF.infinity_code if fmt.has_infinity else _QUIET_NAN)
    return op("ori", half, op("andi", filled, top))
