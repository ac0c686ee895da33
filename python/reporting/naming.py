"""Names of values that survive inlining, and where in the source a value comes from.

Each op's location is wrapped in one with the value's name; inlining then joins the call's location
to that of each op of the callee, which gives the path: `%6@clip/%0`.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from torch_mlir import ir

from mlir_fp8.base.context import file_position, format_location, symbol_name
from mlir_fp8.base.operations import operations

_CALL_RESULT = "builtin.unrealized_conversion_cast"


def name_values(module: ir.Module) -> None:
    """Name the values of every function after MLIR's spelling, in the ops' locations.

    Each result of a call gets an op of its own that carries its name, for `call_results` to take
    away again: inlining leaves nothing else of it.
    """
    for function in [each.operation for each in module.body.operations]:
        if function.name != "func.func":
            continue
        state = ir.AsmState(function)
        ops = operations(function)[1:]
        names = [_spellings(op, state) for op in ops]
        for op, spelled in zip(ops, names, strict=True):
            original = op.location
            own = spelled[0].partition("#")[0] if spelled else ""
            if op.name == "func.call":
                own += f"@{ir.FlatSymbolRefAttr(op.attributes['callee']).value}"
            op.location = ir.Location.name(own or op.name, original)
            if op.name == "func.call":
                _hold_results(op, spelled, original)


def _spellings(op: ir.Operation, state: ir.AsmState) -> list[str]:
    return [result.get_name(state) for result in op.results]


def _hold_results(call: ir.Operation, names: list[str], original: ir.Location) -> None:
    for result, name in zip(list(call.results), names, strict=True):
        with ir.InsertionPoint.after(call), ir.Location.name(name, original):
            holder = ir.Operation.create(_CALL_RESULT, results=[result.type], operands=[result])
        result.replace_all_uses_except(holder.results[0], holder)


def call_results(function: ir.Operation) -> dict[ir.Value, list[str]]:
    """The names of calls' results by the value that each has become; takes their ops away."""
    holders = [
        op
        for op in operations(function)
        if op.name == _CALL_RESULT and isinstance(_own(op.location), ir.NameLoc)
    ]
    names: dict[ir.Value, list[str]] = {}
    for op in holders:
        value = op.operands[0]
        names.setdefault(value, []).append(value_name(op.location))
        # A call whose result is returned by its caller: the outer one's holder holds this one.
        if op.results[0] in names:
            names[value] += names.pop(op.results[0])
        op.results[0].replace_all_uses_with(value)
        op.erase()
    return names


def _own(location: ir.Location) -> ir.Location:
    return _own(location.callee) if isinstance(location, ir.CallSiteLoc) else location


def value_name(location: ir.Location, result: int | None = None) -> str:
    """The path of an op after inlining: the calls, then the op; `result` where it has several."""
    name = "/".join(_path(location))
    return name if result is None else f"{name}#{result}"


def _path(location: ir.Location) -> Iterator[str]:
    if isinstance(location, ir.CallSiteLoc):
        yield from _path(location.caller)
        yield from _path(location.callee)
    elif isinstance(location, ir.NameLoc):
        yield location.name_str


def scope(location: ir.Location) -> str:
    """The names that the source gave the op, such as jax's `jit(f)/dot_general`; may be empty."""
    if isinstance(location, ir.CallSiteLoc):
        parts = [scope(location.caller), scope(location.callee)]
        return "/".join(filter(None, parts))
    return _first_name(location.child_loc) if isinstance(location, ir.NameLoc) else ""


def _first_name(location: ir.Location) -> str:
    match location:
        case ir.NameLoc():
            return location.name_str
        case ir.CallSiteLoc():
            parts = [_first_name(location.caller), _first_name(location.callee)]
            return "/".join(filter(None, parts))
        case ir.FusedLoc():
            inner = cast(Sequence[ir.Location], location.locations)
            return next(filter(None, map(_first_name, inner)), "")
        case _:
            return ""


def place(location: ir.Location, file: str) -> str:
    """`file:line:column` where the location holds one, else empty; MLIR calls text `-`."""
    if file_position(location) is None:
        return ""
    text = format_location(location)
    return file + text[1:] if text.startswith("-:") else text


def module_name(module: ir.Module) -> str:
    """The module's symbol, such as `@jit_step`; empty for one without."""
    operation = module.operation
    return f"@{symbol_name(operation)}" if "sym_name" in operation.attributes else ""
