"""`chlo-legalize-to-math`: functions of f32 that upstream decomposes into f32 keep their accuracy.

chlo-legalize-to-stablehlo makes polynomials and differences in f32 of them, each op rounded: tens
to millions of ULP. Here they become one op of the math dialect, or compute in f64 and round once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, math, tensor
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.operations import clone_op, operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.real_functions.expansions import TO_F32, approximate
from mlir_fp8.lowering.real_functions.of_constants import of_constants
from mlir_fp8.lowering.rewriting.linalg_ops import elementwise
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    convert_operand,
    element_type,
    has_static_shape,
    names,
    retype_result,
)

_TO_MATH = names("chlo", "acos acosh asin asinh atan atanh cosh erf erfc sinh tan")
"""Ops that the math dialect has under the same name."""

_IN_F64 = names(
    "chlo",
    """bessel_i1e broadcast_polygamma broadcast_zeta digamma erf_inv lgamma polygamma zeta""",
)
"""Ops that it lacks; their decompositions in f64 are good for f32."""


@dataclass(frozen=True)
class ChloLegalizeToMath(ModulePass):
    """Turn CHLO functions and `stablehlo.logistic` on f32 into math ops, or promote them to f64.

    Other element types are left alone, and dynamic shapes where a math op would need a static one.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            found = [op for op in operations(module, inner_first=True) if _is_found(op)]
            for op, is_constant in zip(found, of_constants(found), strict=True):
                if op.name in _IN_F64:
                    _promote(op)
                else:
                    _replace(op, _FUNCTIONS[op.name], is_constant=is_constant)


def _is_found(op: ir.Operation) -> bool:
    is_known = op.name in _IN_F64 or (op.name in _FUNCTIONS and has_static_shape(op.results[0]))
    return is_known and isinstance(element_type(op.results[0]), ir.F32Type)


def _promote(op: ir.Operation) -> None:
    f64 = ir.F64Type.get()
    for index in range(len(op.operands)):
        convert_operand(op, index, f64)
    retype_result(op, 0, f64)
    if op.name in _MENDS and has_static_shape(op.results[0]):
        _MENDS[op.name](op)


def _keep_zeros(op: ir.Operation) -> None:
    """lgamma is 0 at 1 and 2, where the decomposition leaves an ULP of f64, many of f32."""
    (conversion,) = [use.owner for use in op.results[0].uses]
    x, result = op.operands[0], op.results[0]
    with ir.InsertionPoint.after(op), op.location:
        is_root = build(
            "or", _truth(x.type), [_equals(x, _number(x.type, root)) for root in (1.0, 2.0)]
        )
        value = build("select", x.type, [is_root, _number(x.type, 0.0), result])
    conversion.operands[0] = value


def _decompose_erf_inv(op: ir.Operation) -> None:
    """As CHLO does, but with a logarithm in f64 that LLVM can vectorize."""
    type_ = op.results[0].type
    scratch = ir.Module.parse(
        f"func.func @erf_inv(%x: {type_}) -> {type_} {{\n"
        f"%y = chlo.erf_inv %x : {type_} -> {type_}\nreturn %y : {type_}\n}}"
    )
    legalize = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
    PassManager.parse(legalize).run(scratch.operation)
    block = scratch.body.operations[0].regions[0].blocks[0]
    *inner, returned = [view.operation for view in block.operations]
    mapping = {block.arguments[0]: op.operands[0]}
    logarithms = []
    for each in inner:
        copy = clone_op(each, mapping, ir.InsertionPoint(op))
        logarithms += [copy] if copy.name == "stablehlo.log_plus_one" else []
    replace_op(op, [mapping[returned.operands[0]]])
    for logarithm in logarithms:
        _replace(logarithm, _log1p)


_MENDS: dict[str, Callable[[ir.Operation], None]] = {
    "chlo.erf_inv": _decompose_erf_inv,
    "chlo.lgamma": _keep_zeros,
}


def _truth(shaped: ir.Type) -> ir.Type:
    return with_element(shaped, ir.IntegerType.get_signless(1))


def _equals(x: ir.Value, y: ir.Value) -> ir.Value:
    direction = ir.Attribute.parse("#stablehlo<comparison_direction EQ>")
    return build("compare", _truth(x.type), [x, y], {"comparison_direction": direction})


def _number(shaped: ir.Type, number: float) -> ir.Value:
    element = ir.FloatAttr.get(ir.F64Type.get(), number)
    value = ir.DenseElementsAttr.get_splat(shaped, element)
    return build("constant", shaped, [], {"value": value})


def _replace(
    op: ir.Operation, function: Callable[[str, ir.Value], ir.Value], *, is_constant: bool = False
) -> None:
    (operand,), result = op.operands, op.results[0]
    # In the bodies of reductions and the like upstream wants scalars inside of rank 0.
    is_scalar = not ir.RankedTensorType(result.type).rank
    with ir.InsertionPoint(op), op.location:
        if is_constant and not is_scalar:
            value = elementwise(partial(function, op.name), operand)
        else:
            value = function(op.name, tensor.extract(operand, []) if is_scalar else operand)
        value = tensor.from_elements(result.type, [value]) if is_scalar else value
    replace_op(op, [value])


def _math_op(name: str, x: ir.Value) -> ir.Value:
    math_name = name.replace("chlo.", "math.")
    return ir.Operation.create(math_name, results=[x.type], operands=[x]).results[0]


def _logistic(_: str, x: ir.Value) -> ir.Value:
    """1 / (1 + e**-x) in f64, where e**-x does not overflow: f32 would give 0 for 2**-128.

    Of 1 + e**-x, f32 can tell no more than of e**-x itself.
    """
    wide = with_element(x.type, ir.F64Type.get())
    one = constant(wide, ir.F64Type.get(), 1.0)
    power = math.exp(arith.extf(wide, arith.negf(x)))
    power.owner.attributes[TO_F32] = ir.UnitAttr.get()
    return arith.truncf(x.type, arith.divf(one, arith.addf(one, power)))


def _log1p(_: str, x: ir.Value) -> ir.Value:
    return math.log1p(x, fastmath=approximate())


_FUNCTIONS: dict[str, Callable[[str, ir.Value], ir.Value]] = {
    **dict.fromkeys(_TO_MATH, _math_op),
    "stablehlo.logistic": _logistic,
}
