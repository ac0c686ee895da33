"""`float-normalization`: every op on narrow floats computes in f32 and rounds once.

Narrow floats are f8, f6, f4, bf16 and f16. All their values are exact in f32, so an op's operands
convert to f32, the op works there, and its result converts back to the declared type: one rounding
per op. For add, subtract, multiply, divide and sqrt that is the correctly rounded result, because
24 bits are at least 2p + 2 for every p here. What f32 would round too early goes to f64 instead.
Ops that only move data keep type and bits.
"""

import dataclasses
from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec import odd_rounding
from mlir_fp8.lowering.codec.missing_codes import refuse_missing_codes
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    concerns,
    convert,
    convert_operand,
    element_type,
    has_static_shape,
    is_total_order,
    names,
    narrow_format,
    narrow_formats,
    require_ordered_nans,
    retype_result,
    splat,
    with_element,
)

ARITHMETIC = names(
    "stablehlo",
    """add atan2 batch_norm_grad batch_norm_inference batch_norm_training cbrt ceil cholesky clamp
    cosine divide exponential exponential_minus_one floor imag is_finite log log_plus_one logistic
    maximum minimum multiply power real reduce_precision remainder round_nearest_afz
    round_nearest_even rsqrt sign sine sqrt subtract tan tanh triangular_solve""",
) | names(
    "chlo",
    """acos acosh asin asinh atan atanh bessel_i1e broadcast_polygamma broadcast_zeta conj cosh
    digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma polygamma sinh square tan zeta""",
)
"""Computed in f32, rounded once."""

MOVEMENT = names(
    "stablehlo",
    """all_gather all_to_all async_done async_start bitcast_convert broadcast broadcast_in_dim case
    collective_broadcast collective_permute composite concatenate constant custom_call
    dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape dynamic_slice
    dynamic_update_slice gather get_dimension_size get_tuple_element if infeed optimization_barrier
    outfeed pad real_dynamic_slice recv reshape return reverse select send set_dimension_size
    shape_refinement_operand_wrapper slice torch_index_select transpose tuple while""",
) | names("chlo", "broadcast_select constant constant_like top_k")
"""Kept in the narrow type, bit for bit."""

_POSITIVE = frozenset({"stablehlo.power", "chlo.broadcast_zeta", "chlo.erfc", "chlo.zeta"})
"""Never zero on positive numbers, but too small for f64 too."""

_EXACT_ZEROS = frozenset({"chlo.lgamma"})
"""Zeros that chlo-legalize-to-math keeps in f32 alone."""

BODIES = names("stablehlo", "all_reduce map reduce_scatter scatter select_and_scatter sort") | (
    names("chlo", "scan")
)
"""Left alone: the arithmetic is in the body, where each op is normalized, that is, rounds."""

ACCUMULATIONS = names(
    "stablehlo",
    "convolution dot dot_general dynamic_conv einsum reduce reduce_window unary_einsum",
) | names("chlo", "ragged_dot")
"""The business of accumulate-in-f32, which runs before this pass."""

_NARROW_DOTS = names("stablehlo", "dot dot_general")
"""The accumulations that take narrow operands with a wide result: each product is exact."""

LEFT_TO_CHLO = names(
    "chlo",
    """broadcast_add broadcast_atan2 broadcast_compare broadcast_divide broadcast_maximum
    broadcast_minimum broadcast_multiply broadcast_power broadcast_remainder broadcast_subtract""",
)
"""Become one StableHLO op each in chlo-legalize-to-stablehlo; this pass runs again after it."""

_IOTA_LIMIT = 1 << 24  # up to here every integer is exact in f32


@dataclasses.dataclass(frozen=True)
class FloatNormalization(ModulePass):
    """Compute StableHLO and CHLO ops on narrow floats in f32 and round each result once.

    `negate`, `abs` and total order work on the codes, NaN payloads included; with a dynamic shape
    the first two go through f32, which keeps every number but not the payload of a NaN. A NaN that
    passes through any other op is the one that the conversion from f32 gives. Ops that can give NaN
    are refused in f6 and f4, which have none; negate and iota in f8E8M0FNU.

    Options: `formats`, comma-separated, leaves alone the ops that have none of them.
    """

    formats: str = ""

    def run(self, module: ir.Operation) -> None:
        formats = narrow_formats(self.formats)
        with module.context:
            for op in operations(module, inner_first=True):
                if op.name.startswith(("stablehlo.", "chlo.")) and concerns(op, formats):
                    _normalize(op)


