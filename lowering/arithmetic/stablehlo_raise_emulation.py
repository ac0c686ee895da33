"""`stablehlo-raise-emulation`: undoes `stablehlo-emulate-small-floats`, by the marks it left.

Nothing is guessed: marked values get their type back, others stay, and calls of the marked
functions become the ops that they stand for. Inconsistent marks are refused.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type, operations, replace_op
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._emulated_conversion import Conversion, is_conversion
from mlir_fp8.lowering.arithmetic._emulation import (
    ARGUMENT_MARKS,
    EMULATED_OPS,
    HELPER,
    MARK,
    PREFIX,
    UNCHANGED,
    Carriers,
    attributes_of,
    dense,
    edited,
    enclosing_module,
    is_emulated,
    restored,
)

_FunctionName = tuple[ir.Operation, str]


@dataclasses.dataclass(frozen=True)
class StablehloRaiseEmulation(ModulePass):
    """Give emulated small floats their types back; a module without any stays as it is."""

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            ops = operations(module)
            if any(map(is_emulated, ops)):
                _raise(module, ops)


def _raise(module: ir.Operation, ops: list[ir.Operation]) -> None:
    helpers = {_function_name(op): _Helper(op) for op in ops if HELPER in op.attributes}
    inside = {inner for helper in helpers.values() for inner in operations(helper.op)}
    ops = [op for op in ops if op not in inside]
    marks = [mark for op in ops for mark in _restore(op)]
    names = {name for mark in marks for name in mark.split(",")} - {UNCHANGED}
    carriers = Carriers({name: SMALL_FLOATS[name] for name in names})
    for op in ops:
        reason = carriers.check(op)
        if reason is not None:
            raise edited(op, reason)
    for op in ops:
        if op.name == "func.call":
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            helper = helpers.get((enclosing_module(op), callee))
            if helper is not None:
                helper.replace(op)
    for helper in helpers.values():
        helper.op.erase()
    _verify(module)


def _function_name(op: ir.Operation) -> _FunctionName:
    if op.name != "func.func":
        raise edited(op, f"stands for {op.attributes[HELPER]}, but is not a function")
    return enclosing_module(op), ir.StringAttr(op.attributes["sym_name"]).value


class _Helper:
    """A function that stands for an op."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self._kind = str(op.attributes[HELPER]).strip('"')
        signature = function_type(op)
        types = [*signature.inputs, *signature.results]
        if self._kind not in EMULATED_OPS or len(types) != 2:
            raise edited(op, f"stands for {self._kind}, which was never emulated so")
        marks = [*_marks(op, "arg_attrs", 1), *_marks(op, "res_attrs", 1)]
        self._source, self._target = (
            restored(op, type_, mark) for type_, mark in zip(types, marks, strict=True)
        )
        formats = {name: SMALL_FLOATS[name] for name in marks if name != UNCHANGED}
        if _body(op) != self._written_body(formats):
            raise edited(op, f"does not compute the {self._kind} that it stands for")

    def _written_body(self, formats: dict[str, FloatFormat]) -> str:
        """What emulation writes for the op and its types, in which `formats` are emulated."""
        scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body):
            values = ir.Operation.create("scratch.value", results=[self._source])
            op = ir.Operation.create(self._kind, [self._target], list(values.results))
        if not is_conversion(op, formats):
            raise edited(self.op, f"stands for a {self._kind} that is not emulated")
        function = Conversion(op, formats).build_function(scratch.operation).operation
        for each in (op, values):  # invalid, which would change how the function prints
            each.erase()
        return _body(function)

    def replace(self, call: ir.Operation) -> None:
        """Put the op in the place of a `call` whose values have their types back."""
        if call.operands[0].type != self._source or call.results[0].type != self._target:
            raise edited(call, f"has other marks than the {self._kind} that it calls")
        kept = {name: item for name, item in call.attributes.items() if name != "callee"}
        with ir.InsertionPoint(call), call.location:
            op = ir.Operation.create(self._kind, [self._target], list(call.operands), kept)
        replace_op(call, op.results)


