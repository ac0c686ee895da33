"""Reductions and dots with shorter axes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.reduction.delta import minimized
from mlir_fp8.reduction.program import Draft, Program, changed
from mlir_fp8.reduction.trials import Trials

# Finer than eighths a sum gets little shorter for many trials.
_PIECES = 8


@dataclass(frozen=True)
class _Axis:
    """A dimension that several operands share: pairs of an operand and its dimension."""

    operands: tuple[tuple[int, int], ...]
    result: int | None
    """The dimension of the results; None where it is summed over."""


def with_shorter_axes(program: Program, trials: Trials) -> Program:
    """Of a program of one reduction or dot: the failing row, and as few summands as still fail."""
    if len(program.ops) != 1:
        return program
    (op,) = program.ops
    if any(not isinstance(value.owner, ir.Block) for value in op.operands):
        return program
    for axis in _axes(op):
        program = _shorter(program, axis, trials)
    return program


def _axes(op: ir.Operation) -> list[_Axis]:
    if op.name == "stablehlo.reduce":
        inputs = range(len(op.operands) // 2)
        summed = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        rank = ir.RankedTensorType(op.operands[0].type).rank
        axes = [each for each in range(rank) if each not in summed]
        return [
            _Axis(
                tuple((each, axis) for each in inputs), axes.index(axis) if axis in axes else None
            )
            for axis in [*axes, *summed]
        ]
    return _dot_axes(op) if op.name == "stablehlo.dot_general" else []


def _dot_axes(op: ir.Operation) -> list[_Axis]:
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batches = (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions))
    summed = (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions))
    axes = [((0, left), (1, right)) for left, right in zip(*batches, strict=True)]
    for operand in (0, 1):
        rank = ir.RankedTensorType(op.operands[operand].type).rank
        taken = batches[operand] + summed[operand]
        axes += [((operand, axis),) for axis in range(rank) if axis not in taken]
    contracted = [((0, left), (1, right)) for left, right in zip(*summed, strict=True)]
    free = [_Axis(operands, result) for result, operands in enumerate(axes)]
    return free + [_Axis(operands, None) for operands in contracted]


def _shorter(program: Program, axis: _Axis, trials: Trials) -> Program:
    if axis.result is not None:
        place = trials.place(program)
        only = _taken(program, axis, (place[axis.result],)) if place else None
        return only if only is not None and trials.fails(only) else program
    kept = minimized(
        range(_length(program, axis)),
        lambda part: trials.fails(_taken(program, axis, part)),
        _PIECES,
    )
    return _taken(program, axis, kept) or program


def _length(program: Program, axis: _Axis) -> int:
    (op,) = program.ops
    operand, dimension = axis.operands[0]
    return ir.RankedTensorType(op.operands[operand].type).shape[dimension]


def _taken(program: Program, axis: _Axis, indices: Sequence[int]) -> Program | None:
    """Only what stands at `indices` of an axis; None where that is all of it."""
    if _length(program, axis) == len(indices):
        return None

    def change(draft: Draft) -> bool:
        (op,) = draft.ops
        arguments: list[ir.Value] = list(draft.block.arguments)
        for operand, dimension in axis.operands:
            # An argument of its own: another operand may be the same one.
            array = draft.arrays[arguments.index(op.operands[operand])]
            part = np.ascontiguousarray(np.take(array, indices, dimension))
            type_ = _resized(op.operands[operand].type, dimension, len(indices))
            op.operands[operand] = draft.argument(type_, part)
        if axis.result is not None:
            for result in op.results:
                result.set_type(_resized(result.type, axis.result, len(indices)))
        return True

    return changed(program, change)


def _resized(type_: ir.Type, dimension: int, length: int) -> ir.Type:
    tensor = ir.RankedTensorType(type_)
    shape = list(tensor.shape)
    shape[dimension] = length
    return ir.RankedTensorType.get(shape, tensor.element_type)
