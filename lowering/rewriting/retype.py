"""Change types in place: every value, signature and constant of a module from one type to another.

In place, because a change of storage type alone (f8 to the i8 that holds its code) leaves every op,
operand and attribute where it was.
"""

from collections.abc import Callable, Iterable

from torch_mlir import ir, passmanager
from torch_mlir.dialects import arith, func

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import readable_attributes

ElementMap = Callable[[ir.Type], ir.Type]
"""New element type of a scalar type; the type itself where nothing changes."""


def element_type(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.ShapedType) else type_


def retype(type_: ir.Type, element: ElementMap) -> ir.Type:
    """`type_` with `element` applied to its element types; layouts and encodings are kept."""
    match type_:
        case ir.RankedTensorType():
            inner = retype(type_.element_type, element)
            same = inner == type_.element_type
            return type_ if same else ir.RankedTensorType.get(type_.shape, inner, type_.encoding)
        case ir.UnrankedTensorType():
            return ir.UnrankedTensorType.get(retype(type_.element_type, element))
        case ir.MemRefType():
            inner = retype(type_.element_type, element)
            if inner == type_.element_type:
                return type_
            return ir.MemRefType.get(type_.shape, inner, type_.layout, type_.memory_space)
        case ir.UnrankedMemRefType():
            return ir.UnrankedMemRefType.get(
                retype(type_.element_type, element), type_.memory_space
            )
        case ir.VectorType():
            inner = retype(type_.element_type, element)
            if inner == type_.element_type:
                return type_
            scalable = type_.scalable_dims if type_.scalable else None
            return ir.VectorType.get(type_.shape, inner, scalable=scalable)
        case ir.FunctionType():
            return ir.FunctionType.get(
                [retype(t, element) for t in type_.inputs],
                [retype(t, element) for t in type_.results],
            )
        case ir.TupleType():
            parts = [type_.get_type(i) for i in range(type_.num_types)]
            return ir.TupleType.get_tuple([retype(t, element) for t in parts])
        case _:
            return element(type_)


def retype_values(ops: Iterable[ir.Operation], element: ElementMap) -> None:
    """Retype every result and block argument of `ops`."""
    cache: dict[ir.Type, ir.Type] = {}

    def change(value: ir.Value) -> None:
        old = value.type
        if old not in cache:
            cache[old] = retype(old, element)
        if cache[old] != old:
            value.set_type(cache[old])

    for op in ops:
        for result in op.results:
            change(result)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    change(argument)


def retype_signatures(ops: Iterable[ir.Operation], element: ElementMap) -> None:
    """Retype the signature of every function among `ops`."""
    for op in ops:
        if op.name == "func.func":
            signature = ir.TypeAttr(op.attributes["function_type"]).value
            op.attributes["function_type"] = ir.TypeAttr.get(retype(signature, element))


def retype_attributes(
    ops: Iterable[ir.Operation],
    element: ElementMap,
    constants: Callable[[list[ir.Attribute]], list[ir.Attribute]],
) -> None:
    """Retype every type and every constant in the attributes of `ops`.

    `constants` gives the new attributes of the constants whose type changes, all in one call.
    """
    found: dict[ir.Attribute, ir.Attribute | None] = {}
    holders: list[tuple[ir.Operation, str, ir.Attribute]] = []
    changes: dict[ir.Attribute, bool] = {}
    for op in ops:
        for name, attribute in readable_attributes(op):
            if attribute not in changes:
                changes[attribute] = _collect(op, attribute, element, found)
            if changes[attribute]:
                holders.append((op, name, attribute))
    for old, new in zip(found, constants(list(found)), strict=True):
        found[old] = new
    for op, name, attribute in holders:
        op.attributes[name] = _replace(attribute, element, found)


def _collect(
    op: ir.Operation,
    attribute: ir.Attribute,
    element: ElementMap,
    found: dict[ir.Attribute, ir.Attribute | None],
) -> bool:
    """Whether `attribute` changes; constants that do are added to `found`."""
    match attribute:
        case ir.TypeAttr():
            return retype(attribute.value, element) != attribute.value
        case ir.ArrayAttr():
            # No short circuit: `_collect` adds to `found`.
            changes = [_collect(op, item, element, found) for item in attribute]
            return any(changes)
        case ir.DictAttr():
            changes = [_collect(op, item.attr, element, found) for item in attribute]
            return any(changes)
        case ir.DenseElementsAttr() | ir.FloatAttr():
            if retype(attribute.type, element) == attribute.type:
                return False
            found[attribute] = None
            return True
        case _:
            # The bindings have no class for some constants (dense_resource, sparse).
            if retype(attribute.type, element) != attribute.type:
                kind = str(attribute).partition("<")[0]
                raise op_error(op, f"holds a {kind} constant of {attribute.type}: make it dense")
            return False


def _replace(
    attribute: ir.Attribute,
    element: ElementMap,
    found: dict[ir.Attribute, ir.Attribute | None],
) -> ir.Attribute:
    match attribute:
        case ir.TypeAttr():
            return ir.TypeAttr.get(retype(attribute.value, element))
        case ir.ArrayAttr():
            return ir.ArrayAttr.get([_replace(item, element, found) for item in attribute])
        case ir.DictAttr():
            return ir.DictAttr.get(
                {item.name: _replace(item.attr, element, found) for item in attribute}
            )
        case _:
            # Not `or`: an attribute without elements is false.
            new = found.get(attribute)
            return attribute if new is None else new


def codes_of_constants(
    attributes: list[ir.Attribute], storage: Callable[[ir.Type], int]
) -> list[ir.Attribute]:
    """The constants' bits as integers of `storage(element type)` bits, zero-extended.

    The bindings cannot read small floats, but MLIR folds a bitcast of them, NaN payloads included.
    """
    if not attributes:
        return []
    with ir.Location.unknown():
        scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body):
            function = func.FuncOp("codes", ir.FunctionType.get([], []))
        with ir.InsertionPoint(function.add_entry_block()):
            codes = [_code_of(attribute, storage) for attribute in attributes]
            func.ReturnOp(codes)
        signature = ir.FunctionType.get([], [code.type for code in codes])
        function.attributes["function_type"] = ir.TypeAttr.get(signature)
        passmanager.PassManager.parse("builtin.module(canonicalize)").run(scratch.operation)
    returned = list(function.entry_block.operations)[-1].operation.operands
    return [code.owner.attributes["value"] for code in returned]


def _code_of(attribute: ir.Attribute, storage: Callable[[ir.Type], int]) -> ir.Value:
    exact = retype(attribute.type, lambda t: ir.IntegerType.get_signless(ir.FloatType(t).width))
    wide = retype(attribute.type, lambda t: ir.IntegerType.get_signless(storage(t)))
    if isinstance(attribute.type, ir.ShapedType) and 0 in attribute.type.shape:
        # MLIR folds nothing without elements.
        return arith.constant(wide, ir.Attribute.parse(f"dense<> : {wide}"))
    code = arith.bitcast(exact, arith.constant(attribute.type, attribute))
    if wide == exact:
        return code
    # Text and bytecode keep a byte per element: MLIR takes its low bits, but folds all of them.
    bits = ir.FloatType(element_type(attribute.type)).width
    mask: ir.Attribute = ir.IntegerAttr.get(element_type(wide), (1 << bits) - 1)
    if isinstance(wide, ir.ShapedType):
        mask = ir.DenseElementsAttr.get_splat(wide, mask)
    return arith.andi(arith.extui(wide, code), arith.constant(wide, mask))
