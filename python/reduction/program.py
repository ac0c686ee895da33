"""A module with its argument arrays, and the steps that make it smaller."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base import operations as walk
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.entry import copy_of, isolate_entry
from mlir_fp8.interpreter.run import find_entry, make_main
from mlir_fp8.passes.pass_pipeline import run_pipeline

Key = tuple[int, int]
"""A value: its op's number in `main`, and its number among the op's results."""
Values = dict[Key, np.ndarray]


@dataclass(frozen=True)
class Program:
    """`main` of `module` and its arguments. Neither is ever changed: a smaller one is a copy."""

    module: ir.Module
    arrays: tuple[np.ndarray, ...]

    @property
    def body(self) -> ir.Block:
        return main_function(self.module).regions[0].blocks[0]

    @property
    def ops(self) -> list[ir.Operation]:
        """The ops of `main`, but for its return."""
        return operations(self.body)[:-1]

    @property
    def size(self) -> int:
        """How many ops the module has, those in regions included; terminators are none."""
        return len(inner_operations(self.module.operation))


def operations(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations]


def main_function(module: ir.Module) -> ir.Operation:
    function = find_entry(module, "main")
    assert function is not None
    return function


def inner_operations(root: ir.Operation) -> list[ir.Operation]:
    """All ops inside `root`, outermost first; functions and terminators are none."""
    inside = walk.operations(root)[1:]
    return [op for op in inside if op.name != "func.func" and not op.name.endswith(".return")]


def only_entry(module: ir.Module, entry: str, arrays: Sequence[np.ndarray]) -> Program:
    """`entry` as `main`, with what it calls."""
    copy = copy_of(module)
    function = find_entry(copy, entry)
    if function is None:
        raise Fp8Error(f"there is no function '{entry}' to reduce")
    make_main(copy, function)
    with copy.context:
        isolate_entry(copy, function)
    run_pipeline(copy, ["symbol-dce", "arith-constant-to-stablehlo"])
    return Program(copy, tuple(arrays))


def without_calls(program: Program) -> Program:
    """The same with all calls inlined."""
    copy = _copied(program.module)
    run_pipeline(copy, ["inline{default-pipeline=}", "symbol-dce"])
    return Program(copy, program.arrays)


def spec_of(type_: ir.Type) -> TensorSpec | None:
    """The type as an argument or a result; None where no array is of it."""
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return None
    spec = TensorSpec(tuple(type_.shape), str(type_.element_type))
    try:
        _ = spec.dtype
    except Fp8Error:
        return None
    return None if type_.encoding is not None else spec


class Draft:
    """A copy of a program's module that is being cut; `done` makes a program of it."""

    def __init__(self, program: Program) -> None:
        self.module = _copied(program.module)
        self.main = main_function(self.module)
        self.block = self.main.regions[0].blocks[0]
        *self.ops, self.end = operations(self.block)
        self.arrays = list(program.arrays)

    def argument(self, type_: ir.Type, array: np.ndarray) -> ir.Value:
        """A new argument of `main`."""
        self.arrays.append(array)
        return self.block.add_argument(type_, ir.Location.unknown(self.module.context))

    def give(self, results: Sequence[ir.Value]) -> None:
        """Let `main` return `results` and nothing else."""
        with self.module.context, ir.Location.unknown(), ir.InsertionPoint(self.end):
            end = ir.Operation.create("func.return", operands=list(results))
        self.end.erase()
        self.end = end

    def done(self) -> Program | None:
        """The program, without unused arguments; None where it is not valid."""
        for argument in reversed(list(self.block.arguments)):
            if not list(argument.uses):
                del self.arrays[argument.arg_number]
                self.block.erase_argument(argument.arg_number)
        inputs = [argument.type for argument in self.block.arguments]
        results = [value.type for value in self.end.operands]
        with self.module.context:
            type_ = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
        self.main.attributes["function_type"] = type_
        for name in ("arg_attrs", "res_attrs"):
            if name in self.main.attributes:
                del self.main.attributes[name]
        try:
            self.module.operation.verify()
        except ir.MLIRError:
            return None
        return Program(self.module, tuple(self.arrays))


