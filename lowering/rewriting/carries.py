"""What loops carry: what they hand on unchanged is read where it was made; what counts them."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer, terminator


def drop_invariant_carries(function: ir.Operation) -> None:
    """Let no `stablehlo.while` of `function` carry a tensor that its body yields unchanged."""
    for loop in operations(function, "stablehlo.while", inner_first=True):
        body = loop.regions[1].blocks[0]
        yielded = list(terminator(body).operands)
        pairs = zip(body.arguments, yielded, strict=True)
        kept = [number for number, (argument, value) in enumerate(pairs) if argument != value]
        if len(kept) < len(yielded):
            carry_alone(loop, kept)


def carry_alone(loop: ir.Operation, kept: list[int]) -> ir.Operation:
    """Replace `loop` by one that carries those numbered `kept` alone, and give that.

    Its body yields the others unchanged.
    """
    operands = list(loop.operands)
    new = ir.Operation.create(
        loop.name,
        results=[loop.results[number].type for number in kept],
        operands=[operands[number] for number in kept],
        attributes={name: loop.attributes[name] for name in loop.attributes},
        regions=2,
        loc=loop.location,
        ip=ir.InsertionPoint(loop),
    )
    dropped = [number for number in range(len(operands)) if number not in kept]
    for old, region in zip(loop.regions, new.regions, strict=True):
        old.blocks[0].append_to(region)
        block = region.blocks[0]
        for number in dropped:
            block.arguments[number].replace_all_uses_with(operands[number])
    _end_with(new.regions[1].blocks[0], kept)
    for region in new.regions:
        for number in reversed(dropped):
            region.blocks[0].erase_argument(number)
    for number, result in enumerate(loop.results):
        value = new.results[kept.index(number)] if number in kept else operands[number]
        result.replace_all_uses_with(value)
    loop.erase()
    return new


def _end_with(block: ir.Block, kept: list[int]) -> None:
    end = terminator(block)
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create(end.name, operands=[end.operands[number] for number in kept])
    end.erase()


def counter_of(loop: ir.Operation) -> tuple[int, int] | None:
    """The place of what counts the iterations from 0, and how many there are."""
    condition, body = (region.blocks[0] for region in loop.regions)
    test = producer(terminator(condition).operands[0])
    if test is None or test.name != "stablehlo.compare":
        return None
    if str(test.attributes["comparison_direction"]) != "#stablehlo<comparison_direction LT>":
        return None
    counter, trips = test.operands[0], _number(test.operands[1])
    if trips is None or not isinstance(counter.owner, ir.Block) or counter.owner != condition:
        return None
    place = ir.BlockArgument(counter).arg_number
    step = producer(terminator(body).operands[place])
    if step is None or step.name != "stablehlo.add" or _number(loop.operands[place]) != 0:
        return None
    operands = list(step.operands)
    if body.arguments[place] in operands and 1 in [_number(each) for each in operands]:
        return place, trips
    return None


def _number(value: ir.Value) -> int | None:
    """The integer that `value`, of rank 0, is."""
    op = producer(value)
    if op is None or op.name != "stablehlo.constant":
        return None
    held = op.attributes["value"]
    type_ = ir.RankedTensorType(value.type)
    if type_.rank or not isinstance(held, ir.DenseIntElementsAttr):
        return None
    return int(np.array(held))
