"""Instrument a module to record an interpreter run: results, probes and operands of checks.

The interpreter can write a tensor to a file (`interpreter.probe`), for some element types. So
everything leaves the child process that way: results, the user's probes, both sides of every
`check`, and, to find the op of a crash, a trace of the ops as they start.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.context import format_location, op_error
from mlir_fp8.base.operations import call_target, function_type, operations, terminator
from mlir_fp8.dialects.float_formats import FORMATS

_CHECK = "check."
# Ops whose regions run as a function's body does, so that probes can stand in them.
_TRACED = frozenset({"builtin.module", "func.func", "stablehlo.while", "stablehlo.if",
                     "stablehlo.case"})  # fmt: skip


@dataclass(frozen=True)
class Point:
    """A value that is recorded; its number is its position in the table."""

    shape: tuple[int, ...]
    element: str
    probe_id: str | None = None
    """The name of one of the user's own probes."""
    printed_as: str | None = None
    """What `interpreter.print` calls the value."""


@dataclass(frozen=True)
class Check:
    """A check op: what it compares, by numbers of points, and how."""

    op: str
    place: str
    operands: tuple[int, ...]
    settings: dict[str, Any]


@dataclass
class Table:
    """The record points of an instrumented module."""

    points: list[Point] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    ops: list[tuple[str, str]] = field(default_factory=list)
    """Name and place of every op that is traced."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Table":
        points = [Point(**{**each, "shape": tuple(each["shape"])}) for each in data["points"]]
        checks = [Check(**each) for each in data["checks"]]
        return Table(points, checks, data["results"], [(name, at) for name, at in data["ops"]])


def instrument(module: ir.Module, entry: ir.Operation, *, trace: bool) -> Table:
    """Add the probes to `module`, whose `main` is `entry` before and a caller of it after.

    Each probe writes under the number of its point, or of its op with `trace`; two of them, with
    `.real` and `.imag`, for complex numbers.
    """
    table = Table()
    with module.context, ir.Location.unknown():
        ops = operations(module.operation)[1:]
        if trace:
            _trace(ops, table)
        for op in ops:
            if op.name == "interpreter.probe":
                _record_probe(op, table)
            elif op.name == "interpreter.print":
                _record(op.operands[0], op, table, printed_as=op.operands[0].get_name())
                op.erase()
            elif op.name == "stablehlo.custom_call" and call_target(op).startswith(_CHECK):
                _record_check(op, table)
        end = terminator(entry.regions[0].blocks[0])
        for value in end.operands:
            _refuse_unshown(value, end)
        _wrap(module, entry, table)
    return table


def custom_call_name(op: ir.Operation) -> str:
    """How messages name an op: a custom call by what it calls."""
    return f"custom_call @{call_target(op)}" if op.name == "stablehlo.custom_call" else op.name


def _trace(ops: Sequence[ir.Operation], table: Table) -> None:
    flags: dict[ir.Block, ir.Value] = {}
    for op in ops:
        parent = op.parent
        is_terminator = op.name.endswith(".return")
        if parent is None or parent.name not in _TRACED or op.name == "func.func" or is_terminator:
            continue
        if op.block not in flags:
            scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
            value = ir.DenseElementsAttr.get_splat(scalar, ir.BoolAttr.get(True))
            with ir.InsertionPoint.at_block_begin(op.block):
                flags[op.block] = _op("stablehlo.constant", [scalar], [], value=value)
        _probe(flags[op.block], f"op{len(table.ops)}", op)
        table.ops.append((custom_call_name(op), format_location(op.location)))


def _record_probe(op: ir.Operation, table: Table) -> None:
    name = ir.StringAttr(op.attributes["probe_id"]).value
    _record(op.operands[0], op, table, probe_id=name)
    op.results[0].replace_all_uses_with(op.operands[0])
    op.erase()


def _record_check(op: ir.Operation, table: Table) -> None:
    settings: dict[str, Any] = {}
    values = list(op.operands)
    for name in op.attributes:
        if not name.startswith(_CHECK):
            continue
        key, value = name.removeprefix(_CHECK), op.attributes[name]
        if isinstance(value, ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
            settings[key] = value.value
        elif key == "value":
            with ir.InsertionPoint(op):
                values.append(_op("stablehlo.constant", [ir.Type(value.type)], [], value=value))
        else:
            settings[key] = True
    if len(values) != (1 if "serialized" in call_target(op) else 2):
        raise op_error(op, f"{call_target(op)} does not take {len(op.operands)} operands")
    operands = tuple(_record(value, op, table) for value in values)
    place = format_location(op.location)
    table.checks.append(Check(call_target(op), place, operands, settings))
    for result in op.results:
        if str(result.type) != "tensor<i1>":
            raise op_error(op, f"{call_target(op)} has no result of type {result.type}")
        with ir.InsertionPoint(op):
            value = ir.DenseElementsAttr.get_splat(result.type, ir.BoolAttr.get(True))
            result.replace_all_uses_with(_op("stablehlo.constant", [result.type], [], value=value))
    op.erase()


def _record(
    value: ir.Value,
    op: ir.Operation,
    table: Table,
    *,
    probe_id: str | None = None,
    printed_as: str | None = None,
) -> int:
    """Write `value` to a file when the run gets to `op`, in a type that files have."""
    type_ = value.type
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        maker = op if isinstance(value.owner, ir.Block) else value.owner
        raise op_error(
            maker, f"gives a {type_}: the interpreter shows tensors of static shape only"
        )
    element = str(type_.element_type)
    number = len(table.points)
    table.points.append(Point(tuple(type_.shape), element, probe_id, printed_as))
    if isinstance(type_.element_type, ir.ComplexType):
        part = ir.RankedTensorType.get(type_.shape, type_.element_type.element_type)
        for name in ("real", "imag"):
            with ir.InsertionPoint(op):
                converted = _op(f"stablehlo.{name}", [part], [value])
            _probe(converted, f"{number}.{name}", op)
        return number
    cast, stored = _storage(element)
    if cast:
        with ir.InsertionPoint(op):
            result = ir.RankedTensorType.get(type_.shape, ir.Type.parse(stored))
            value = _op(f"stablehlo.{cast}", [result], [value])
    _probe(value, str(number), op)
    return number


def _refuse_unshown(value: ir.Value, op: ir.Operation) -> ir.RankedTensorType:
    """The type of a value that can be recorded; `op` uses it."""
    type_ = value.type
    if isinstance(type_, ir.RankedTensorType) and type_.has_static_shape:
        return type_
    maker = op if isinstance(value.owner, ir.Block) else value.owner
    raise op_error(maker, f"gives a {type_}: the interpreter shows tensors of static shape only")


def _storage(element: str) -> tuple[str, str]:
    """The op that makes a type that files have of `element`, and that type."""
    if element in FORMATS:
        fmt = FORMATS[element]
        if not fmt.is_small:
            return "", element
        # Every f6 and f4 value is exact in f32; they have no NaN whose bits could be lost.
        return ("bitcast_convert", "ui8") if fmt.bits == 8 else ("convert", "f32")
    if element in ("i2", "i4"):
        return "convert", "i8"
    return ("convert", "ui8") if element in ("ui2", "ui4") else ("", element)


def _probe(value: ir.Value, name: str, before: ir.Operation) -> None:
    with ir.InsertionPoint(before):
        _op("interpreter.probe", [value.type], [value], probe_id=ir.StringAttr.get(name))


def _op(
    name: str, results: Sequence[ir.Type], operands: Sequence[ir.Value], **attributes: ir.Attribute
) -> ir.Value:
    return ir.Operation.create(
        name, results=results, operands=operands, attributes=attributes
    ).results[0]


def _wrap(module: ir.Module, entry: ir.Operation, table: Table) -> None:
    """A new `main` that calls `entry` and records what it gives; others may call `entry` too."""
    signature = function_type(entry)
    name = _free_name(module, "main.entry")
    ir.SymbolTable.replace_all_symbol_uses("main", name, module.operation)
    ir.SymbolTable.set_symbol_name(entry, name)
    with ir.InsertionPoint(module.body):
        main = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get("main"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(signature.inputs, [])),
            },
            regions=1,
        )
    block = main.regions[0].blocks.append(*signature.inputs)
    with ir.InsertionPoint(block):
        callee = ir.FlatSymbolRefAttr.get(name)
        call = ir.Operation.create(
            "func.call",
            results=signature.results,
            operands=list(block.arguments),
            attributes={"callee": callee},
        )
        end = ir.Operation.create("func.return")
    table.results = [_record(value, end, table) for value in call.results]


def _free_name(module: ir.Module, name: str) -> str:
    table = ir.SymbolTable(module.operation)
    while name in table:
        name += "_"
    return name