def kept_ops(program: Program, kept: Sequence[int], values: Values) -> Program | None:
    """The ops numbered `kept` alone: what others gave them are arguments with those `values`.

    Results are those of the program and what `kept` makes and does not use. None where an argument
    would be of a type that no array has.
    """
    draft = Draft(program)
    staying = set(kept)
    users = _users(draft)
    given = list(draft.end.operands)
    results = [
        value
        for number in kept
        for index, value in enumerate(draft.ops[number].results)
        if value in given or not users[number, index] & staying
    ]
    if not results:
        return None
    for (number, index), users_of_value in users.items():
        if number in staying or not users_of_value & staying:
            continue
        if (number, index) not in values:
            return None
        value = draft.ops[number].results[index]
        value.replace_all_uses_with(draft.argument(value.type, values[number, index]))
    draft.give(results)
    for number in reversed(range(len(draft.ops))):
        if number not in staying:
            draft.ops[number].erase()
    return draft.done()


def with_all_values(program: Program, values: Values | None = None) -> tuple[Program, list[Key]]:
    """The program with the value of every op as a result, and which those are.

    With `values` each op stands alone: what it uses are arguments.
    """
    draft = Draft(program)
    keys: list[Key] = []
    results: list[ir.Value] = []
    for number, op in enumerate(draft.ops):
        for index, value in enumerate(op.results):
            if spec_of(value.type) is None:
                continue
            if values is not None and (number, index) in values:
                value.replace_all_uses_with(draft.argument(value.type, values[number, index]))
            keys.append((number, index))
            results.append(value)
    draft.give(results)
    shown = draft.done()
    assert shown is not None
    return shown, keys


def with_results(program: Program, positions: Sequence[int]) -> Program | None:
    """Only the results at `positions`, and the ops that they need."""
    draft = Draft(program)
    draft.give([draft.end.operands[position] for position in positions])
    _drop_unused(draft)
    return draft.done()


def with_argument(program: Program, op: int, operand: int, values: Values) -> Program | None:
    """An argument instead of one operand of the op numbered `op`, and only the ops then needed."""
    draft = Draft(program)
    value = draft.ops[op].operands[operand]
    if isinstance(value.owner, ir.Block):
        return None
    key = (draft.ops.index(value.owner.operation), ir.OpResult(value).result_number)
    if key not in values:
        return None
    draft.ops[op].operands[operand] = draft.argument(value.type, values[key])
    _drop_unused(draft)
    return draft.done()


def changed(program: Program, change: Callable[[Draft], bool]) -> Program | None:
    """A copy that `change` was applied to; None where it found nothing to do."""
    draft = Draft(program)
    with draft.module.context, ir.Location.unknown():
        return draft.done() if change(draft) else None


def _drop_unused(draft: Draft) -> None:
    for op in reversed(draft.ops):
        if not any(list(value.uses) for value in op.results):
            op.erase()


def _users(draft: Draft) -> dict[Key, set[int]]:
    """The numbers of the ops that use each value, themselves or in a region."""
    # An op hashes by what it is made of: no such table holds beyond the first change.
    numbers = {op: number for number, op in enumerate(draft.ops)}
    return {
        (number, index): {
            numbers[op]
            for use in value.uses
            if (op := _op_in(draft.block, use.owner.operation)) in numbers
        }
        for number, maker in enumerate(draft.ops)
        for index, value in enumerate(maker.results)
    }


def _op_in(block: ir.Block, op: ir.Operation) -> ir.Operation:
    """The op of `block` that is `op`, or that it stands in."""
    while op.block != block:
        assert op.parent is not None
        op = op.parent.operation
    return op


def _copied(module: ir.Module) -> ir.Module:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return ir.Module.parse(buffer.getvalue(), module.context)
