"""`composite-to-fp8`: the composites of `fp8-to-composite` as ops of the `fp8` dialect again."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import operations, readable_attributes
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.fp8.ops.wire import VERSION, from_wire

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
            callees = {op.attributes["decomposition"] for op in replaced}
            for op in replaced:
                op.erase()
            _drop_unused(module, callees)


def _is_ours(op: ir.Operation) -> bool:
    if op.name != _COMPOSITE or not str(op.attributes["name"]).startswith('"fp8.'):
        return False
    version = op.attributes.get("version")
    return version is not None and ir.IntegerAttr(version).value == VERSION


def _replace(composite: ir.Operation) -> bool:
    """Whether `composite` was one of an op that takes its parts, which is in its place now."""
    from mlir_fp8.dialects.fp8 import REFUSALS

    name = str(composite.attributes["name"]).strip('"')
    given = dict(readable_attributes(composite))
    if name not in REFUSALS or len(given) != len(composite.attributes):
        return False
    entries = _entries(given.get("composite_attributes"))
    shape = _shape(composite)
    attributes = None if entries is None else from_wire(name, entries, shape)
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


def _shape(op: ir.Operation) -> list[int]:
    first = op.results[0].type if len(op.results) else None
    return list(first.shape) if isinstance(first, ir.RankedTensorType) else []


def _entries(attribute: ir.Attribute | None) -> dict[str, ir.Attribute] | None:
    """What a dictionary holds; None where the bindings have no class for some of it."""
    if attribute is None:
        return {}
    dictionary = ir.DictAttr(attribute)
    names = [dictionary[index].name for index in range(len(dictionary))]
    try:
        # By name: the value of a pair aborts where there is no class for it.
        return {name: dictionary[name] for name in names}
    except TypeError:
        return None


def _drop_unused(module: ir.Operation, names: set[ir.Attribute]) -> None:
    """Erase the private functions among `names` that nothing refers to."""
    ops = operations(module)
    attributes = [attribute for op in ops for _, attribute in readable_attributes(op)]
    try:
        unused = names.difference(*map(_references, attributes))
    except TypeError:
        return  # what is in a list for which the bindings have no class may refer to any
    for op in ops:
        if op.name != "func.func" or str(op.attributes.get("sym_visibility")) != '"private"':
            continue
        if ir.FlatSymbolRefAttr.get(symbol_name(op)) in unused:
            op.erase()


def _references(attribute: ir.Attribute) -> list[ir.Attribute]:
    """The references to functions in `attribute`, wherever in it."""
    match attribute:
        case ir.ArrayAttr():
            return [found for each in attribute for found in _references(each)]
        case ir.DictAttr():
            entries = _entries(attribute)
            if entries is None:
                raise TypeError(f"{attribute} cannot be read")
            return [found for each in entries.values() for found in _references(each)]
        case ir.FlatSymbolRefAttr():
            return [attribute]
        case _:
            return []
