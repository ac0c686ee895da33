"""`convert-small-floats-to-int`: every f8, f6 and f4 value becomes the i8 that holds its code.

bf16 becomes i16 in the same way.

LLVM has none of these types. Casts, comparisons and arithmetic become branch-free integer and f32
ops with one rounding, on scalars and vectors alike, which LLVM vectorizes. Ops that only move
values move integers. f16 keeps its type, but casts from f64 to it, for which the back end calls a
missing library routine, are expanded too.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import FORMATS, OPAQUE_FLOATS, FloatFormat
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec import float_codec as codec
from mlir_fp8.lowering.codec import odd_rounding
from mlir_fp8.lowering.codes._small_float_ops import FormatsOfTypes, computes
from mlir_fp8.lowering.rewriting.retype import (
    codes_of_constants,
    element_type,
    retype_attributes,
    retype_values,
)

_OF_NUMBERS = ("arith.maxnumf", "arith.minnumf")
_CASTS = ("builtin.unrealized_conversion_cast", "tensor.bitcast")


@dataclass(frozen=True)
class ConvertSmallFloatsToInt(ModulePass):
    """Turn f8, f6 and f4 types into i8, bf16 into i16, and their ops into integer and f32 ops.

    Options: `saturate` rounds beyond the largest value of f8, f6 or f4 to it, instead of to
    infinity or NaN.
    """

    saturate: bool = False

    def run(self, module: ir.Operation) -> None:
        ops = operations(module)
        formats = FormatsOfTypes()
        computing = [each for op in ops if (each := computation_of(op, formats)) is not None]
        casts = [op for op in ops if op.name in _CASTS]
        with ir.Location.unknown(module.context):
            retype_values(ops, _storage_type)
            # Conversions of the NVVM dialect name the f8 that an integer of theirs holds.
            named = [op for op in ops if not op.name.startswith("nvvm.")]
            retype_attributes(
                named, _storage_type, lambda found: codes_of_constants(found, _storage_bits)
            )
            for computation in computing:
                expand(computation, saturate=self.saturate)
            _fold_identity_casts(casts)


def _storage_bits(type_: ir.Type) -> int:
    return OPAQUE_FLOATS[str(type_)].storage_bits


def _storage_type(type_: ir.Type) -> ir.Type:
    if not isinstance(type_, ir.FloatType) or str(type_) not in OPAQUE_FLOATS:
        return type_
    return ir.IntegerType.get_signless(_storage_bits(type_))


class Computation:
    """An op to expand, with the formats of its values before they were retyped."""

    def __init__(self, op: ir.Operation, formats: FormatsOfTypes) -> None:
        self.op = op
        self.operand_formats = [formats[operand.type] for operand in op.operands]
        self.result_formats = [formats[result.type] for result in op.results]
        self.result_types = [result.type for result in op.results]

    @property
    def result_format(self) -> FloatFormat:
        """The format of the result, for ops that always have a narrow one."""
        fmt = self.result_formats[0]
        assert fmt is not None, self.op.name
        return fmt


def computation_of(op: ir.Operation, formats: FormatsOfTypes) -> Computation | None:
    """`op` where it has to be expanded; raises for ops that this pass has no rule for."""
    return Computation(op, formats) if computes(op, _RULES, formats) else None


def expand(computation: Computation, *, saturate: bool) -> None:
    """Replace the op, whose values are retyped to codes, by integer and f32 ops."""
    op = computation.op
    with ir.InsertionPoint(op), op.location:
        rule = _RULES.get(op.name, _via_f32)
        result = rule(computation, saturate)
    if result is None:
        return
    replace_op(op, [result])


def _widened(value: ir.Value, fmt: FloatFormat | None) -> ir.Value:
    """`value` in f32 if it is a narrow float, else `value` itself."""
    if fmt is None:
        return value
    if fmt.native:
        return arith.extf(codec.with_element(value.type, ir.F32Type.get()), value)
    return codec.decode(fmt, value)


def _rounded(value: ir.Value, fmt: FloatFormat | None, saturate: bool) -> ir.Value:
    """`value`, f32 or f64, rounded once to `fmt`, as that format is stored."""
    if fmt is None:
        return value
    if fmt.native and isinstance(element_type(value.type), ir.F32Type):
        return arith.truncf(codec.with_element(value.type, ir.F16Type.get()), value)
    code = codec.encode(fmt, value, saturate=saturate and fmt.is_small)
    if not fmt.native:
        return code
    return arith.bitcast(codec.with_element(value.type, ir.Type.parse(fmt.name)), code)


def _via_f32(computation: Computation, saturate: bool) -> ir.Value:
    op = computation.op
    operands = [
        _widened(value, fmt)
        for value, fmt in zip(op.operands, computation.operand_formats, strict=True)
    ]
    if op.name in _OF_NUMBERS:
        operands = list(map(_quiet, operands))
    fmt = computation.result_formats[0]
    result_type = computation.result_types[0]
    if fmt is not None:
        result_type = codec.with_element(result_type, ir.F32Type.get())
    attributes = dict(op.attributes.items())
    wide = ir.Operation.create(op.name, [result_type], operands, attributes)
    return _rounded(wide.results[0], fmt, saturate)


def _quiet(value: ir.Value) -> ir.Value:
    """`value` with one NaN for all: upstream folds maxnumf of 1 and a signaling NaN to NaN."""
    nan = codec.constant(value.type, element_type(value.type), float("nan"))
    return arith.select(arith.cmpf(arith.CmpFPredicate.UNO, value, value), nan, value)


def _extend(computation: Computation, saturate: bool) -> ir.Value:
    value = computation.op.operands[0]
    source = computation.operand_formats[0]
    fmt, type_ = computation.result_formats[0], computation.result_types[0]
    if source is not None and source.is_small and fmt is FORMATS["bf16"]:
        return codec.decode_to_bf16(source, value)
    value = _widened(value, source)
    if fmt is not None:
        return _rounded(value, fmt, saturate)
    return value if value.type == type_ else arith.extf(type_, value)


def _truncate(computation: Computation, saturate: bool) -> ir.Value | None:
    op = computation.op
    source, target = computation.operand_formats[0], computation.result_format
    if "roundingmode" in op.attributes:
        mode = arith.RoundingMode(ir.IntegerAttr(op.attributes["roundingmode"]).value)
        if mode is not arith.RoundingMode.to_nearest_even:
            reason = f"rounds {mode}: only to_nearest_even is lowered for {target.name}"
            raise op_error(
                op, f"{reason}; in StableHLO, round-small-floats and fp8.convert round so"
            )
    wide = element_type(op.operands[0].type)
    if source is None and not isinstance(wide, ir.F32Type | ir.F64Type):
        raise op_error(op, f"from {wide} to {target.name} is not lowered: go through f64 or f32")
    return _rounded(_widened(op.operands[0], source), target, saturate)


def _from_int(computation: Computation, saturate: bool) -> ir.Value:
    """Integers up to 16 bits are exact in f32, up to 32 in f64; wider ones are rounded to odd."""
    op, fmt = computation.op, computation.result_format
    value = op.operands[0]
    width = ir.IntegerType(element_type(value.type)).width
    convert = arith.sitofp if op.name == "arith.sitofp" else arith.uitofp
    if width > 64:
        raise op_error(op, f"from i{width} to {fmt.name} is not lowered: truncate to i64 first")
    if width > 53:
        value = odd_rounding.in_arith(value, signed=op.name == "arith.sitofp")
    wide = ir.F32Type.get() if width <= 16 else ir.F64Type.get()
    return _rounded(convert(codec.with_element(value.type, wide), value), fmt, saturate)


def _to_int(computation: Computation, saturate: bool) -> ir.Value:
    op = computation.op
    convert = arith.fptosi if op.name == "arith.fptosi" else arith.fptoui
    value = _widened(op.operands[0], computation.operand_formats[0])
    return convert(computation.result_types[0], value)


def _sign_op(computation: Computation, saturate: bool) -> ir.Value:
    """Negation and absolute value touch the sign bit alone, so that NaNs keep their payload."""
    op, fmt = computation.op, computation.result_format
    negate = op.name == "arith.negf"
    if not fmt.signed:
        if negate:
            raise op_error(op, f"on {fmt.name}: the format has no negative numbers")
        return op.operands[0]
    if not fmt.has_negative_zero:
        return _via_f32(computation, saturate)
    value = op.operands[0]
    bits = ir.IntegerType.get_signless(fmt.storage_bits)
    code = arith.bitcast(codec.with_element(value.type, bits), value) if fmt.native else value
    if negate:
        code = arith.xori(code, codec.constant(value.type, bits, fmt.sign_mask))
    else:
        code = arith.andi(code, codec.constant(value.type, bits, fmt.magnitude_mask))
    return arith.bitcast(value.type, code) if fmt.native else code


def _bitcast(computation: Computation, saturate: bool) -> ir.Value | None:
    """Between an opaque float and the integer of its own width, held in a wider one if f6 or f4."""
    value = computation.op.operands[0]
    source, target = computation.operand_formats[0], computation.result_formats[0]
    if not any(fmt and not fmt.native for fmt in (source, target)):
        return None
    if source and not source.native and source.bits != source.storage_bits:
        exact = ir.IntegerType.get_signless(source.bits)
        value = arith.trunci(codec.with_element(value.type, exact), value)
    if target and not target.native:
        storage = ir.IntegerType.get_signless(target.storage_bits)
        wide = codec.with_element(value.type, storage)
        if source and source.native:
            return arith.bitcast(wide, value)
        return value if value.type == wide else arith.extui(wide, value)
    result_type = computation.result_types[0]
    return value if value.type == result_type else arith.bitcast(result_type, value)


def _fold_identity_casts(casts: list[ir.Operation]) -> None:
    """Casts between an f8 and its i8 have become casts from i8 to i8."""
    for op in casts:
        if len(op.operands) == len(op.results) == 1 and op.operands[0].type == op.results[0].type:
            replace_op(op, [op.operands[0]])


_RULES: dict[str, Callable[[Computation, bool], ir.Value | None]] = {
    "arith.bitcast": _bitcast,
    "arith.extf": _extend,
    "arith.fptosi": _to_int,
    "arith.fptoui": _to_int,
    "arith.negf": _sign_op,
    "arith.sitofp": _from_int,
    "arith.truncf": _truncate,
    "arith.uitofp": _from_int,
    "math.absf": _sign_op,
}
