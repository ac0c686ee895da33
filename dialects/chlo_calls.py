"""HLO's functions that StableHLO has no ops for (erf, sinh, top-k, ...): CHLO ops, or custom calls.

MHLO's legalization turns them into `stablehlo.custom_call @mhlo.erf`, which only XLA knows;
CHLO has an op for each, which the pipeline lowers.
"""

from torch_mlir import ir

from mlir_fp8.base.operations import call_target, operations

_UNARY = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh")
_MHLO = {f"chlo.{name}": f"mhlo.{name}" for name in _UNARY} | {"chlo.top_k": "mhlo.topk"}
_CHLO = {call: chlo for chlo, call in _MHLO.items()} | {"mhlo.tan": "chlo.tan"}  # of older JAX
_ATTRIBUTES, _VERSION = "mhlo.attributes", "mhlo.version"


def calls_to_chlo(module: ir.Operation) -> None:
    """Make a CHLO op of every custom call that stands for one; `misfit` tells of what is left."""
    for op in operations(module, "stablehlo.custom_call"):
        if call_target(op) in _CHLO and not misfit(op):
            target = call_target(op)
            k = _k(op) if target == "mhlo.topk" else None
            _replace(op, _CHLO[target], {"k": k} if k is not None else {})


def misfit(op: ir.Operation) -> str:
    """Why a custom call is not the CHLO op that its target names; empty where it is, or for any
    other target."""
    target = call_target(op)
    if target not in _CHLO:
        return ""
    if _ATTRIBUTES in op.attributes and not isinstance(op.attributes[_ATTRIBUTES], ir.DictAttr):
        return f"calls '{target}' with {_ATTRIBUTES} that are no dictionary"
    return _misfit_of_top_k(op) if target == "mhlo.topk" else _misfit_of_unary(op, target)


def _misfit_of_unary(op: ir.Operation, target: str) -> str:
    types = [value.type for value in (*op.operands, *op.results)]
    if len(op.operands) != 1 or len(op.results) != 1 or not _agree(*types):
        return f"calls '{target}', which gives one tensor of its operand's type"
    element = ir.ShapedType(types[0]).element_type
    if not isinstance(element, ir.FloatType | ir.ComplexType):
        return f"calls '{target}' on {element}, which is defined on floats: convert before"
    if target == "mhlo.erf" and isinstance(element, ir.ComplexType):
        return f"calls '{target}' on {element}, which is defined on real numbers"
    return ""


def _misfit_of_top_k(op: ir.Operation) -> str:
    largest = _inner(op, "largest")
    if len(op.operands) != 1 or len(op.results) != 2:
        return "calls 'mhlo.topk' on other than one tensor, for values and indices"
    if largest is not None and not isinstance(largest, ir.BoolAttr):
        return f"calls 'mhlo.topk' with largest = {largest}, which is true or false"
    if largest is not None and not ir.BoolAttr(largest).value:  # CHLO has the largest only
        return "calls 'mhlo.topk' for the smallest elements: use stablehlo.sort"
    k = _k(op)
    if k is None:
        return "calls 'mhlo.topk' without a whole number k in mhlo.attributes"
    count = ir.IntegerAttr(k).value
    wanted = _top_k_types(op.operands[0].type, count)
    if not wanted or not all(map(_agree, [result.type for result in op.results], wanted)):
        return f"calls 'mhlo.topk' with k = {count}, which gives no such results of this operand"
    return ""


def _k(op: ir.Operation) -> ir.Attribute | None:
    """What `mhlo.attributes` say, else the size of the results."""
    k = _inner(op, "k")
    type_ = op.results[0].type
    if k is None and isinstance(type_, ir.RankedTensorType) and type_.rank:
        last = type_.rank - 1
        if not type_.is_dynamic_dim(last):
            i64 = ir.IntegerType.get_signless(64, op.context)
            return ir.IntegerAttr.get(i64, type_.get_dim_size(last))
    if not isinstance(k, ir.IntegerAttr) or str(k.type) != "i64" or k.value < 0:
        return None
    return k


def _top_k_types(operand: ir.Type, k: int) -> list[ir.Type]:
    if not isinstance(operand, ir.RankedTensorType) or not operand.rank:
        return []
    *outer, last = operand.shape
    if not operand.is_dynamic_dim(len(outer)) and k > last:
        return []
    i32 = ir.IntegerType.get_signless(32, operand.context)
    with operand.context, ir.Location.unknown():
        return [ir.RankedTensorType.get([*outer, k], e) for e in (operand.element_type, i32)]


def _agree(a: ir.Type, b: ir.Type) -> bool:
    """Whether two types are tensors of the same elements, whose known sizes are the same."""
    if a == b:
        return isinstance(a, ir.ShapedType)
    if not isinstance(a, ir.RankedTensorType) or not isinstance(b, ir.RankedTensorType):
        return False
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = zip(a.shape, b.shape, strict=False)
    return (
        a.element_type == b.element_type
        and a.rank == b.rank
        and all(x == y or dynamic in (x, y) for x, y in sizes)
    )


def _inner(op: ir.Operation, name: str) -> ir.Attribute | None:
    if _ATTRIBUTES not in op.attributes:
        return None
    inner = ir.DictAttr(op.attributes[_ATTRIBUTES])
    return inner[name] if name in inner else None  # noqa: SIM401 - it has no such `get`


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
