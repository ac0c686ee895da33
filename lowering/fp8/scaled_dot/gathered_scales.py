"""Scales of blocks that a program repeats by looking them up: gathers as broadcasts.

JAX's `scale[:, arange(k) // 32]` and `jnp.take` are such, and what guards them against indices out
of range.
"""

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.frontend.sizes.evaluate import evaluated, follows
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape


def repeat_gathered_scales(module: ir.Operation) -> None:
    """Replace gathers that take each index along one dimension so many times, one after another."""
    known: dict[ir.Value, bool] = {}
    found = [op for op in operations(module, "stablehlo.gather") if _takes_along_one(op)]
    found = [op for op in found if follows(op.operands[1], known)]
    if not found:
        return
    guards = [
        op
        for op in operations(module, "stablehlo.select")
        if op.operands[1] in {each.results[0] for each in found} and follows(op.operands[0], known)
    ]
    wanted = list(
        dict.fromkeys([*(op.operands[1] for op in found), *(op.operands[0] for op in guards)])
    )
    try:
        constants = dict(zip(wanted, evaluated(operations(module), wanted), strict=True))
    except Fp8Error:  # what the interpreter does not know
        return
    for op in guards:
        if np.asarray(constants[op.operands[0]]).all():
            replace_op(op, [op.operands[1]])
    for op in found:
        _repeat(op, np.asarray(constants[op.operands[1]]).reshape(-1))


def _takes_along_one(op: ir.Operation) -> bool:
    """Whether the result is the operand with other elements along one dimension."""
    if not all(has_static_shape(each) for each in (*op.operands, *op.results)):
        return False
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    table = shape(op.operands[0])
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    along = list(numbers.start_index_map)
    if len(along) != 1 or list(numbers.collapsed_slice_dims) != along:
        return False
    kept = [dim for dim in range(len(table)) if dim != along[0]]
    return (
        not list(numbers.operand_batching_dims)
        and list(numbers.offset_dims) == kept
        and all(sizes[dim] == table[dim] for dim in kept)
        and len(shape(op.results[0])) == len(table)
    )


def _repeat(op: ir.Operation, indices: np.ndarray) -> None:
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    (along,) = numbers.start_index_map
    table = op.operands[0]
    sizes = list(shape(table))
    count = sizes[along]
    if not count or indices.size % count or indices.size == count:
        return
    block = indices.size // count
    if (indices != np.arange(indices.size) // block).any():
        return
    apart = [*sizes[: along + 1], block, *sizes[along + 1 :]]
    dims = [dim + (dim > along) for dim in range(len(sizes))]
    with ir.InsertionPoint(op), op.location:
        made = broadcast(table, with_shape(table, apart), dims)
        replace_op(op, [build("reshape", op.results[0].type, [made])])