def _normalize(op: ir.Operation) -> None:
    refuse_missing_codes(op)
    fmt = next(filter(None, map(narrow_format, [*op.operands, *op.results])), None)
    if fmt is None or op.name in MOVEMENT or op.name in BODIES or op.name in LEFT_TO_CHLO:
        return
    if op.name in ARITHMETIC:
        _compute_in_f32(op)
    elif op.name in _RULES:
        _RULES[op.name](op, fmt)
    elif op.name in ACCUMULATIONS:
        _require_wide_accumulation(op, fmt)
    else:
        raise op_error(op, f"has no rule for {fmt.name}; convert to f32 before it and back after")


def _compute_in_f32(op: ir.Operation) -> None:
    wide = ir.F64Type.get() if _needs_f64(op) else ir.F32Type.get()
    widened: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(op), op.location:
        for index, operand in enumerate(op.operands):
            if narrow_format(operand) is None:
                continue
            if operand not in widened:
                widened[operand] = convert(convert(operand, ir.F32Type.get()), wide)
            op.operands[index] = widened[operand]
    for index, result in enumerate(op.results):
        fmt = narrow_format(result)
        if fmt is not None:
            retype_result(op, index, wide)
            if op.name in _POSITIVE and not fmt.has_zero:
                _keep_from_zero(result, fmt)


def _keep_from_zero(wide: ir.Value, fmt: FloatFormat) -> None:
    """A non-zero result that underflows in its wide type becomes the smallest number."""
    op = ir.OpResult(wide).owner.operation
    if not has_static_shape(wide):
        raise op_error(op, f"on {fmt.name} needs a static shape; refine shapes first")
    (use,) = wide.uses
    with ir.InsertionPoint.after(op), op.location:
        element = ir.RankedTensorType(wide.type).element_type
        smallest = ir.FloatAttr.get(element, float(fmt.smallest_subnormal))
        value = ir.DenseElementsAttr.get_splat(wide.type, smallest)
        limit = build("constant", wide.type, [], {"value": value})
        use.owner.operands[0] = build("maximum", wide.type, [wide, limit])


def _needs_f64(op: ir.Operation) -> bool:
    """Whether f32 would round twice, with another result."""
    fmt = narrow_format(op.results[0])
    if fmt is None or not fmt.is_small:
        return False
    # A quotient that is a tie in f8 may be an angle just below it, by less than f32 can tell; and a
    # product of numbers with f32's range may be a zero of f32, which no zero is.
    return op.name == "stablehlo.atan2" or (
        fmt.exponent_bits == FORMATS["f32"].exponent_bits and op.name not in _EXACT_ZEROS
    )


def _require_wide_accumulation(op: ir.Operation, fmt: FloatFormat) -> None:
    if op.name in _NARROW_DOTS and not any(map(narrow_format, op.results)):
        return
    raise op_error(op, f"accumulates on {fmt.name}; run accumulate-in-f32 before this pass")


def _sign(op: ir.Operation, fmt: FloatFormat) -> None:
    """`negate` and `abs`: the sign bit of the code, where the code of a number has one."""
    operand, result = op.operands[0], op.results[0]
    negate = op.name == "stablehlo.negate"
    if not fmt.signed:
        replace_op(op, [operand])
        return
    # Without NaNs f32 is exact to the bit; without negative zero the sign bit alone is a NaN.
    if not fmt.has_nan or not fmt.has_negative_zero or not has_static_shape(operand):
        _compute_in_f32(op)
        return
    with ir.InsertionPoint(op), op.location:
        codes = _codes(operand, fmt)
        name, mask = ("xor", fmt.sign_mask) if negate else ("and", fmt.magnitude_mask)
        codes = build(name, codes.type, [codes, _code_splat(codes.type, mask, fmt)])
        value = build("bitcast_convert", result.type, [codes])
    replace_op(op, [value])


