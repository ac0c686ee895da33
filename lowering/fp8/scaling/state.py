"""State that a function takes and gives: a scale and an amax history for each quantizer.

They become arguments and results after those that the function has, in the same order, each with
the attribute `mlir_fp8.state`, its name; arguments have `mlir_fp8.initial_value` too, the number
that all elements have before the first step. Loops carry the state of the quantizers in their
bodies; branches forward the state of the others.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.shardings import annotation
from mlir_fp8.lowering.fp8.scaling.block_insertion import quantize_blocks
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe
from mlir_fp8.lowering.fp8.scaling.insertion import (
    Places,
    State,
    quantize_current,
    quantize_delayed,
    quantize_int8,
    quantize_static,
)
from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer
from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling, Recipe, StaticScaling
from mlir_fp8.lowering.fp8.scaling.threading import (
    StateThreading,
    Step,
    append_operands,
    state_names,
)
from mlir_fp8.lowering.rewriting.shardings import replicated_in, said_result

STATE = "mlir_fp8.state"
INITIAL = "mlir_fp8.initial_value"


def insert(function: ir.Operation, quantizers: Sequence[Quantizer], recipe: Recipe) -> None:
    """Insert `quantizers` into `function`, a `func.func`, which takes and gives their state."""
    if isinstance(recipe, DelayedScaling):
        _insert_with_state(function, quantizers, recipe)
        return
    places = Places()
    for number, quantizer in enumerate(quantizers):
        if isinstance(recipe, StaticScaling):
            quantize_static(quantizer, recipe, places)
        elif isinstance(recipe, BlockFormatRecipe):
            quantize_blocks(quantizer, recipe, places, number)
        elif isinstance(recipe, Int8Scaling):
            quantize_int8(quantizer, recipe, places)
        else:
            quantize_current(quantizer, recipe, places)


def _insert_with_state(
    function: ir.Operation, quantizers: Sequence[Quantizer], recipe: DelayedScaling
) -> None:
    scale = ir.RankedTensorType.get([], ir.F32Type.get())
    history = ir.RankedTensorType.get([recipe.history], ir.F32Type.get())

    def step(quantizer: Quantizer, state: State, places: Places) -> State:
        return quantize_delayed(quantizer, state, recipe, places)

    thread_state(function, quantizers, [(scale, history)] * len(quantizers), step)


def thread_state(
    function: ir.Operation,
    quantizers: Sequence[Quantizer],
    pairs_of_types: Sequence[tuple[ir.Type, ir.Type]],
    step: Step,
) -> None:
    """Let `function` take and give two tensors of state for each of `quantizers`, by `step`."""
    block = function.regions[0].blocks[0]
    names = [name for each in quantizers for name in state_names(each)]
    types = [type_ for pair in pairs_of_types for type_ in pair]
    whole = [replicated_in(function, ir.RankedTensorType(type_).rank) for type_ in types]
    described = [
        {**each, **(annotation([sharding], of_argument=True) if sharding else {})}
        for each, sharding in zip(_argument_attributes(names), whole, strict=True)
    ]
    describe(function, "arg_attrs", len(block.arguments), described)
    arguments = [
        block.add_argument(type_, ir.Location.name(name))
        for type_, name in zip(types, names, strict=True)
    ]
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    states = StateThreading(quantizers, step).block(
        block, dict(zip(quantizers, pairs, strict=True))
    )
    end = list(block.operations)[-1].operation
    values = [value for each in quantizers for value in states[each]]
    said = [
        said_result(end, value, each) if each else (value, {})
        for value, each in zip(values, whole, strict=True)
    ]
    results = [
        {STATE: ir.StringAttr.get(name), **attributes}
        for name, (_, attributes) in zip(names, said, strict=True)
    ]
    describe(function, "res_attrs", len(end.operands), results)
    append_operands(end, [value for value, _ in said])
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*signature.inputs, *types], [*signature.results, *types])
    )


def _argument_attributes(names: Sequence[str]) -> list[dict[str, ir.Attribute]]:
    initial = [ir.FloatAttr.get(ir.F32Type.get(), number) for number in (1.0, 0.0)]
    return [
        {STATE: ir.StringAttr.get(name), INITIAL: initial[i % 2]} for i, name in enumerate(names)
    ]


def describe(
    function: ir.Operation, which: str, count: int, added: Sequence[dict[str, ir.Attribute]]
) -> None:
    """Add the attributes of new arguments ("arg_attrs") or results ("res_attrs") after `count`."""
    known = function.attributes
    before = list(ir.ArrayAttr(known[which])) if which in known else [ir.DictAttr.get({})] * count
    known[which] = ir.ArrayAttr.get([*before, *(ir.DictAttr.get(each) for each in added)])


def quantizer_names(function: ir.Operation) -> set[str]:
    """The quantizers whose state `function` takes already."""
    return {name.rpartition(".")[0] for name in state_of(function)}


def state_of(function: ir.Operation) -> dict[str, np.ndarray]:
    """The state, before the first step, that `function` takes, by name, in order.

    `Fp8Error` where it is not what this module writes: the last arguments and the last results, of
    the same names, each argument a number for all its f32 elements.
    """
    arguments, results = (_described(function, which) for which in ("arg_attrs", "res_attrs"))
    names = _state_of_each(arguments)
    if not any(names + _state_of_each(results)):
        return {}
    own = [name for name in names if name]
    block = function.regions[0].blocks[0]
    # Without any attributes, none are there to go with the arguments.
    described = zip(block.arguments, arguments, strict=bool(arguments))
    arrays = [_initial_array(value.type, each) for value, each in described if STATE in each]
    kept = [array for array in arrays if array is not None]
    before = _state_of_each(results)[: len(results) - len(own)]
    is_last = names[-len(own) :] == own == _state_of_each(results)[len(before) :]
    if not is_last or any(before) or len(kept) != len(own) or len(set(own)) != len(own):
        reason = f"has {STATE} on arguments and results that are no state of this compiler"
        raise op_error(function, f"{reason}: remove these attributes")
    named = (ir.StringAttr(each[STATE]).value for each in arguments if STATE in each)
    return dict(zip(named, kept, strict=True))


def _described(function: ir.Operation, which: str) -> list[ir.DictAttr]:
    """The attributes of each argument or result."""
    known = function.attributes
    return list(map(ir.DictAttr, ir.ArrayAttr(known[which]))) if which in known else []


def _state_of_each(ends: list[ir.DictAttr]) -> list[str]:
    """The name of the state that each argument or result is, in quotes; empty for others."""
    return [str(each[STATE]) if STATE in each else "" for each in ends]


def _initial_array(type_: ir.Type, attributes: ir.DictAttr) -> np.ndarray | None:
    """An argument's state before the first step; None for what is no state."""
    if INITIAL not in attributes or not isinstance(attributes[STATE], ir.StringAttr):
        return None
    number = attributes[INITIAL]
    if not isinstance(number, ir.FloatAttr) or not isinstance(type_, ir.RankedTensorType):
        return None
    if not type_.has_static_shape or not isinstance(type_.element_type, ir.F32Type):
        return None
    return np.full(type_.shape, number.value, np.float32)
