"""Reduces shapes to the elements that the failing element depends on."""

import math

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import names
from mlir_fp8.reduction.axes import with_shorter_axes
from mlir_fp8.reduction.program import Draft, Program, changed, operations
from mlir_fp8.reduction.trials import Trials

# Element i of a result is made of elements i of the operands, or of operands without dimensions.
_ELEMENTWISE = names(
    "stablehlo",
    """
    abs add and atan2 bitcast_convert cbrt ceil clamp compare complex constant convert cosine
    count_leading_zeros divide exponential exponential_minus_one floor imag is_finite log
    log_plus_one logistic maximum minimum multiply negate not or popcnt power real reduce_precision
    remainder
    round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic
    shift_right_logical sign sine sqrt subtract tan tanh xor
    """,
)
# Widths of vectors, for faults that a single element does not have.
_SIZES = (1, 8, 64)


def with_smaller_shapes(program: Program, trials: Trials) -> Program:
    """Elementwise programs on few elements, a reduction or a dot with shorter axes."""
    flat = _elementwise_position(program, trials)
    if flat is not None:
        windows = (_window(program, flat, size) for size in _SIZES)
        return next((each for each in windows if each and trials.fails(each)), program)
    return with_shorter_axes(program, trials)


def _elementwise_position(program: Program, trials: Trials) -> int | None:
    """The flat position of the failing element in a program of elementwise ops on one shape."""
    if any(op.name not in _ELEMENTWISE for op in program.ops):
        return None
    shapes = {shape for value in _all_values(program.body) if (shape := _shape(value))}
    if len(shapes) != 1:
        return None
    place = trials.place(program)
    return int(np.ravel_multi_index(place, shapes.pop())) if place else None


def _window(program: Program, flat: int, size: int) -> Program | None:
    """`size` elements around the flat position `flat`, of every tensor that has dimensions."""

    def change(draft: Draft) -> bool:
        for value in _all_values(draft.block):
            if (shape := _shape(value)) and math.prod(shape) <= size:
                return False
        start = flat // size * size
        for index, argument in enumerate(draft.block.arguments):
            if _shape(argument):
                draft.arrays[index] = draft.arrays[index].reshape(-1)[start : start + size].copy()
        for value in _all_values(draft.block):
            if shape := _shape(value):
                length = min(size, math.prod(shape) - start)
                value.set_type(ir.RankedTensorType.get([length], value.type.element_type))
        return all(_resize(op) for op in draft.ops if op.name == "stablehlo.constant")

    return changed(program, change)


def _resize(constant: ir.Operation) -> bool:
    """Give a constant the value of its new type, where it has the same one everywhere."""
    type_ = constant.results[0].type
    try:
        value = constant.attributes["value"]
    except TypeError:  # complex numbers, for which the bindings have no class
        return False
    if value.type == type_:
        return True
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        return False
    constant.attributes["value"] = ir.DenseElementsAttr.get_splat(type_, value.get_splat_value())
    return True


def _all_values(block: ir.Block) -> list[ir.Value]:
    """The arguments and what the ops make of them."""
    return [*block.arguments, *(value for op in operations(block) for value in op.results)]


def _shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(value.type).shape)
