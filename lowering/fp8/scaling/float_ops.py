"""Which ops can be surrounded by quantizers."""

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaling.factors import MOVES
from mlir_fp8.lowering.rewriting.stablehlo import names

FLOAT_OPS = names(
    "stablehlo",
    "abs add atan2 cbrt ceil clamp convolution cosine divide dot dot_general exponential"
    " exponential_minus_one floor log log_plus_one logistic maximum minimum multiply negate power"
    " reduce remainder round_nearest_afz round_nearest_even rsqrt select sine sqrt subtract tan"
    " tanh",
)
"""Those that compute on floats, and `select`: what option `ops=all` stands for."""

_WITH_INITIAL_VALUES = names("stablehlo", "reduce reduce_window")


def refuse_op(name: str, context: ir.Context) -> str:
    """Why ops called `name` cannot be surrounded; nothing if they can."""
    if name in FLOAT_OPS or name in _WITH_INITIAL_VALUES:
        return ""
    if not isinstance(name, str) or not context.is_registered_operation(name):
        return "is no op: write them as stablehlo.add,stablehlo.tanh"
    if name in MOVES or name in ("stablehlo.convert", "stablehlo.constant"):
        return "computes nothing: list the ops that read its result"
    if not name.startswith(("stablehlo.", "chlo.")) or name in _STRUCTURE:
        return "is no op on data: list the ops inside"
    return ""


_STRUCTURE = names(
    "stablehlo",
    "while if case return custom_call composite optimization_barrier tuple get_tuple_element"
    " infeed outfeed send recv after_all create_token map sort scatter select_and_scatter",
)


def data_operands(op: ir.Operation) -> range:
    """The operands that are data: of a reduction, not what it starts with."""
    count = len(op.operands)
    return range(count // 2 if op.name in _WITH_INITIAL_VALUES else count)