def _codes(value: ir.Value, fmt: FloatFormat) -> ir.Value:
    code_type = ir.IntegerType.get_signless(fmt.bits)
    return build("bitcast_convert", with_element(value.type, code_type), [value])


def _code_splat(tensor: ir.Type, code: int, fmt: FloatFormat) -> ir.Value:
    """`code` as the signed integer of the same bits, which is how signless constants are read."""
    return splat(tensor, code - (1 << fmt.bits) if code >> (fmt.bits - 1) else code)


def _compare(op: ir.Operation, fmt: FloatFormat) -> None:
    if not is_total_order(op) or not fmt.has_nan:
        _compute_in_f32(op)
        return
    require_ordered_nans(op, fmt)
    if not has_static_shape(op.operands[0]):
        raise op_error(op, f"TOTALORDER on {fmt.name} needs a static shape; refine shapes first")
    with ir.InsertionPoint(op), op.location:
        for index in range(2):
            op.operands[index] = _order_key(op.operands[index], fmt)
    op.attributes["compare_type"] = ir.Attribute.parse("#stablehlo<comparison_type SIGNED>")


def _order_key(value: ir.Value, fmt: FloatFormat) -> ir.Value:
    """Signed integers in the total order of the codes, NaN payloads included."""
    codes = _codes(value, fmt)
    if not fmt.signed:
        return build("xor", codes.type, [codes, _code_splat(codes.type, 1 << fmt.bits - 1, fmt)])
    shift = splat(codes.type, fmt.bits - 1)
    ones_if_negative = build("shift_right_arithmetic", codes.type, [codes, shift])
    magnitude = _code_splat(codes.type, fmt.magnitude_mask, fmt)
    flip = build("and", codes.type, [ones_if_negative, magnitude])
    return build("xor", codes.type, [codes, flip])


def _iota(op: ir.Operation, fmt: FloatFormat) -> None:
    shape = ir.ShapedType(op.results[0].type)
    dimension = ir.IntegerAttr(op.attributes["iota_dimension"]).value
    counts_in_f32 = (
        not shape.is_dynamic_dim(dimension) and shape.get_dim_size(dimension) <= _IOTA_LIMIT
    )
    retype_result(op, 0, ir.F32Type.get() if counts_in_f32 else ir.F64Type.get())


def _convert(op: ir.Operation, fmt: FloatFormat) -> None:
    """Convert by way of a type that holds the source exactly, so that only the last step rounds.

    f32 and f64 (and the real part of complex numbers) convert directly: f64 through f32 would round
    twice. A conversion to i1 asks for a non-zero value, so NaN is true.
    """
    source = element_type(op.operands[0])
    if source == element_type(op.results[0]):
        return
    if narrow_format(op.operands[0]) is not None:
        if element_type(op.results[0]) != ir.F32Type.get():
            convert_operand(op, 0, ir.F32Type.get())
    elif isinstance(source, ir.IntegerType):
        _convert_integer(op, source)


def _convert_integer(op: ir.Operation, source: ir.IntegerType) -> None:
    if source.width <= 16:
        convert_operand(op, 0, ir.F32Type.get())
        return
    if source.width == 64:
        if not has_static_shape(op.operands[0]):
            raise op_error(op, "from 64-bit integers needs a static shape; refine shapes first")
        with ir.InsertionPoint(op), op.location:
            op.operands[0] = odd_rounding.in_stablehlo(op.operands[0], source)
    convert_operand(op, 0, ir.F64Type.get())


def _next_after(op: ir.Operation, fmt: FloatFormat) -> None:
    """CHLO steps the code as sign and magnitude, which f32 could not do in the type's own steps."""
    if fmt.bits < 8 or not fmt.has_negative_zero:
        raise op_error(op, f"is not possible on {fmt.name}, whose codes are not IEEE-like")


_RULES: dict[str, Callable[[ir.Operation, FloatFormat], None]] = {
    "stablehlo.abs": _sign,
    "stablehlo.negate": _sign,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _convert,
    "stablehlo.iota": _iota,
    "stablehlo.dynamic_iota": _iota,
    "chlo.next_after": _next_after,
    "chlo.broadcast_next_after": _next_after,
}
