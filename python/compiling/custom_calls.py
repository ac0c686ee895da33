"""Custom calls that a program brings along: what a target means, in StableHLO."""

from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.frontend import stablehlo_expand_custom_calls as custom_calls


@public
def register_custom_call(target: str, expansion: Callable[[ir.Operation], str]) -> None:
    """Let `stablehlo.custom_call @target` be compiled as the StableHLO that `expansion` writes.

    `expansion` is called with each such op (operands, result types and attributes such as
    `backend_config` tell what is asked for) and gives the text of one `func.func` with the op's
    operand and result types, which may hold StableHLO and CHLO and calls no other function. It may
    raise `mlir_fp8.Fp8Error` for a call that it cannot expand. A later registration of the same
    target takes the place of the earlier one. The registry belongs to the process.
    """
    if not isinstance(target, str) or not target:
        raise Fp8Error(f"target is {target!r}: give the name that custom_call @name has")
    if not callable(expansion):
        raise Fp8Error(f"expansion of '{target}' is a {type(expansion).__name__}, not a function")
    custom_calls.register(target, expansion)
