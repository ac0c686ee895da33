"""`stablehlo-flatten-signatures`: functions and calls without tuples and tokens.

A tuple becomes its elements, in order, nested ones too; a token, whose order sequential code
implies, is dropped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import function_type, operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build, renew_arguments, take_tuples_apart

_TOKEN = "!stablehlo.token"


@dataclass(frozen=True)
class StablehloFlattenSignatures(ModulePass):
    """Pass the elements of tuples, and no tokens, to functions, and return the same."""

    def run(self, module: ir.Operation) -> None:
        functions = operations(module, "func.func")
        if not any(_is_nested(t) for op in functions for t in _all_types(op)):
            return
        # First the calls: what they are given is named by the old signatures.
        for call in operations(module, "func.call"):
            with call.location, ir.InsertionPoint(call):
                _flatten_call(call)
        for function in functions:
            _flatten_function(function)
        take_tuples_apart(module)
        for op in operations(module, "stablehlo.tuple")[::-1]:
            if not list(op.results[0].uses):
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


def _all_types(function: ir.Operation) -> list[ir.Type]:
    return [*function_type(function).inputs, *function_type(function).results]


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
    replace_op(call, [_composed(result.type, results) for result in call.results])


def _flatten_function(function: ir.Operation) -> None:
    signature = function_type(function)
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
            renew_arguments(block, type_.inputs, function.location, _composed)
    for op in operations(function, "func.return"):
        with op.location, ir.InsertionPoint(op):
            values = [element for operand in op.operands for element in _elements(operand)]
            ir.Operation.create("func.return", [], values)
        op.erase()


def _keep_attributes(function: ir.Operation, name: str, types: Sequence[ir.Type]) -> None:
    """Those of a tuple become those of none of its elements."""
    if name not in function.attributes:
        return
    kept: list[ir.Attribute] = []
    for type_, entry in zip(types, ir.ArrayAttr(function.attributes[name]), strict=True):
        count = len(list(flattened([type_])))
        kept += [ir.DictAttr.get({})] * count if _is_nested(type_) else [entry]
    function.attributes[name] = ir.ArrayAttr.get(kept)
