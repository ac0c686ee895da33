"""Ops whose result the declared type may have no code for: refused, not rounded to something else.

f6 and f4 have no NaN. f8E8M0FNU has neither zero nor sign, but a NaN, which an op that can give a
number, too, gives for the rest. What is converted from a wider type follows the rule of conversions
instead (docs/numerics.md).
"""

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.rewriting.stablehlo import names, narrow_format

# On zeros, negative numbers, or numbers above one: all of these are in every format without NaN.
GIVES_NAN = names(
    "stablehlo",
    """batch_norm_grad batch_norm_inference batch_norm_training cholesky divide log log_plus_one
    power remainder rsqrt sqrt triangular_solve""",
) | names(
    "chlo",
    """acos acosh asin atanh broadcast_divide broadcast_polygamma broadcast_power
    broadcast_remainder broadcast_zeta digamma erf_inv polygamma zeta""",
)
"""The StableHLO and CHLO ops that give NaN for some finite operands."""

GIVES_NAN_ON_SCALARS = names("arith", "divf remf") | names(
    "math", "acos acosh asin atanh log log10 log1p log2 powf rsqrt sqrt"
)
"""The same of arith and math."""

_COUNTING = names("stablehlo", "iota dynamic_iota")


def refuse_missing_codes(op: ir.Operation) -> None:
    """Raise for a StableHLO or CHLO op that can give what its declared type has no code for."""
    for fmt in filter(None, map(narrow_format, op.results)):
        if op.name in GIVES_NAN and not fmt.has_nan:
            raise op_error(
                op,
                f"can give NaN, which {fmt.name} has no code for; "
                "convert to f32 before it and back after",
            )
        if op.name == "stablehlo.negate" and not fmt.signed:
            raise op_error(op, f"is not possible on {fmt.name}, which has no sign; convert first")
        if op.name in _COUNTING and not fmt.has_zero:
            raise op_error(op, f"counts from 0, which {fmt.name} has no code for; count in f32")
