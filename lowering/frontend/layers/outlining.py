"""Layers become one function that is called for each."""

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering.frontend.layers.layers import Layers
from mlir_fp8.lowering.frontend.layers.slices import with_slices
from mlir_fp8.lowering.frontend.layers.steps import CONSTANT, Steps, is_comparable
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
        mapping = dict(zip(parameters, entry.arguments, strict=True))
        place = ir.InsertionPoint(entry)
        for step in first:
            for each in operations(step.op):
                for operand in each.operands:
                    _attach(operand, step.op, mapping, place)
            clone_op(step.op, mapping, place)
        with place, first[-1].op.location:
            func.ReturnOp([mapping[value] for value in results])
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


def _attach(
    value: ir.Value,
    user: ir.Operation,
    mapping: dict[ir.Value, ir.Value],
    place: ir.InsertionPoint,
) -> None:
    """Clone the op that gives `value`, where it is attached to its users, and what it takes."""
    if value in mapping or isinstance(value.owner, ir.Block):
        return
    op = value.owner.operation
    if op.block != user.block:  # inside of a region
        return
    for operand in op.operands:
        _attach(operand, op, mapping, place)
    clone_op(op, mapping, place)


def _call(block: Steps, layers: Layers, number: int, name: str, types: list[ir.Type]) -> None:
    """Put a call in the place of one of `layers`; its reshapes that others take remain."""
    start = layers.start + number * layers.period
    steps = block.steps[start : start + layers.period]
    arguments = [block.values[each] for each in layers.parameters[number]]
    for argument in arguments:
        if not isinstance(argument.owner, ir.Block) and argument.owner.name == CONSTANT:
            argument.owner.operation.move_before(list(steps[0].op.block.operations)[0])
    with ir.InsertionPoint(steps[0].op), steps[0].op.location:
        call = func.CallOp(types, name, arguments)
    for (offset, result), value in zip(layers.results, call.results, strict=True):
        place = steps[offset].results[result]
        block.values[place].replace_all_uses_with(value)
        block.values[place] = value


def erase_unused(block: ir.Block) -> None:
    """Erase the pure ops of `block` that have no users."""
    for op in reversed([each.operation for each in block.operations]):
        if is_comparable(op) and not any(list(result.uses) for result in op.results):
            op.erase()
