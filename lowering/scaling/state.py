"""State that a function takes and gives: a scale and an amax history for each quantizer.

They become arguments and results after those that the function has, in the same order, each with
the attribute `mlir_fp8.state`, its name; arguments have `mlir_fp8.initial_value` too, the number
that all elements have before the first step. Loops carry the state of the quantizers in their
bodies, branches hand on that of the others.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.scaling.insertion import Places, quantize_current
from mlir_fp8.lowering.scaling.quantizers import Quantizer
from mlir_fp8.lowering.scaling.recipes import DelayedScaling, Recipe
from mlir_fp8.lowering.scaling.threading import StateThreading, append_operands, state_names

STATE = "mlir_fp8.state"
INITIAL = "mlir_fp8.initial_value"


def insert(function: ir.Operation, quantizers: Sequence[Quantizer], recipe: Recipe) -> None:
    """Insert `quantizers` into `function`, a `func.func`, which takes and gives their state."""
    if isinstance(recipe, DelayedScaling):
        _insert_with_state(function, quantizers, recipe)
        return
    places = Places()
    for quantizer in quantizers:
        quantize_current(quantizer, recipe, places)


def _insert_with_state(
    function: ir.Operation, quantizers: Sequence[Quantizer], recipe: DelayedScaling
) -> None:
    block = function.regions[0].blocks[0]
    names = [name for each in quantizers for name in state_names(each)]
    scale = ir.RankedTensorType.get([], ir.F32Type.get())
    history = ir.RankedTensorType.get([recipe.history], ir.F32Type.get())
    types = [type_ for _ in quantizers for type_ in (scale, history)]
    _describe(function, "arg_attrs", len(block.arguments), _argument_attributes(names))
    arguments = [
        block.add_argument(type_, ir.Location.name(name))
        for type_, name in zip(types, names, strict=True)
    ]
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    states = StateThreading(quantizers, recipe).block(
        block, dict(zip(quantizers, pairs, strict=True))
    )
    end = list(block.operations)[-1].operation
    _describe(function, "res_attrs", len(end.operands), [{STATE: _text(name)} for name in names])
    append_operands(end, [value for each in quantizers for value in states[each]])
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*signature.inputs, *types], [*signature.results, *types])
    )


def _argument_attributes(names: Sequence[str]) -> list[dict[str, ir.Attribute]]:
    initial = [ir.FloatAttr.get(ir.F32Type.get(), number) for number in (1.0, 0.0)]
    return [{STATE: _text(name), INITIAL: initial[i % 2]} for i, name in enumerate(names)]


def _text(text: str) -> ir.Attribute:
    return ir.StringAttr.get(text)


def _describe(
    function: ir.Operation, which: str, count: int, added: Sequence[dict[str, ir.Attribute]]
) -> None:
    """Add the attributes of new arguments or results after those of the `count` first."""
    known = function.attributes
    before = list(ir.ArrayAttr(known[which])) if which in known else [ir.DictAttr.get({})] * count
    known[which] = ir.ArrayAttr.get([*before, *(ir.DictAttr.get(each) for each in added)])


def quantizer_names(function: ir.Operation) -> set[str]:
    """The quantizers whose state `function` takes already."""
    return {name.rpartition(".")[0] for name in state_of(function)}


def state_of(function: ir.Operation) -> dict[str, np.ndarray]:
    """The state, before the first step, that `function` takes, by name, in order."""
    state: dict[str, np.ndarray] = {}
    if "arg_attrs" not in function.attributes:
        return state
    arguments = function.regions[0].blocks[0].arguments
    described = ir.ArrayAttr(function.attributes["arg_attrs"])
    for argument, attributes in zip(arguments, map(ir.DictAttr, described), strict=True):
        if STATE in attributes:
            shape = ir.RankedTensorType(argument.type).shape
            number = ir.FloatAttr(attributes[INITIAL]).value
            state[ir.StringAttr(attributes[STATE]).value] = np.full(shape, number, np.float32)
    return state
