"""`composite-to-ragged-dot`: the composite that JAX exports as `chlo.ragged_dot`."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, readable_attributes, replace_op
from mlir_fp8.dialects.chlo_ragged_dots import NAMES, RAGGED_DOT, ragged_attribute
from mlir_fp8.lowering import ModulePass

VERSION = 1
"""What the attributes below mean, by XLA's `chlo-preserve-high-level-ops`."""
_NUMBERS = "ragged_dot_dimension_numbers"


@dataclass(frozen=True)
class CompositeToRaggedDot(ModulePass):
    """Rewrite composites named `chlo.ragged_dot`, of version 1, to that op.

    It is lowered better than their decomposition, which stays for those that are no such op: of
    another version, or with attributes that it has not.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module, "stablehlo.composite"):
                if str(op.attributes["name"]) == f'"{RAGGED_DOT}"':
                    _recompose(op)


def _recompose(composite: ir.Operation) -> None:
    given = dict(readable_attributes(composite))
    version, entries = given.get("version"), given.get("composite_attributes")
    if entries is None or version is None or ir.IntegerAttr(version).value != VERSION:
        return
    attributes = _attributes(ir.DictAttr(entries))
    if attributes is None:
        return
    attributes.update({name: given[name] for name in given if "." in name})
    with ir.InsertionPoint(composite), composite.location:
        op = ir.Operation.create(
            RAGGED_DOT,
            results=[result.type for result in composite.results],
            operands=list(composite.operands),
            attributes=attributes,
        )
    try:
        op.verify()
    except ir.MLIRError:
        op.erase()
        return
    replace_op(composite, op.results)


def _attributes(entries: ir.DictAttr) -> dict[str, ir.Attribute] | None:
    """Those of the op; None where an entry is none that it has."""
    names = {entries[index].name for index in range(len(entries))}
    if _NUMBERS not in names or not names <= {_NUMBERS, "precision_config"}:
        return None
    lists = list(ir.ArrayAttr(entries[_NUMBERS]))
    if len(lists) != len(NAMES):
        return None
    numbers = {
        name: [int(each) for each in ir.DenseIntElementsAttr(attribute)]
        for name, attribute in zip(NAMES, lists, strict=True)
    }
    found = {_NUMBERS: ragged_attribute(numbers)}
    if "precision_config" in names:
        levels = [ir.StringAttr(each).value for each in ir.ArrayAttr(entries["precision_config"])]
        parsed = [ir.Attribute.parse(f"#chlo<precision {level}>") for level in levels]
        found["precision_config"] = ir.ArrayAttr.get(parsed)
    return found
