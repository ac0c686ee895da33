"""`composite-to-fp8`: the composites of `fp8-to-composite` as ops of the `fp8` dialect again."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.context import load_fp8_dialect, symbol_name
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._fp8_wire import VERSION, from_wire
from mlir_fp8.lowering._retype import operations, readable_attributes

_COMPOSITE = "stablehlo.composite"
_OWN = ("name", "composite_attributes", "decomposition", "version")


@dataclasses.dataclass(frozen=True)
class CompositeToFp8(ModulePass):
    """Rewrite composites named as ops of the `fp8` dialect to these ops, attributes and all.

    Name and version say what a composite means. One of another version, or whose operands, results
    or attributes are none that the op takes, stays: its decomposition still runs. Decompositions
    that nothing refers to any more go.
    """

    def run(self, module: ir.Operation) -> None:
        composites = [op for op in operations(module) if _is_ours(op)]
        if not composites:
            return
        load_fp8_dialect(module.context)
        with module.context:
            replaced = [op for op in composites if _replace(op)]
            callees = {_callee(op) for op in replaced}
            for op in replaced:
                op.erase()
            _drop_unused(module, callees)


def _is_ours(op: ir.Operation) -> bool:
    if op.name != _COMPOSITE or not str(op.attributes["name"]).startswith('"fp8.'):
        return False
    version = op.attributes.get("version")
    return version is not None and ir.IntegerAttr(version).value == VERSION


def _callee(composite: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(composite.attributes["decomposition"]).value


def _replace(composite: ir.Operation) -> bool:
    """Whether `composite` was one of an op that takes its parts, which is in its place now."""
    from mlir_fp8.dialects.fp8 import REFUSALS

    name = ir.StringAttr(composite.attributes["name"]).value
    given = dict(readable_attributes(composite))
    if name not in REFUSALS or len(given) != len(composite.attributes):
        return False
    travelled = given.get("composite_attributes")
    entries = {} if travelled is None else {e.name: e.attr for e in ir.DictAttr(travelled)}
    attributes = from_wire(name, entries)
    if attributes is None:
        return False
    attributes.update({key: given[key] for key in given if key not in _OWN})
    with ir.InsertionPoint(composite), composite.location:
        op = ir.Operation.create(
            name,
            results=[result.type for result in composite.results],
            operands=list(composite.operands),
            attributes=attributes,
        )
    if REFUSALS[name](op):
        op.erase()
        return False
    for result, new in zip(composite.results, op.results, strict=True):
        result.replace_all_uses_with(new)
    return True


def _drop_unused(module: ir.Operation, names: set[str]) -> None:
    """Erase the private functions among `names` that nothing refers to."""
    ops = operations(module)
    attributes = [attribute for op in ops for _, attribute in readable_attributes(op)]
    unused = names.difference(*map(_symbols, attributes))
    for op in ops:
        if op.name != "func.func" or str(op.attributes.get("sym_visibility")) != '"private"':
            continue
        if symbol_name(op) in unused:
            op.erase()


def _symbols(attribute: ir.Attribute) -> list[str]:
    """The names in `attribute`, wherever in it."""
    match attribute:
        case ir.ArrayAttr():
            return [name for each in attribute for name in _symbols(each)]
        case ir.DictAttr():
            return [name for each in attribute for name in _symbols(each.attr)]
        case ir.FlatSymbolRefAttr():
            return [attribute.value]
        case ir.SymbolRefAttr():
            return list(attribute.value)
        case _:
            return []
