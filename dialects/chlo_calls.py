"""HLO's functions that StableHLO has no ops for (erf, sinh, top-k, ...): CHLO ops, or custom calls.

MHLO's legalization makes `stablehlo.custom_call @mhlo.erf` of them, which nothing but XLA knows;
CHLO has an op for each, which the road lowers.
"""

from torch_mlir import ir

from mlir_fp8.base.operations import operations

_UNARY = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh")
_CHLO = {f"mhlo.{name}": f"chlo.{name}" for name in _UNARY} | {"mhlo.topk": "chlo.top_k"}
_MHLO = {chlo: call for call, chlo in _CHLO.items()}
_ATTRIBUTES, _VERSION = "mhlo.attributes", "mhlo.version"


def calls_to_chlo(module: ir.Operation) -> None:
    """Make a CHLO op of every custom call that stands for one."""
    for op in filter(_is_call, operations(module)):
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        attributes = ir.DictAttr(op.attributes[_ATTRIBUTES])
        kept: dict[str, ir.Attribute] = {}
        if target == "mhlo.topk":
            if "largest" in attributes and not ir.BoolAttr(attributes["largest"]).value:
                continue  # CHLO takes the largest only
            kept["k"] = attributes["k"]
        _replace(op, _CHLO[target], kept)


def chlo_to_calls(module: ir.Operation) -> None:
    """Make of every CHLO op that HLO has the custom call that XLA knows it by."""
    for op in (each for each in operations(module) if each.name in _MHLO):
        with op.context:
            inner: dict[str, ir.Attribute] = {}
            if op.name == "chlo.top_k":
                inner = {"k": op.attributes["k"], "largest": ir.BoolAttr.get(True)}
            call = {
                "call_target_name": ir.StringAttr.get(_MHLO[op.name]),
                _ATTRIBUTES: ir.DictAttr.get(inner),
                _VERSION: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1),
            }
        _replace(op, "stablehlo.custom_call", call)


def _is_call(op: ir.Operation) -> bool:
    if op.name != "stablehlo.custom_call" or _ATTRIBUTES not in op.attributes:
        return False
    return ir.StringAttr(op.attributes["call_target_name"]).value in _CHLO


def _replace(op: ir.Operation, name: str, attributes: dict[str, ir.Attribute]) -> None:
    with op.location, ir.InsertionPoint(op):
        new = ir.Operation.create(
            name,
            results=[result.type for result in op.results],
            operands=list(op.operands),
            attributes=attributes,
        )
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
