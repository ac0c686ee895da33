"""State that a function takes and gives: a scale and an amax history for each quantizer.

They become arguments and results after those that the function has, in the same order, each with
the attribute `mlir_fp8.state`, its name; arguments have `mlir_fp8.initial_value` too, the number
that all elements have before the first step. Loops carry the state of the quantizers in their
bodies, branches hand on that of the others.
"""

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.context import op_error
from mlir_fp8.lowering.scaling.insertion import (
    Places,
    State,
    quantize_current,
    quantize_delayed,
)
from mlir_fp8.lowering.scaling.quantizers import Quantizer
from mlir_fp8.lowering.scaling.recipes import DelayedScaling, Recipe

STATE = "mlir_fp8.state"
INITIAL = "mlir_fp8.initial_value"
_BRANCHES = ("stablehlo.if", "stablehlo.case")

States = dict[Quantizer, State]


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
    states = _Insertion(quantizers, recipe).block(block, dict(zip(quantizers, pairs, strict=True)))
    end = list(block.operations)[-1].operation
    _describe(function, "res_attrs", len(end.operands), [{STATE: _text(name)} for name in names])
    _yield(end, [value for each in quantizers for value in states[each]])
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*signature.inputs, *types], [*signature.results, *types])
    )


def state_names(quantizer: Quantizer) -> tuple[str, str]:
    return f"{quantizer.name}.scale", f"{quantizer.name}.amax_history"


class _Insertion:
    """Inserts quantizers block by block, and threads their state through the ops between."""

    def __init__(self, quantizers: Sequence[Quantizer], recipe: DelayedScaling) -> None:
        self._recipe = recipe
        self._places = Places()
        self._all = quantizers

    def block(self, block: ir.Block, states: States) -> States:
        """Insert what belongs into `block`; `states` before it and the states after it."""
        states = dict(states)
        inside: list[tuple[ir.Operation, States]] = []
        own: list[Quantizer] = []
        for quantizer in states:
            op = _op_in(block, quantizer.value)
            if op is None:
                own.append(quantizer)
                continue
            taken = next((taken for other, taken in inside if other == op), None)
            if taken is None:
                inside.append((op, taken := {}))
            taken[quantizer] = states[quantizer]
        for op, taken in inside:
            states.update(self._with_regions(op, taken))
        for quantizer in own:
            states[quantizer] = quantize_delayed(
                quantizer, states[quantizer], self._recipe, self._places
            )
        return states

    def _with_regions(self, op: ir.Operation, states: States) -> States:
        if op.name not in (*_BRANCHES, "stablehlo.while"):
            way_out = "set mlir_fp8.skip on them, or take recipe=current"
            raise op_error(op, f"holds dots, but can carry no state: {way_out}")
        is_loop = op.name == "stablehlo.while"
        values = [value for state in states.values() for value in state]
        new = ir.Operation.create(
            op.name,
            results=[*(result.type for result in op.results), *(value.type for value in values)],
            operands=[*op.operands, *(values if is_loop else [])],
            attributes={name: op.attributes[name] for name in op.attributes},
            regions=len(op.regions),
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        for old_region, region in zip(op.regions, new.regions, strict=True):
            old_region.blocks[0].append_to(region)
        if is_loop:
            self._carry(new, states)
        else:
            for region in new.regions:
                self._end_with(region.blocks[0], states)
        old_results = list(op.results)
        renewed: dict[ir.Value, ir.Value] = dict(zip(old_results, new.results, strict=False))
        for old, result in renewed.items():
            old.replace_all_uses_with(result)
        for quantizer in self._all:
            quantizer.value = renewed.get(quantizer.value, quantizer.value)
        carried = list(new.results)[len(old_results) :]
        op.erase()
        pairs = zip(carried[::2], carried[1::2], strict=True)
        return dict(zip(states, pairs, strict=True))

    def _carry(self, loop: ir.Operation, states: States) -> None:
        condition, body = (region.blocks[0] for region in loop.regions)
        for quantizer in states:
            if _is_within(condition, quantizer.value):
                way_out = "set mlir_fp8.skip on the dots there, or take recipe=current"
                raise op_error(loop, f"has no state to carry for its condition: {way_out}")
        carried: States = {}
        for quantizer, state in states.items():
            for block in (condition, body):
                for value, name in zip(state, state_names(quantizer), strict=True):
                    block.add_argument(value.type, ir.Location.name(name))
            scale, history = list(body.arguments)[-2:]
            carried[quantizer] = (scale, history)
        self._end_with(body, carried)

    def _end_with(self, block: ir.Block, states: States) -> None:
        """Insert into `block` those of `states` that belong there; it yields all."""
        here = {each: state for each, state in states.items() if _is_within(block, each.value)}
        after = {**states, **self.block(block, here)}
        end = list(block.operations)[-1].operation
        _yield(end, [value for state in after.values() for value in state])


def _op_in(block: ir.Block, value: ir.Value) -> ir.Operation | None:
    """The op of `block` in whose regions `value` is made; None where `block` itself makes it."""
    here = _block_of(value)
    while here != block:
        op = here.owner.operation
        here = op.block
        if here == block:
            return op
    return None


def _is_within(block: ir.Block, value: ir.Value) -> bool:
    here: ir.Block | None = _block_of(value)
    while here is not None and here != block:
        owner = here.owner.operation
        here = None if owner.name == "func.func" else owner.block
    return here is not None


def _block_of(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _yield(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Replace a terminator by one that yields `values` too."""
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create(
            end.name,
            operands=[*end.operands, *values],
            attributes={name: end.attributes[name] for name in end.attributes},
        )
    end.erase()


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


def initial_state(function: ir.Operation) -> dict[str, np.ndarray]:
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
