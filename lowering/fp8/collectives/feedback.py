"""What rounding lost of a sum's terms, kept on each device for the next step.

A residual is state of the entry, f32: one more argument and result, zeros before the first step.
Where devices compute on their parts in a function of its own, it is a tensor of all devices'
residuals, split along its first dimension.
"""

import math
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import call_target, callee, operations, producer, terminator
from mlir_fp8.base.shardings import (
    FRONTEND,
    Shardy,
    annotation,
    frontend_attributes,
    mesh_axes,
    shardy_of,
)
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
from mlir_fp8.lowering.fp8.scaling.state import INITIAL, STATE, describe
from mlir_fp8.lowering.fp8.scaling.threading import append_operands
from mlir_fp8.lowering.rewriting.collectives import group_of
from mlir_fp8.lowering.rewriting.shardings import ManualValues, is_body, said_result
from mlir_fp8.lowering.rewriting.stablehlo import build

_ENTER, _LEAVE = "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"


class Feedback:
    """The residuals of a module's sums."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._functions: dict[ir.Operation, list[ir.Value]] = {}
        self._count = 0

    def refusal(self, op: ir.Operation) -> str:
        """Why what `op` loses cannot be kept; "" where it can."""
        function = parent_of(op)
        if function.name != "func.func":
            return f"is inside {function.name}, where no residual is kept: drop error-feedback"
        if is_body(function):
            return self._refuse_body(function)
        if ManualValues(function).groups(op.operands[0]) is not None:
            return "is in a manual region of GSPMD, where no residual is kept: export with Shardy"
        group = group_of(op)
        is_private = "sym_visibility" in function.attributes
        if is_private and '"private"' in str(function.attributes["sym_visibility"]):
            return "is in a private function, where no residual is kept: inline it"
        return "" if group is not None else "is among replicas and partitions at once"

    def _refuse_body(self, function: ir.Operation) -> str:
        calls = self._calls(function)
        if len(calls) != 1 or not len(calls[0].operands) or not len(calls[0].results):
            return "is in a manual computation without arguments or results, or of several calls"
        caller = parent_of(calls[0])
        entry, leave = producer(calls[0].operands[0]), self._leave(calls[0])
        if caller.name != "func.func" or is_body(caller) or entry is None or leave is None:
            return f"is in a manual computation inside {caller.name}, where no residual is kept"
        return ""

    def take(self, op: ir.Operation, shape: list[int]) -> ir.Value:
        """What `op` lost of a tensor of `shape` at the last step, f32, where ops are inserted."""
        function = parent_of(op)
        self._functions.setdefault(function, [])
        held = [1, *shape] if is_body(function) else shape
        type_ = ir.RankedTensorType.get(held, ir.F32Type.get())
        value = function.regions[0].blocks[0].add_argument(type_, op.location)
        return value if held == shape else build("reshape", with_shape(value, shape), [value])

    def give(self, op: ir.Operation, lost: ir.Value) -> None:
        """Let `lost` be what `take`, called last, gives at the next step."""
        function = parent_of(op)
        if is_body(function):
            shape = [1, *ir.RankedTensorType(lost.type).shape]
            lost = build("reshape", with_shape(lost, shape), [lost])
        self._functions[function].append(lost)

    def finish(self) -> None:
        """Carry the residuals from the arguments of the entry to its results."""
        for function, given in self._functions.items():
            end = terminator(function.regions[0].blocks[0])
            names = self._names(len(given))
            if not is_body(function):
                self._describe_entry(function, names, len(end.operands), None)
            append_operands(end, given)
            types = [each.type for each in given]
            _set_type(function, types)
            if is_body(function):
                self._through_call(function, types, names)

    def _names(self, count: int) -> list[str]:
        self._count += count
        return [f"wire{at}.residual" for at in range(self._count - count, self._count)]

    def _describe_entry(
        self, entry: ir.Operation, names: list[str], results: int, shardings: list[Shardy] | None
    ) -> None:
        block = entry.regions[0].blocks[0]
        said = [None] * len(names) if shardings is None else shardings
        zero = ir.FloatAttr.get(ir.F32Type.get(), 0.0)
        arguments, ends = [], []
        for name, sharding in zip(names, said, strict=True):
            of_state = {STATE: ir.StringAttr.get(name)}
            placed = annotation([sharding], of_argument=True) if sharding else {}
            arguments.append({**of_state, INITIAL: zero, **placed})
            ends.append(of_state)
        describe(entry, "arg_attrs", len(block.arguments) - len(names), arguments)
        describe(entry, "res_attrs", results, ends)

    def _through_call(self, body: ir.Operation, types: list[ir.Type], names: list[str]) -> None:
        (call,) = self._calls(body)
        entry = parent_of(call)
        enter, leave = producer(call.operands[0]), self._leave(call)
        assert enter is not None and leave is not None
        texts = frontend_attributes(enter.attributes)
        said = shardy_of(texts["xla.sdy.in_shardings"])
        assert said is not None
        mesh = mesh_axes(self._module, said.mesh) or {}
        axes = [name for name in mesh if f'"{name}"' in texts["xla.sdy.manual_axes"]]
        first = "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"
        count = math.prod(mesh[axis] for axis in axes)
        ranks = [ir.RankedTensorType(each).rank for each in types]
        shardings = [Shardy(said.mesh, (first, *["{}"] * (rank - 1))) for rank in ranks]
        wholes = [_whole(each, count) for each in types]
        block = entry.regions[0].blocks[0]
        arguments = [block.add_argument(each, body.location) for each in wholes]
        enter = _extended(enter, arguments, types, "xla.sdy.in_shardings", shardings)
        call = _extended(call, list(enter.results)[-len(types) :], types, "", [])
        leave = _extended(
            leave, list(call.results)[-len(types) :], wholes, "xla.sdy.out_shardings", shardings
        )
        end = terminator(block)
        self._describe_entry(entry, names, len(end.operands), shardings)
        values = list(leave.results)[-len(types) :]
        pairs = zip(values, shardings, strict=True)
        append_operands(end, [said_result(end, *pair)[0] for pair in pairs])
        _set_type(entry, wholes)

    def _calls(self, body: ir.Operation) -> list[ir.Operation]:
        name = symbol_name(body)
        return [op for op in operations(self._module, "func.call") if callee(op) == name]

    def _leave(self, call: ir.Operation) -> ir.Operation | None:
        users = [use.owner.operation for value in call.results for use in value.uses]
        is_leave = bool(users) and users[0].name == "stablehlo.custom_call"
        return users[0] if is_leave and call_target(users[0]) == _LEAVE else None


def parent_of(op: ir.Operation) -> ir.Operation:
    """The op in whose region `op` is."""
    assert op.parent is not None
    return op.parent.operation


def _whole(local: ir.Type, count: int) -> ir.Type:
    type_ = ir.RankedTensorType(local)
    return ir.RankedTensorType.get([count, *type_.shape[1:]], type_.element_type)


def _extended(
    op: ir.Operation,
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    key: str,
    shardings: list[Shardy],
) -> ir.Operation:
    """`op` with more operands and results, which it says the shardings of under `key`."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    if key:
        texts = frontend_attributes(op.attributes)
        listed = texts[key].removesuffix("]>")
        texts[key] = ", ".join([listed, *map(str, shardings)]) + "]>"
        named: dict[str, ir.Attribute] = {
            name: ir.StringAttr.get(text) for name, text in texts.items()
        }
        attributes[FRONTEND] = ir.DictAttr.get(named)
    new = ir.Operation.create(
        op.name,
        results=[*(each.type for each in op.results), *results],
        operands=[*op.operands, *operands],
        attributes=attributes,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, made in zip(op.results, new.results, strict=False):
        old.replace_all_uses_with(made)
    op.erase()
    return new


def _set_type(function: ir.Operation, more: list[ir.Type]) -> None:
    """Let the signature of `function` be that of its block, with `more` results."""
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = [each.type for each in function.regions[0].blocks[0].arguments]
    type_ = ir.FunctionType.get(inputs, [*signature.results, *more])
    function.attributes["function_type"] = ir.TypeAttr.get(type_)
