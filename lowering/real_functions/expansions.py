"""Which functions are expanded to arithmetic in f64, and by what; see `math-expand-in-f64`."""

from collections.abc import Callable

from torch_mlir import ir

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


def has_expansion(op: ir.Operation) -> bool:
    """Whether `op` is a function that is expanded on some type."""
    return op.name in _EXPANSIONS


def expansion_of(op: ir.Operation) -> Callable[..., Real] | None:
    """What expands `op` on its types, if anything does."""
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


def approximate() -> ir.Attribute:
    """The flag by which `allows_approximation`."""
    return ir.Attribute.parse("#arith.fastmath<afn>")


def allows_approximation(op: ir.Operation) -> bool:
    """By `afn` ("approximate functions") or `fast`, which includes it."""
    if "fastmath" not in op.attributes:
        return False
    flags = str(op.attributes["fastmath"]).removeprefix("#arith.fastmath<").removesuffix(">")
    return not {"afn", "fast"}.isdisjoint(flags.split(","))
