"""Thread state from quantizer to quantizer, through the loops and branches around them."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.fp8.scaling.insertion import Places, State
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer

States = dict[Quantizer, State]
Step = Callable[[Quantizer, State, Places], State]
"""Inserts what reads a tensor and a state, and gives the new state."""

_BRANCHES = ("stablehlo.if", "stablehlo.case")


def state_names(quantizer: Quantizer) -> tuple[str, str]:
    """The names of a quantizer's scale and amax history."""
    return f"{quantizer.name}.scale", f"{quantizer.name}.amax_history"


class StateThreading:
    """Inserts quantizers block by block, and threads their state through the ops between."""

    def __init__(self, quantizers: Sequence[Quantizer], step: Step) -> None:
        self._step = step
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
            states[quantizer] = self._step(quantizer, states[quantizer], self._places)
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
        append_operands(end, [value for state in after.values() for value in state])


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


def append_operands(end: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Replace a terminator by one that yields `values` too."""
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create(
            end.name,
            operands=[*end.operands, *values],
            attributes={name: end.attributes[name] for name in end.attributes},
        )
    end.erase()
