"""`math-expand-in-f64`: transcendental functions of f32 become arithmetic in f64, rounded once.

Where upstream calls the C library, a scalar at a time and on every machine another, this expands to
branch-free arith ops: LLVM's vectorizers take them, and the result is the same bits everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import with_element
from mlir_fp8.lowering.real_functions import (
    arcs,
    errors,
    exponentials,
    logarithms,
    of_bf16,
    powers,
    sigmoids,
    trigonometry,
)
from mlir_fp8.lowering.real_functions.real import Real
from mlir_fp8.lowering.rewriting.retype import element_type

TO_F32 = "mlir_fp8.to_f32"
"""On a function of f64 whose operand is `arith.extf` of f32: beyond the range of f32 its result may
be any number that is beyond, too."""
FREEZE = "llvm.freeze"
"""Stands between a function and what `math-freeze-constants` keeps from upstream's folders."""
_EXPANSIONS: dict[str, Callable[..., Real]] = {
    "math.acos": arcs.acos,
    "math.acosh": logarithms.acosh,
    "math.asin": arcs.asin,
    "math.asinh": logarithms.asinh,
    "math.atan": arcs.atan,
    "math.atan2": arcs.atan2,
    "math.atanh": logarithms.atanh,
    "math.cbrt": powers.cbrt,
    "math.cos": trigonometry.cos,
    "math.cosh": exponentials.cosh,
    "math.erf": sigmoids.erf,
    "math.erfc": errors.erfc,
    "math.exp": exponentials.exp,
    "math.exp2": exponentials.exp2,
    "math.expm1": exponentials.expm1,
    "math.log": logarithms.log,
    "math.log10": logarithms.log10,
    "math.log1p": logarithms.log1p,
    "math.log2": logarithms.log2,
    "math.powf": powers.powf,
    "math.rsqrt": powers.rsqrt,
    "math.sin": trigonometry.sin,
    "math.sinh": exponentials.sinh,
    "math.tan": trigonometry.tan,
    "math.tanh": sigmoids.tanh,
}
"""Each function takes numbers of f32, and gives f32 or f64."""

_APPROXIMATIONS: dict[str, Callable[..., Real]] = {
    "math.exp": exponentials.exp_of_f64,
    "math.log": logarithms.log_of_f64,
    "math.log1p": logarithms.log1p_of_f64,
}
"""The functions of any f64, where it is normal and so is the result."""

_OF_BF16: dict[str, Callable[..., Real]] = {
    "math.erf": of_bf16.erf,
    "math.exp": of_bf16.exp,
    "math.tanh": of_bf16.tanh,
}
"""The functions of f32 that may be approximated."""


@dataclass(frozen=True)
class MathExpandInF64(ModulePass):
    """Expand `math` functions on f32 and f16, scalars and vectors, to arithmetic in f64.

    A result is within 0.51 ULP of the exact one; special cases are C's. f64 stays for the C
    library, but for exp, log and log1p with `fastmath<afn>`: these come to within 2**-44, and
    subnormals count as zeros. With `mlir_fp8.to_f32` they are expanded as on f32, unrounded. Erf,
    exp and tanh on f32 with `fastmath<afn>` stay in f32, within 2**-20 of the exact result.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            expansion = _expansion(op)
            if expansion is not None:
                _expand(op, expansion)


def has_expansion(op: ir.Operation) -> bool:
    """Whether `op` is a function that is expanded on some type."""
    return op.name in _EXPANSIONS


def _expansion(op: ir.Operation) -> Callable[..., Real] | None:
    if op.name not in _EXPANSIONS or isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    match element_type(op.results[0].type):
        case ir.F32Type() if op.name in _OF_BF16 and allows_approximation(op):
            return _OF_BF16[op.name]
        case ir.F32Type() | ir.F16Type():
            return _EXPANSIONS[op.name]
        case ir.F64Type() if TO_F32 in op.attributes:
            return _EXPANSIONS[op.name]
        case ir.F64Type() if allows_approximation(op):
            return _APPROXIMATIONS.get(op.name)
        case _:
            return None


def _expand(op: ir.Operation, expansion: Callable[..., Real]) -> None:
    result = op.results[0]
    with ir.InsertionPoint(op), op.location:
        value = expansion(*(_operand(_melted(value), op) for value in op.operands))
        declared = _declared(value, result.type)
    result.replace_all_uses_with(declared)
    op.erase()


def approximate() -> ir.Attribute:
    """The flag by which `allows_approximation`."""
    return ir.Attribute.parse("#arith.fastmath<afn>")


def allows_approximation(op: ir.Operation) -> bool:
    """By `afn` ("approximate functions") or `fast`, which includes it."""
    if "fastmath" not in op.attributes:
        return False
    flags = str(op.attributes["fastmath"]).removeprefix("#arith.fastmath<").removesuffix(">")
    return not {"afn", "fast"}.isdisjoint(flags.split(","))


def _melted(value: ir.Value) -> ir.Value:
    if isinstance(value.owner, ir.Block) or value.owner.name != FREEZE:
        return value
    return value.owner.operands[0]


def _operand(value: ir.Value, op: ir.Operation) -> Real:
    if isinstance(element_type(value.type), ir.F16Type):
        return Real(arith.extf(with_element(value.type, ir.F32Type.get()), value))
    if TO_F32 in op.attributes and isinstance(value.owner, ir.Operation | ir.OpView):
        if value.owner.name != "arith.extf":  # a constant that was one
            return Real(value).narrow()
        (value,) = value.owner.operands
    return Real(value)


def _declared(value: Real, declared: ir.Type) -> ir.Value:
    if isinstance(element_type(declared), ir.F64Type):
        return value.value
    # LLVM has f64 to f16 in a library; that f32 rounds first costs 2**-13 ULP.
    single = value.narrow().value
    return single if single.type == declared else arith.truncf(declared, single)
