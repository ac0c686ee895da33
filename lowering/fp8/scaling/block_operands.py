"""What dots of block formats multiply: blocks run along the one dimension that is summed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import replace_op
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.fp8.ops.products import dot_numbers
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
from mlir_fp8.lowering.fp8.scaling.contractions import batching_dims, contracting_dims
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.moves import blocks_after
from mlir_fp8.lowering.fp8.weights.scaled import padded_to
from mlir_fp8.lowering.rewriting.stablehlo import build, convert

_SIGNS_SEED = 0
"""Of the signs of the random Hadamard transform, which are the same in every module."""


@dataclass
class BlockOperands:
    """The operands of dots, each made once: arranged, and transformed where that is asked for."""

    _made: dict[tuple[ir.Value, tuple[int, ...], tuple[int, ...], int], ir.Value] = field(
        default_factory=dict
    )

    def of(self, op: ir.Operation, hadamard: int) -> tuple[list[ir.Value], ir.Attribute]:
        """The operands of `op`, a dot, and the dimension numbers of a dot of these.

        They have one summed dimension, the last: several are merged, in the order of their pairs.
        With `hadamard` they are transformed along it, and zeros are added to a whole number of so
        many. Operands that have one already, and are not transformed, stay as they are.
        """
        if len(contracting_dims(op, 0)) == 1 and not hadamard:
            return [op.operands[0], op.operands[1]], dot_numbers(op)
        values: list[ir.Value] = []
        fields: list[list[int]] = []
        for side in (0, 1):
            batching, summed = batching_dims(op, side), contracting_dims(op, side)
            key = (op.operands[side], tuple(batching), tuple(summed), hadamard)
            if key not in self._made:
                with ir.InsertionPoint(op), op.location:
                    x = arranged(op.operands[side], batching, summed)
                    self._made[key] = _transformed(x, hadamard) if hadamard else x
            values.append(self._made[key])
            rank = ir.RankedTensorType(values[-1].type).rank
            fields += [list(range(len(batching))), [rank - 1]]
        lists: list[Any] = [fields[0], fields[2], fields[1], fields[3]]
        return values, _stablehlo.DotDimensionNumbers.get(*lists)


def merge_summed(op: ir.Operation, operands: BlockOperands) -> None:
    """Replace `op`, a dot that sums over several dimensions, by one that sums over one."""
    if op.name != "stablehlo.dot_general" or len(contracting_dims(op, 0)) < 2:
        return
    values, numbers = operands.of(op, 0)
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["dot_dimension_numbers"] = numbers
    with ir.InsertionPoint(op), op.location:
        made = build("dot_general", op.results[0].type, values, attributes)
    replace_op(op, [made])


def arranged(x: ir.Value, batching: Sequence[int], summed: Sequence[int]) -> ir.Value:
    """An operand of a dot as (batching, free, summed), the last of one dimension."""
    shape = list(ir.RankedTensorType(x.type).shape)
    free = [dim for dim in range(len(shape)) if dim not in (*batching, *summed)]
    order = [*batching, *free, *summed]
    if order != sorted(order):
        permutation = ir.DenseI64ArrayAttr.get(order)
        moved = with_shape(x, [shape[dim] for dim in order])
        x = build("transpose", moved, [x], {"permutation": permutation})
    if len(summed) == 1:
        return x
    kept = [shape[dim] for dim in (*batching, *free)]
    return build("reshape", with_shape(x, [*kept, math.prod(shape[dim] for dim in summed)]), [x])


def _transformed(x: ir.Value, size: int) -> ir.Value:
    """`x` in f32, each `size` elements along its last dimension times an orthogonal matrix."""
    x = whole_blocks(convert(x, ir.F32Type.get()), -1, size)
    shape = list(ir.RankedTensorType(x.type).shape)
    apart = build("reshape", with_shape(x, [*shape[:-1], shape[-1] // size, size]), [x])
    matrix = random_hadamard(size)
    type_ = with_shape(x, [size, size])
    constant = build("constant", type_, [], {"value": dense(matrix, "f32", type_.context)})
    numbers = _stablehlo.DotDimensionNumbers.get([], [], [len(shape)], [0])
    precision = ", ".join(["#stablehlo<precision HIGHEST>"] * 2)
    attributes = {
        "dot_dimension_numbers": numbers,
        "precision_config": ir.ArrayAttr.parse(f"[{precision}]"),
    }
    made = build("dot_general", apart.type, [apart, constant], attributes)
    return build("reshape", with_shape(x, shape), [made])


def random_hadamard(size: int) -> np.ndarray:
    """An orthogonal f32 matrix: random signs, then Sylvester's Hadamard matrix over sqrt(size)."""
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = np.random.default_rng(_SIGNS_SEED).choice([-1.0, 1.0], size)
    return (signs[:, None] * matrix / math.sqrt(size)).astype(np.float32)


def whole_blocks(x: ir.Value, dim: int, block: int) -> ir.Value:
    """`x` with zeros after it along `dim`, to whole blocks."""
    shape = list(ir.RankedTensorType(x.type).shape)
    shape[dim] += -shape[dim] % block
    return padded_to(x, shape)


def block_source(value: ir.Value, summed: int, block: int) -> tuple[Origin, Blocks]:
    """Where `value` is quantized, with blocks along its dimension `summed`, and these blocks.

    That is where it comes from, if blocks there are blocks of `value` after all that moves it;
    else `value` itself.
    """
    source = origin(value)
    own = _blocks(list(ir.RankedTensorType(value.type).shape), {summed}, block)
    shape = list(ir.RankedTensorType(source.value.type).shape)
    blocks = _blocks(shape, source.dims_of([summed]), block)
    after: Blocks | None = blocks
    for op in source.moves:
        after = None if after is None else blocks_after(op, 0, after)
    sizes = ir.RankedTensorType(value.type).shape
    if after is not None and _plain(sizes, after) == _plain(sizes, own):
        return source, blocks
    dims = tuple(frozenset({dim}) for dim in range(len(own)))
    return Origin(value, (), (), (), dims), own


def _plain(shape: Sequence[int], blocks: Blocks) -> Blocks:
    """`blocks`, with 0 for all that are whole dimensions."""
    pairs = zip(shape, blocks, strict=True)
    return tuple(0 if size <= block else block for size, block in pairs)


def _blocks(shape: Sequence[int], summed: set[int] | frozenset[int], block: int) -> Blocks:
    """Blocks along the last of the dimensions `summed`; each index of all others has its own."""
    last = max((dim for dim in summed if shape[dim] > 1), default=max(summed, default=-1))
    return tuple(
        (0 if size <= block else block) if dim == last else 1 for dim, size in enumerate(shape)
    )
