"""Which arguments and results of a step are carried, counted and stacked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type
from mlir_fp8.compiling.argument_names import argument_names, result_names


@dataclass(frozen=True)
class StepPlan:
    """Numbers of arguments and results; `carried` are pairs of these."""

    inputs: list[ir.Type]
    results: list[ir.Type]
    carried: dict[int, int]
    counter: int | None
    stacked: list[int]
    twice: list[int]
    steps: int


def step_plan(
    module: ir.Module,
    function: ir.Operation,
    entry: str,
    steps: int,
    carry: Mapping[int | str, int | str],
    counter: int | str | None,
    stack: Sequence[int | str],
) -> StepPlan:
    type_ = function_type(function)
    inputs, results = list(type_.inputs), list(type_.results)
    for each in [*inputs, *results]:
        if not isinstance(each, ir.RankedTensorType) or not each.has_static_shape:
            raise op_error(function, f"takes or gives {each}: steps have tensors of static shape")
    names = argument_names(module, entry), result_names(module, entry)
    carried: dict[int, int] = {}
    for argument, result in carry.items():
        a = _number("argument", argument, names[0], len(inputs))
        r = _number("result", result, names[1], len(results))
        if inputs[a] != results[r]:
            types = f"argument {a} is {inputs[a]}, result {r} is {results[r]}"
            raise Fp8Error(f"carry: {types}: a step takes what the one before gives")
        if a in carried or r in carried.values():
            raise Fp8Error(f"carry: argument {a} or result {r} is given twice")
        carried[a] = r
    count = None if counter is None else _number("argument", counter, names[0], len(inputs))
    if count is not None and (count in carried or not _is_integer(inputs[count])):
        raise Fp8Error(f"counter: argument {count}, {inputs[count]}, is carried or no integer")
    twice = [_number("result", each, names[1], len(results)) for each in stack]
    for each in twice:
        if each not in carried.values():
            raise Fp8Error(f"stack: result {each} is not carried, and is stacked anyway")
    alone = [number for number in range(len(results)) if number not in carried.values()]
    return StepPlan(inputs, results, carried, count, [*alone, *twice], twice, steps)


def _is_integer(type_: ir.Type) -> bool:
    element = ir.RankedTensorType(type_).element_type
    return isinstance(element, ir.IntegerType) and element.width > 1


def _number(what: str, place: int | str, names: Sequence[str], count: int) -> int:
    if isinstance(place, str) and names.count(place) == 1:
        return names.index(place)
    if isinstance(place, int) and 0 <= place < count:
        return place
    known = ", ".join(filter(None, names)) or "none has a name"
    raise Fp8Error(f"there is no one {what} {place!r} of {count} ({known})")
