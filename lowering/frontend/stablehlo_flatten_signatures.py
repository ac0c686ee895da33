"""`stablehlo-flatten-signatures`: functions and calls without tuples and tokens.

A tuple becomes its elements, in order, nested ones too; a token, whose order sequential code
implies, is dropped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build

_TOKEN = "!stablehlo.token"


@dataclass(frozen=True)
class StablehloFlattenSignatures(ModulePass):
    """Pass the elements of tuples, and no tokens, to functions, and return the same."""

    def run(self, module: ir.Operation) -> None:
        functions = [op for op in operations(module) if op.name == "func.func"]
        if not any(_is_nested(t) for op in functions for t in _all_types(op)):
            return
        # Calls first: their operands follow the old signatures.
        for call in [op for op in operations(module) if op.name == "func.call"]:
            with call.location, ir.InsertionPoint(call):
                _flatten_call(call)
        for function in functions:
            _flatten_function(function)
        for op in operations(module):
            if op.name == "stablehlo.get_tuple_element":
                _take_apart(op)
        for op in operations(module)[::-1]:
            if op.name == "stablehlo.tuple" and not list(op.results[0].uses):
                op.erase()


def flattened(types: Sequence[ir.Type]) -> Iterator[ir.Type]:
    """`types` with the elements of tuples in their place, and without tokens."""
    for type_ in types:
        if isinstance(type_, ir.TupleType):
            yield from flattened(_parts(type_))
        elif str(type_) != _TOKEN:
            yield type_


def _parts(type_: ir.TupleType) -> list[ir.Type]:
    return [type_.get_type(index) for index in range(type_.num_types)]


def _is_nested(type_: ir.Type) -> bool:
    return isinstance(type_, ir.TupleType) or str(type_) == _TOKEN


def _signature(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _all_types(function: ir.Operation) -> list[ir.Type]:
    return [*_signature(function).inputs, *_signature(function).results]


def _elements(value: ir.Value) -> Iterator[ir.Value]:
    """The elements of `value`, extracted at the current insertion point."""
    if not isinstance(value.type, ir.TupleType):
        if str(value.type) != _TOKEN:
            yield value
        return
    for index, type_ in enumerate(_parts(value.type)):
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), index)
        yield from _elements(build("get_tuple_element", type_, [value], {"index": number}))


def _composed(type_: ir.Type, elements: Iterator[ir.Value]) -> ir.Value:
    """A value of `type_`, packed from the next of `elements`."""
    if isinstance(type_, ir.TupleType):
        parts = [_composed(part, elements) for part in _parts(type_)]
        return build("tuple", type_, parts)
    return build("create_token", type_, []) if str(type_) == _TOKEN else next(elements)


def _flatten_call(call: ir.Operation) -> None:
    if not any(_is_nested(value.type) for value in (*call.operands, *call.results)):
        return
    operands = [element for operand in call.operands for element in _elements(operand)]
    types = list(flattened([result.type for result in call.results]))
    attributes = {"callee": call.attributes["callee"]}
    new = ir.Operation.create("func.call", types, operands, attributes=attributes)
    results = iter(new.results)
    for result in call.results:
        result.replace_all_uses_with(_composed(result.type, results))
    call.erase()


def _flatten_function(function: ir.Operation) -> None:
    signature = _signature(function)
    if not any(map(_is_nested, (*signature.inputs, *signature.results))):
        return
    with function.location:
        type_ = ir.FunctionType.get(
            list(flattened(signature.inputs)), list(flattened(signature.results))
        )
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
        _keep_attributes(function, "arg_attrs", signature.inputs)
        _keep_attributes(function, "res_attrs", signature.results)
        for block in list(function.regions[0].blocks)[:1]:
            _flatten_arguments(block, type_.inputs, function.location)
    for op in operations(function):
        if op.name == "func.return":
            with op.location, ir.InsertionPoint(op):
                values = [element for operand in op.operands for element in _elements(operand)]
                ir.Operation.create("func.return", [], values)
            op.erase()


def _flatten_arguments(block: ir.Block, types: Sequence[ir.Type], location: ir.Location) -> None:
    old = list(block.arguments)
    new = iter([block.add_argument(type_, location) for type_ in types])
    with ir.InsertionPoint.at_block_begin(block):
        for argument in old:
            argument.replace_all_uses_with(_composed(argument.type, new))
    for _ in old:
        block.erase_argument(0)


def _keep_attributes(function: ir.Operation, name: str, types: Sequence[ir.Type]) -> None:
    """Those of a tuple become those of none of its elements."""
    if name not in function.attributes:
        return
    kept: list[ir.Attribute] = []
    for type_, entry in zip(types, ir.ArrayAttr(function.attributes[name]), strict=True):
        count = len(list(flattened([type_])))
        kept += [ir.DictAttr.get({})] * count if _is_nested(type_) else [entry]
    function.attributes[name] = ir.ArrayAttr.get(kept)


def _take_apart(op: ir.Operation) -> None:
    made = op.operands[0].owner
    if isinstance(made, ir.Block) or made.name != "stablehlo.tuple":
        return
    op.results[0].replace_all_uses_with(made.operands[ir.IntegerAttr(op.attributes["index"]).value])
    op.erase()
