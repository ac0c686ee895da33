"""`stablehlo-expand-custom-calls`: custom calls become the StableHLO that they stand for.

What a target means is in a registry that programs extend; see docs/custom_calls.md.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import mlir_error, op_error
from mlir_fp8.base.errors import callers_code
from mlir_fp8.base.operations import call_target, operations
from mlir_fp8.dialects.chlo_calls import calls_to_chlo, misfit
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend._top_k_calls import expand_top_k, is_top_k
from mlir_fp8.lowering.frontend._transformer_engine import EXPANSIONS
from mlir_fp8.lowering.rewriting.exchange_calls import is_exchange
from mlir_fp8.lowering.rewriting.text_expansion import replace_by
from mlir_fp8.lowering.rewriting.unpack_calls import is_unpack

Expansion = Callable[[ir.Operation], str]
"""From a `stablehlo.custom_call` to the text of one `func.func` of its operand and result types."""
_LAPACK = re.compile(r"lapack_([sdcz])(\w+)_ffi")


@dataclass(frozen=True)
class StablehloExpandCustomCalls(ModulePass):
    """Replace every `custom_call` by what is registered for its target, or name the target.

    XLA's annotations (sharding, placement, layout) are identities in one process; its names for
    CHLO functions (`mhlo.erf`, `mhlo.topk`, ...) become CHLO, `ApproxTopK` and `TopK` sorts,
    TransformerEngine's products what they compute. Those
    of LAPACK are left to `stablehlo-lapack-to-calls`, exchanges of simulated devices to
    `stablehlo-exchanges-to-calls`.
    """

    def run(self, module: ir.Operation) -> None:
        calls_to_chlo(module)
        for op in operations(module, "stablehlo.custom_call", inner_first=True):
            if not is_exchange(op) and not is_unpack(op):
                _expand(module, op)


def register(target: str, expansion: Expansion) -> None:
    """Let `custom_call @target` mean what `expansion` writes; the last registration counts."""
    _REGISTRY[target] = expansion


def expand_products(module: ir.Operation) -> None:
    """Replace the products and quantizers of TransformerEngine alone, see `_transformer_engine`."""
    for op in operations(module, "stablehlo.custom_call", inner_first=True):
        if _REGISTRY.get(call_target(op)) in EXPANSIONS.values():
            _expand(module, op)


def is_extended() -> bool:
    """Whether programs registered expansions, so that a module's bytes do not tell what it does."""
    return _REGISTRY != _BUILT_IN


def _expand(module: ir.Operation, op: ir.Operation) -> None:
    target = call_target(op)
    expansion = _REGISTRY.get(target)
    if expansion is None and is_top_k(target):
        expand_top_k(module, op)
        return
    if expansion is None and (reason := misfit(op)):
        raise op_error(op, reason)
    if expansion is None and lapack_target(op):  # `stablehlo-lapack-to-calls`
        return
    if expansion is None and re.fullmatch(r"(lapack|blas)_[sdcz]\w+", target):
        reason = f"calls '{target}', whose operands only jaxlib of before 2025 knows"
        raise op_error(op, f"{reason}: export the program with a newer JAX, which calls *_ffi")
    if expansion is None:
        reason = f"calls '{target}', which nobody has told the meaning of"
        raise op_error(op, f"{reason}: give it one with mlir_fp8.register_custom_call")
    with callers_code():
        text = expansion(op)
    try:
        replace_by(op, text, list(op.operands))
    except ir.MLIRError as error:
        reason = mlir_error(error, f"the expansion of '{target}'")
        raise op_error(op, f"calls '{target}', whose expansion is not valid: {reason}") from None
    except (TypeError, ValueError, IndexError) as error:
        raise op_error(
            op, f"calls '{target}', whose expansion does not fit the call: {error}"
        ) from None


def _identity(op: ir.Operation) -> str:
    """Each operand is its result; what has no results changes nothing."""
    types = [str(operand.type) for operand in op.operands]
    arguments = ", ".join(f"%a{index}: {type_}" for index, type_ in enumerate(types))
    if [str(result.type) for result in op.results] == ["tuple<>"]:  # none, as HLO has it
        body = '%0 = "stablehlo.tuple"() : () -> tuple<>'
        return f"func.func @nothing({arguments}) -> tuple<> {{ {body} return %0 : tuple<> }}"
    if not op.results:
        return f"func.func @nothing({arguments}) {{ return }}"
    results = [str(result.type) for result in op.results]
    if _elements(op.operands) != _elements(op.results):
        target = call_target(op)
        given, made = (", ".join(each) or "nothing" for each in (types, results))
        raise op_error(op, f"gives {made} of {given}: '{target}' keeps number and element types")
    if types != results:
        raise op_error(op, "is among several processes: simulate them (simulate_devices=)")
    names = ", ".join(f"%a{index}" for index in range(len(types)))
    listed = ", ".join(types)
    return f"func.func @identity({arguments}) -> ({listed}) {{ return {names} : {listed} }}"


def _elements(values: Sequence[ir.Value]) -> list[str]:
    return [str(getattr(value.type, "element_type", value.type)) for value in values]


_BUILT_IN: dict[str, Expansion] = EXPANSIONS | dict.fromkeys(
    ("LayoutConstraint", "MoveToDevice", "MoveToHost", "SPMDFullToShardShape",
     "SPMDShardToFullShape", "Sharding", "annotate_device_placement",
     # How XLA writes the `sdy` dialect into modules and HLO that lack it.
     "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
     "xla.sdy.PropagationBarrier", "xla.sdy.ShardingGroup"),
    _identity,
)  # fmt: skip
_REGISTRY: dict[str, Expansion] = dict(_BUILT_IN)


def lapack_target(op: ir.Operation) -> tuple[str, str] | None:
    """The letter of the type and the routine that `op`, a custom call, asks for."""
    match = _LAPACK.fullmatch(call_target(op))
    return (match[1], match[2]) if match else None