def _body(function: ir.Operation) -> str:
    """The text of its ops: whoever reads and writes a module keeps it, but for locations."""
    return str(function).partition("\n")[2]


def _marks(op: ir.Operation, key: str, count: int) -> list[str]:
    """What the `count` arguments or results of a function were."""
    attributes = attributes_of(op, key) or [{}] * count
    return [_text(op, each[MARK]) if MARK in each else UNCHANGED for each in attributes]


def _text(op: ir.Operation, attribute: ir.Attribute) -> str:
    if not isinstance(attribute, ir.StringAttr):
        raise edited(op, f"has {attribute} for a mark")
    return attribute.value


def _restore(op: ir.Operation) -> list[str]:
    """Give what `op` defines its types back and drop the marks, which are returned."""
    if op.name == "func.func":
        return _restore_function(op)
    found: list[str] = []
    if MARK in op.attributes:
        marks = _texts(op, op.attributes[MARK])
        if op.name == "stablehlo.constant" and marks != [UNCHANGED]:
            _restore_constant(op, marks)
        found += _set_types(op, list(op.results), marks)
        del op.attributes[MARK]
    if ARGUMENT_MARKS in op.attributes:
        arguments = [list(block.arguments) for region in op.regions for block in region]
        lists = op.attributes[ARGUMENT_MARKS]
        if not isinstance(lists, ir.ArrayAttr) or len(lists) != len(arguments):
            raise edited(op, f"has {lists} for the marks of {len(arguments)} regions")
        for values, marks in zip(arguments, lists, strict=True):
            found += _set_types(op, values, _texts(op, marks))
        del op.attributes[ARGUMENT_MARKS]
    return found


def _texts(op: ir.Operation, attribute: ir.Attribute) -> list[str]:
    if not isinstance(attribute, ir.ArrayAttr):
        raise edited(op, f"has {attribute} for a list of marks")
    return [_text(op, each) for each in attribute]


def _set_types(op: ir.Operation, values: Sequence[ir.Value], marks: list[str]) -> list[str]:
    if len(values) != len(marks):
        raise edited(op, f"has {len(marks)} marks for {len(values)} values")
    for value, mark in zip(values, marks, strict=True):
        if mark != UNCHANGED:
            value.set_type(restored(op, value.type, mark))
    return marks


def _restore_constant(op: ir.Operation, marks: list[str]) -> None:
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr):
        raise edited(op, "holds its elements outside of the module")
    type_ = restored(op, value.type, ",".join(marks))
    op.attributes["value"] = dense(np.array(value), type_)


def _restore_function(op: ir.Operation) -> list[str]:
    if ir.StringAttr(op.attributes["sym_name"]).value.startswith(PREFIX):
        raise edited(op, "has a name of emulation, but does not say what it stands for")
    signature = function_type(op)
    found: list[str] = []
    sides: list[list[ir.Type]] = []
    for key, types in (("arg_attrs", signature.inputs), ("res_attrs", signature.results)):
        marks = _marks(op, key, len(types))
        found += marks
        sides.append([restored(op, t, mark) for t, mark in zip(types, marks, strict=True)])
        _drop_marks(op, key)
    for block in list(op.regions[0].blocks)[:1]:
        for argument, type_ in zip(block.arguments, sides[0], strict=True):
            argument.set_type(type_)
    op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*sides))
    return found


def _drop_marks(op: ir.Operation, key: str) -> None:
    attributes = attributes_of(op, key)
    if not any(MARK in each for each in attributes):
        return
    for each in attributes:
        each.pop(MARK, None)
    if any(attributes):
        op.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
    else:
        del op.attributes[key]


def _verify(module: ir.Operation) -> None:
    try:
        module.verify()
    except ir.MLIRError as error:
        raise Fp8Error(
            f"{mlir_error(error, 'module')} (once the marked types are restored): "
            "the module was changed since it was emulated; do not raise it"
        ) from None
