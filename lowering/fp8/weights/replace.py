"""Put f8 weights into a function: arguments of codes and scales, and what reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import function_type
from mlir_fp8.lowering.fp8.scaling.insertion import Places
from mlir_fp8.lowering.fp8.scaling.quantizers import erase_unused
from mlir_fp8.lowering.fp8.scaling.state import STATE
from mlir_fp8.lowering.fp8.weights.constants import quantized_constant
from mlir_fp8.lowering.fp8.weights.find import Weight
from mlir_fp8.lowering.fp8.weights.layouts import scale_shape
from mlir_fp8.lowering.fp8.weights.moves import moved
from mlir_fp8.lowering.fp8.weights.names import (
    NAME,
    SCALE_BLOCK,
    SCALE_RULE,
    SMOOTHING,
    WEIGHT_SCALE,
    described,
    own_names,
    scale_name,
    scale_names,
)
from mlir_fp8.lowering.fp8.weights.scale_rules import F32, NVFP4, scale_element
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.fp8.weights.smoothing import smoothing_attribute
from mlir_fp8.lowering.rewriting.shardings import scale_argument
from mlir_fp8.lowering.rewriting.stablehlo import element_type, with_element


class WeightUses:
    """What reads weights, once they are codes: each reads `wide` tensors of known codes."""

    def __init__(self) -> None:
        self.wide: dict[ir.Value, Scaled] = {}
        self._places = Places()
        self._dead: list[ir.Operation] = []

    def replace(self, old: ir.Value, scaled: Scaled) -> None:
        """Let all that reads `old` read what `scaled` stands for, moved as codes where it can."""
        uses = [(use.owner.operation, use.operand_number) for use in old.uses]
        wide = None
        for op, number in uses:
            after = moved(op, number, scaled)
            if after is not None:
                self.replace(op.results[0], after)
                self._dead.append(op)
                continue
            if wide is None:
                with self._places.after(scaled.codes), old.location:
                    wide = scaled.wide(_element(old))
                self.wide[wide] = scaled
            op.operands[number] = wide

    def erase_dead(self) -> None:
        """Erase the ops that moved wide weights."""
        erase_unused(self._dead)


def replace_weights(
    function: ir.Operation, weights: Sequence[Weight], formats: Mapping[str, str]
) -> WeightUses:
    """Make `weights` codes of their `formats`, by name: arguments in their places.

    Scales come after all others, before the state of delayed scaling. Constants become constants.
    """
    uses = WeightUses()
    constants = [each for each in weights if each.argument is None]
    for each in constants:
        op = ir.OpResult(each.value).owner.operation
        scaled = quantized_constant(op, each.blocks, formats[each.name], each.smoothing, each.rule)
        uses.replace(each.value, replace(scaled, name=each.name))
    given = {each.argument: each for each in weights if each.argument is not None}
    count = len(function.regions[0].blocks[0].arguments)
    for value, scaled in _renewed(function, given, formats):
        uses.replace(value, scaled)
    uses.erase_dead()
    erase_unused(ir.OpResult(each.value).owner.operation for each in constants)
    for _ in range(count if given else 0):
        function.regions[0].blocks[0].erase_argument(0)
    return uses


def _renewed(
    function: ir.Operation, weights: Mapping[int, Weight], formats: Mapping[str, str]
) -> list[tuple[ir.Value, Scaled]]:
    """New arguments after the old ones, with all but `weights` replaced; these with their codes."""
    if not weights:
        return []
    block = function.regions[0].blocks[0]
    old = list(block.arguments)
    names = own_names(function)
    attributes = described(function, "arg_attrs", len(old))
    first_state = next((i for i, each in enumerate(attributes) if STATE in each), len(old))
    before = [_argument(v, weights.get(i), formats) for i, v in enumerate(old)]
    given = [_attributes(each, weights.get(i)) for i, each in enumerate(attributes)]
    scales = [type_ for each in weights.values() for type_ in _scale_types(each)]
    of_scales = [
        each
        for number, weight in weights.items()
        for each in _of_scales(attributes[number], weight)
    ]
    for each in weights.values():
        taken = [name for name in scale_names(each.name, each.rule) if name in names]
        if taken:
            reason = f"has an argument '{taken[0]}' already"
            raise op_error(function, f"{reason}: leave '{each.name}' out of weights")
    types = [*before[:first_state], *scales, *before[first_state:]]
    locations = [value.location for value in old]
    places = [
        weight.value.location
        for weight in weights.values()
        for _ in scale_names(weight.name, weight.rule)
    ]
    located = [*locations[:first_state], *places, *locations[first_state:]]
    new = [block.add_argument(*each) for each in zip(types, located, strict=True)]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [*given[:first_state], *of_scales, *given[first_state:]]
    )
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(types, function_type(function).results)
    )
    end = first_state + len(scales)
    for number, (value, renewed) in enumerate(
        zip(old, [*new[:first_state], *new[end:]], strict=True)
    ):
        if number not in weights:
            value.replace_all_uses_with(renewed)
    place = [*range(first_state), *range(end, len(new))]
    made = iter(new[first_state:end])
    return [
        (
            each.value,
            Scaled(
                *(new[place[number]], next(made), each.blocks, each.name),
                next(made) if each.rule == NVFP4 else None,
            ),
        )
        for number, each in weights.items()
    ]


def _argument(value: ir.Value, weight: Weight | None, formats: Mapping[str, str]) -> ir.Type:
    if weight is None:
        return value.type
    return with_element(value.type, ir.Type.parse(formats[weight.name]))


def _scale_types(weight: Weight) -> list[ir.Type]:
    element = ir.Type.parse(scale_element(weight.rule))
    shape = scale_shape(weight.type.shape, weight.blocks)
    types: list[ir.Type] = [ir.RankedTensorType.get(shape, element)]
    if weight.rule == NVFP4:
        types.append(ir.RankedTensorType.get(_factor_shape(weight), ir.F32Type.get()))
    return types


def _of_scales(attributes: ir.DictAttr, weight: Weight) -> list[ir.DictAttr]:
    """The attributes of the scales of a weight, whose own are `attributes`."""
    shape = weight.type.shape
    counts = [scale_shape(shape, weight.blocks), _factor_shape(weight)]
    names = scale_names(weight.name, weight.rule)
    return [
        ir.DictAttr.get({NAME: ir.StringAttr.get(name), **scale_argument(attributes, sizes, shape)})
        for name, sizes in zip(names, counts, strict=False)
    ]


def _factor_shape(weight: Weight) -> list[int]:
    """That of the f32 number of an NVFP4 weight, or of its numbers; see `Scaled`."""
    sizes = enumerate(weight.type.shape)
    return [size if dim in weight.apart else 1 for dim, size in sizes] if weight.apart else []


def _attributes(attributes: ir.DictAttr, weight: Weight | None) -> ir.DictAttr:
    if weight is None:
        return attributes
    kept = {each.name: each.attr for each in attributes if each.name != SMOOTHING}
    added = {
        NAME: ir.StringAttr.get(weight.name),
        WEIGHT_SCALE: ir.StringAttr.get(scale_name(weight.name)),
        SCALE_BLOCK: ir.DenseI64ArrayAttr.get(list(weight.blocks)),
    }
    if weight.rule != F32:
        added[SCALE_RULE] = ir.StringAttr.get(weight.rule)
    if weight.smoothing is not None:
        added.update(smoothing_attribute(weight.smoothing, weight.type.context))
    return ir.DictAttr.get({**kept, **added})


def _element(value: ir.Value) -> ir.Type:
    element = element_type(value)
    assert element is not None
    return element
