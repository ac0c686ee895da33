"""Layers become one function that is called for each."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.operations import defining_op, is_used
from mlir_fp8.lowering.frontend.layers.layers import Layers
from mlir_fp8.lowering.frontend.layers.slices import with_slices
from mlir_fp8.lowering.frontend.layers.steps import (
    CONSTANT,
    Step,
    Steps,
    free_operands,
    is_comparable,
)
from mlir_fp8.lowering.rewriting.kernel_functions import symbols_of
from mlir_fp8.lowering.rewriting.layer_functions import mark_layer


class Functions:
    """The functions made so far; equal ones are one."""

    def __init__(self, module: ir.Operation) -> None:
        self._module = module
        self._taken = symbols_of(module)
        self._names: dict[str, str] = {}

    @property
    def are_called(self) -> bool:
        return bool(self._names)

    def outline(self, block: Steps, layers: Layers) -> None:
        """Put calls in the place of `layers`."""
        layers = with_slices(block, layers)
        function = self._function(block, layers)
        name = self._named(function)
        types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
        if name != ir.StringAttr(function.attributes["sym_name"]).value:
            function.erase()
        for number in range(layers.count):
            _call(block, layers, number, name, types)

    def _function(self, block: Steps, layers: Layers) -> ir.Operation:
        """Of the first of `layers`."""
        first = block.steps[layers.start : layers.start + layers.period]
        parameters = [block.values[number] for number in layers.parameters[0]]
        results = [first[offset].op.results[number] for offset, number in layers.results]
        signature = ir.FunctionType.get([v.type for v in parameters], [v.type for v in results])
        with first[0].op.location:
            place = ir.InsertionPoint(self._module.regions[0].blocks[0])
            function = func.FuncOp(self._new_name(), signature, visibility="private", ip=place)
            entry = function.add_entry_block()
        mark_layer(function.operation)
        body = _Body(block, layers, ir.InsertionPoint(entry), list(entry.arguments))
        for step in first:
            body.add(step)
        with ir.InsertionPoint(entry), first[-1].op.location:
            func.ReturnOp([body.made[value] for value in results])
        return function.operation

    def _new_name(self) -> str:
        number = len(self._names)
        while f"layer_{number}" in self._taken:
            number += 1
        return f"layer_{number}"

    def _named(self, function: ir.Operation) -> str:
        """The name of the first function equal to `function`."""
        name = ir.StringAttr(function.attributes["sym_name"]).value
        text = str(function.get_asm(use_local_scope=True, assume_verified=True))
        known = self._names.setdefault(text.replace(f"@{name}(", "@(", 1), name)
        self._taken.add(known)
        return known


class _Body:
    """The body of a layer's function, copied from the first layer.

    By operand, not by value: what two operands share in one layer may differ in another.
    """

    def __init__(
        self, block: Steps, layers: Layers, place: ir.InsertionPoint, arguments: list[ir.Value]
    ) -> None:
        self.made: dict[ir.Value, ir.Value] = {}
        """By the values of the first layer that its steps define."""
        self._block, self._layers, self._place = block, layers, place
        self._arguments = arguments
        self._taken = iter(layers.taken)
        self._attached: dict[tuple[ir.Value, ir.Value | None], ir.Value] = {}

    def add(self, step: Step) -> None:
        """Copy a step, and what is attached to it."""
        numbers = iter(step.operands)
        slots = free_operands(step.op)
        values = [self._operand(op.operands[index], numbers) for op, index in slots]
        copy = step.op.clone(self._place).operation
        for (op, index), value in zip(free_operands(copy), values, strict=True):
            op.operands[index] = value
        self.made.update(zip(step.op.results, copy.results, strict=True))

    def _operand(self, value: ir.Value, numbers: Iterator[int]) -> ir.Value:
        if value not in self._block.attached:
            return self._source(value, next(numbers))
        op = defining_op(value)
        source = self._operand(op.operands[0], numbers) if len(op.operands) else None
        return self._attach(op, source)

    def _source(self, value: ir.Value, number: int) -> ir.Value:
        if self._block.defined.get(number, -1) >= self._layers.start:
            return self.made[value]
        parameter = next(self._taken)
        if parameter is None:
            return self._attach(defining_op(value), None)
        return self._arguments[parameter]

    def _attach(self, op: ir.Operation, source: ir.Value | None) -> ir.Value:
        """The result of a copy of `op`, which takes `source`, or of the one that there is."""
        key = op.results[0], source
        if key not in self._attached:
            copy = op.clone(self._place).operation
            if source is not None:
                copy.operands[0] = source
            self._attached[key] = copy.results[0]
        return self._attached[key]


def _call(block: Steps, layers: Layers, number: int, name: str, types: list[ir.Type]) -> None:
    """Put a call in the place of one of `layers`; its reshapes that others take remain."""
    start = layers.start + number * layers.period
    steps = block.steps[start : start + layers.period]
    arguments = [block.values[each] for each in layers.parameters[number]]
    first = steps[0].op.block.operations[0]
    for argument in arguments:
        if not isinstance(argument.owner, ir.Block) and argument.owner.name == CONSTANT:
            argument.owner.operation.move_before(first)
    with ir.InsertionPoint(steps[0].op), steps[0].op.location:
        call = func.CallOp(types, name, arguments)
    for (offset, result), value in zip(layers.results, call.results, strict=True):
        place = steps[offset].results[result]
        block.values[place].replace_all_uses_with(value)
        block.values[place] = value


def erase_unused(block: ir.Block) -> None:
    """Erase the pure ops of `block` that have no users."""
    for op in reversed([each.operation for each in block.operations]):
        if not any(map(is_used, op.results)) and is_comparable(op):
            op.erase()
